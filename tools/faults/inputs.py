"""Faulty files, folders and arguments: for whatever a user gives, there is nothing but errors in words."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from babelscope.core.errors import InputError
from faults.attempts import Attempt
from faults.limits import limited
from faults.mutations import ODD, odd_file, odd_json_file
from faults.right_input import BIO, CONLLU, STUDY, TABLE, TMX, TSV, commands, write_folders

LONGEST = 100_000
"""Letters of an argument: systems allow hardly more."""

# Files


def _file(name: str, text: str, read: Callable[[Path], object]) -> Attempt:
    def attempt(chance: random.Random, folder: Path) -> object:
        path = folder / name
        path.write_bytes(odd_file(text, chance))
        return read(path)

    return attempt


def _data(task: str, form: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        from babelscope.corpora.datasets import find_file

        data = find_file(task, form.format(path), "train")
        return data.check(), data.read()

    return read


def _transliterated(path: Path) -> object:
    from babelscope.corpora.transliteration import transliteration

    return transliteration(f"table:{path}")("Щука и ёж. ABC abc aaaa" * 20)


def _pairs(language: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        from babelscope.corpora.given_pairs import given_pairs

        return given_pairs(str(path), language).read()

    return read


def _aligned(path: Path) -> object:
    from babelscope.corpora.lines import content_digest
    from babelscope.corpora.parallel_words import AlignmentFile

    return AlignmentFile(file=str(path), sha256=content_digest(path)).read([(["a", "b"], ["c"]), (["d"], ["e", "f"])])


def _planned(path: Path) -> object:
    from babelscope.study.compile import compile_study
    from babelscope.study.declare import load_study

    return compile_study(load_study(path))


def _documents(task: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        from babelscope.core.tasks import task_of
        from babelscope.tasks.kinds import kind_of

        return kind_of(task_of(task)).document(task_of(task), path).inputs

    return read


READERS: dict[str, Attempt] = {
    "treebank": _file("x.conllu", CONLLU, _data("pos", "treebank:mt:{}")),
    "unlabelled words": _file("x.conllu", CONLLU, _documents("parsing")),
    "entities": _file("x.bio", BIO, _documents("ner")),
    "table of texts": _file("x.tsv", TSV, _data("xnli", "tsv:mt:{}")),
    "unlabelled texts": _file("x.tsv", TSV, _documents("xnli")),
    "pairs": _file("x.tsv", "a b\tc d\ne\tf\n" * 9, _pairs("de")),
    "translation memory": _file("x.tmx", TMX, _pairs("de")),
    "plain text": _file("x.txt", "A line of text.\nAnother one, longer.\n" * 9, _data("mlm", "text:mt:{}")),
    "documents": _file(
        "x.jsonl", '{"text": "One. Two! \\u00e9"}\n{"content": "Three?", "id": [1]}\n' * 9, _data("mlm", "text:mt:{}")
    ),
    "alignments": _file("x.align", "0-0 1-0\n0-0 0-1\n", _aligned),
    "letters": _file("x.tsv", TABLE, _transliterated),
    "study": _file("x.yaml", STUDY, _planned),
}


# Folders


def _folder(original: Path, name: str, read: Callable[[Path], object]) -> Attempt:
    def attempt(chance: random.Random, folder: Path) -> object:
        copied = shutil.copytree(original, folder / "given")
        path = copied / name
        if path.suffix == ".json":
            path.write_bytes(odd_json_file(json.loads(path.read_text()), chance))
        else:
            raw = path.read_bytes()
            length = int.from_bytes(raw[:8], "little")
            header = odd_json_file(json.loads(raw[8 : 8 + length]), chance)
            path.write_bytes(len(header).to_bytes(8, "little") + header + raw[8 + length :])
        return read(copied)

    return attempt


def _loaded(folder: Path) -> object:
    from babelscope.encoders.load import load_located
    from babelscope.encoders.places import has_mlm_head, layer_count, locate, word_width
    from babelscope.encoders.tap import sentence_states

    place = locate(str(folder))
    has_mlm_head(place.path), layer_count(place.path), word_width(place.path)
    return sentence_states(load_located(place), ["the cat sees Щука", ""])


def _predicted(folder: Path) -> object:
    from babelscope.engine.store import Store
    from babelscope.engine.trained import predict

    (folder.parent / "in.txt").write_text("the cat sees\n")
    return predict(Store(folder.parent / "store"), str(folder), folder.parent / "in.txt", folder.parent / "out.conllu")


def folders(encoder: Path, tagger: Path) -> dict[str, Attempt]:
    """Attempts at faulty folders, by the file that is at fault."""
    names = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
    return {f"encoder's {name}": _folder(encoder, name, _loaded) for name in names} | {
        f"tagger's {name}": _folder(tagger, name, _predicted)
        for name in ("babelscope.json", "bring-in.json", "config.json")
    }


# Commands


def _command(arguments: list[str]) -> Attempt:
    def attempt(chance: random.Random, folder: Path) -> None:
        (folder / "text.txt").write_text("the cat sees\na dog\n")
        (folder / "pairs.tsv").write_text("the cat sees\tde kat ziet\na small dog\teen hond\n" * 9)
        (folder / "study.yaml").write_text(STUDY)
        _called(_odd_arguments(arguments, chance))

    return attempt


def _odd_arguments(arguments: list[str], chance: random.Random) -> list[str]:
    """One argument or two changed, dropped, given twice, or a part of one replaced."""
    given = list(arguments)
    for _ in range(chance.choice([1, 1, 2])):
        place = chance.randrange(1, len(given))
        if (fate := chance.random()) < 0.1:
            given.insert(place, chance.choice(ODD))
        elif fate < 0.2 and len(given) > 2:
            del given[place]
        elif fate < 0.5:
            given[place] = chance.choice(ODD)
        else:
            given[place] = odd_file(given[place], chance).decode("utf-8", "surrogateescape")
    return [argument[:LONGEST] for argument in given]


def _called(arguments: list[str]) -> None:
    from babelscope.face.cli import main

    before, sys.argv = sys.argv, ["babelscope", *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code not in (None, 0):
            refused = InputError if end.code in (1, 2) else RuntimeError
            raise refused(f"exit status {end.code} of {arguments!a:.3000}") from None
    except BaseException as error:
        error.add_note(f"arguments: {arguments!a:.3000}")
        raise
    finally:
        sys.argv = before


def input_attempts(folder: Path) -> dict[str, Attempt]:
    """Every kind of attempt, by name; `folder` is for what is right."""
    encoder, tagger = write_folders(folder)
    called = {f"babelscope {name}": _command(arguments) for name, arguments in commands(encoder, tagger).items()}
    attempts = READERS | folders(encoder, tagger) | called
    return {kind: limited(attempt) for kind, attempt in attempts.items()}
