"""A study's tasks of one's own, and their data."""

from __future__ import annotations

from typing import Any

from babelscope.core.examples import Word
from babelscope.study.declare import Study
from command_line import declaration, transfer

SIZES = {"train": 30, "dev": 3, "test": 20}


def with_number(sentence):
    """Nouns that end in a vowel are plural; the others are singular, and marked for case, too."""

    def marked(word: Word) -> Word:
        number = "Plur" if word.form[-1] in "aeiou" else "Sing"
        return word._replace(feats=f"Case=Nom|Number={number}", xpos="NN") if word.upos == "NOUN" else word

    return type(sentence)(sentence.id, tuple(map(marked, sentence.words)), sentence.multiwords)


def texts(world, name):
    return enumerate(world.text("qaa" if name == "train" else "qab", 60))


def tasks(folder) -> dict[str, Any]:
    treebank, tables = f"treebank:qaa:{folder / 'mine.conllu'}", [f"tsv:qaa:{folder}/train.tsv"]
    number = {"train": [treebank], "evaluate": [treebank], "sizes": SIZES}
    topic = {"train": tables, "evaluate": [f"tsv:qab:{folder}/test.tsv"], "sizes": SIZES, "text": "body"}
    return {
        "number": transfer(
            task="tagging", label="feats:Number", **number, baselines=["most-frequent-tag", "word-majority", "bilstm"]
        ),
        "tag": transfer(task="tagging", label="xpos", **number, baselines=[]),
        "topic": transfer(
            task="classification", label="topic", head="family", **topic, baselines=["majority", "bag-of-words"]
        ),
        "place": transfer(
            task="regression", label="number", scale=[0, 59], head="family", **topic, baselines=["majority"]
        ),
    }


def _validated(folder, encoder_folder, declared) -> Study:
    from babelscope.core.validation import validate

    given = declaration(encoder_folder, seeds=[0], surgeries=[None], retrieval=None, tasks=declared)
    return validate(Study, given, "mine.yaml")
