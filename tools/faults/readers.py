"""Faulty files for every reader: of one's own, and of the data folder in the forms in which they are published."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet

from faults.attempts import Attempt
from faults.mutations import odd_bytes, odd_file
from faults.right_input import BIO, CONLLU, MNLI, SST, STS, STUDY, TABLE, TMX, TSV, XNLI


def _file(name: str, text: str, read: Callable[[Path], object]) -> Attempt:
    def attempt(chance: random.Random, folder: Path) -> object:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
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


def _published(name: str, text: str, task: str, data: str) -> Attempt:
    """Of a file in the data folder, which is one split of some data."""

    def read(path: Path) -> object:
        from babelscope.corpora.datasets import find_file
        from babelscope.corpora.given_pairs import given_pairs

        with patch.dict(os.environ, BABELSCOPE_DATA="data"):
            if not task:
                return given_pairs(data, "de").read()
            found = find_file(task, data, "test")
            return found.check(), found.read()

    return _file(f"data/{name}", text, read)


def _wikipedia(chance: random.Random, folder: Path) -> object:
    from babelscope.corpora.wikipedia import read_wikipedia

    path = folder / "x.parquet"
    path.write_bytes(odd_bytes(_articles(), chance))
    return read_wikipedia(path, "train")


def _articles() -> bytes:
    written = io.BytesIO()
    pa.parquet.write_table(pa.table({"text": ["An article. It has two sentences.\n\nAnd a third."] * 20}), written)
    return written.getvalue()


READERS: dict[str, Attempt] = {
    "treebank": _file("x.conllu", CONLLU, _data("pos", "treebank:mt:{}")),
    "unlabelled words": _file("x.conllu", CONLLU, _documents("parsing")),
    "own entities": _file("x.bio", BIO, _data("ner", "entities:mt:{}")),
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
    "published treebank": _published("ud/UD_Maltese-MUDT/mt_mudt-ud-test.conllu", CONLLU, "pos", "UD_Maltese-MUDT"),
    "published entities": _published("wikiann/mt/test.txt", BIO, "ner", "wikiann:mt"),
    "WMT's news": _published("ntrex/newstest2019-ref.mlt.txt", "Linja.\nOħra, itwal.\n" * 9, "mlm", "ntrex:mt"),
    "translations": _published("parallel/tatoeba/eng-deu.tsv", "a b\tc d\ne\tf\n" * 9, "", "tatoeba:de"),
    "SST-2": _published("glue/SST-2/dev.tsv", SST, "sst2", "glue:SST-2"),
    "STS benchmark": _published("glue/STS-B/sts-test.csv", STS, "stsb", "glue:STS-B"),
    "MultiNLI": _published("glue/MNLI/dev_matched.tsv", MNLI, "mnli", "glue:MNLI"),
    "XNLI": _published("xnli/xnli.test.tsv", XNLI, "xnli", "xnli:de"),
    "Wikipedia": _wikipedia,
}
