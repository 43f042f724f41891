"""Where the data of sentence tasks are: a table of GLUE's tasks and of XNLI's languages.

The first source that has a benchmark gives all of its splits. Where there is no dev file, the last tenth of the
train file is `dev` and the rest is `train`. GLUE's own test labels are not public: its dev file is `test` here. Those
of STS-B are, in its authors' files: there the dev file is `glue:STS-B-dev`, for what was published on it. An XNLI set
of one file is `test` as a whole, and divided into `train` and `dev`: train on one and test on another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.errors import DataError, InputError, did_you_mean
from babelscope.core.examples import SentencePair
from babelscope.core.tasks import BINARY, ENTAILED, NLI, TASKS
from babelscope.corpora.cache import from_hub, publish, reason, user_cache
from babelscope.corpora.lines import plain_or_gzip
from babelscope.corpora.pairs import Layout, read_pairs, write_pairs, written_layout
from babelscope.corpora.sources import SPLITS, Split, check_split, data_folders

_ZERO_ONE, _ENTAILED, _NLI = ({label: label for label in labels} for labels in (BINARY, ENTAILED, NLI))
_NUMBERED = {"0": "entailment", "1": "neutral", "2": "contradiction"}
_XNLI = Layout("premise", "hypothesis", "label", _NUMBERED)
_XNLI_ALL = Layout("sentence1", "sentence2", "gold_label", _NLI, language="language")
_XNLI_TRANSLATED = Layout("premise", "hypo", "label", _NLI | {"contradictory": "contradiction"})
_STS = Layout(5, 6, 4, scale=(0, 5))
_MNLI = Layout("sentence1", "sentence2", "gold_label", _NLI)


class Benchmark(NamedTuple):
    """One of GLUE's data sets."""

    tasks: tuple[str, ...]
    """What it is data of; XNLI's task can be trained on MNLI, which it is translated from."""
    layout: Layout
    configuration: str
    """In the public data set on the Hugging Face hub."""
    hub_columns: tuple[str, ...]
    files: tuple[tuple[Split, str], ...] = (("train", "train.tsv"), ("test", "dev.tsv"))
    hub_splits: tuple[tuple[Split, str], ...] = (("train", "train"), ("test", "validation"))


_PAIR = ("sentence1", "sentence2")
_NLI_TASKS: tuple[str, ...] = ("mnli", "xnli")
_PREMISE = ("premise", "hypothesis")
GLUE = {
    "CoLA": Benchmark(("cola",), Layout(3, None, 1, _ZERO_ONE, cells=4), "cola", ("sentence",)),
    "SST-2": Benchmark(("sst2",), Layout("sentence", None, "label", _ZERO_ONE), "sst2", ("sentence",)),
    "MRPC": Benchmark(("mrpc",), Layout("#1 String", "#2 String", "Quality", _ZERO_ONE), "mrpc", _PAIR),
    "QQP": Benchmark(
        ("qqp",), Layout("question1", "question2", "is_duplicate", _ZERO_ONE, skips_damaged=True), "qqp",
        ("question1", "question2"),
    ),
    "STS-B": Benchmark(
        ("stsb",), _STS, "stsb", _PAIR, (("train", "sts-train.csv"), ("dev", "sts-dev.csv"), ("test", "sts-test.csv"))
    ),
    "STS-B-dev": Benchmark(
        ("stsb",), _STS, "stsb", _PAIR, (("test", "sts-dev.csv"),), (("test", "validation"),)
    ),
    "MNLI": Benchmark(
        _NLI_TASKS, _MNLI, "mnli", _PREMISE,
        (("train", "train.tsv"), ("test", "dev_matched.tsv")), (("train", "train"), ("test", "validation_matched")),
    ),
    "MNLI-mm": Benchmark(
        _NLI_TASKS, _MNLI, "mnli", _PREMISE, (("test", "dev_mismatched.tsv"),), (("test", "validation_mismatched"),)
    ),
    "QNLI": Benchmark(("qnli",), Layout("question", "sentence", "label", _ENTAILED), "qnli", ("question", "sentence")),
    "RTE": Benchmark(("rte",), Layout(*_PAIR, "label", _ENTAILED), "rte", _PAIR),
    "WNLI": Benchmark(("wnli",), Layout(*_PAIR, "label", _ZERO_ONE), "wnli", _PAIR),
}  # fmt: skip
"""By the names of GLUE's folders (Wang et al., 2019), https://gluebenchmark.com."""
XNLI_LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")
"""Conneau et al. (2018), https://aclanthology.org/D18-1269."""


class Found(NamedTuple):
    """The files of a benchmark in one source."""

    files: Mapping[Split, tuple[Path, Layout]]
    language: str
    where: str
    possible: frozenset[Split]
    """The splits that have a file there if the benchmark is complete."""


Source = Callable[[str], Found | None]
"""From a name, such as `glue:RTE` or `xnli:eu-native`, to its files; None if the source lacks them."""
HubLoader = Callable[[str, str], Mapping[str, Any]]
"""From a data set and its configuration to rows of columns, by split."""


def examples_language(name: str) -> str:
    """The code of the language that a benchmark's texts are in: `es` of `xnli:es-native`, `en` of `xnli:es2en-native`.

    Raises:
        InputError: the name is not a benchmark's.
    """
    suite, part = _parts(name)
    return "en" if suite == "glue" else part.split("-")[0].rsplit("2", 1)[-1]


def local_files(name: str) -> Found | None:
    """Files in the first data folder that has any: `glue/RTE/*`, `xnli/xnli-eu-native.tsv`, or XNLI 1.0 and its
    translated train files."""
    in_folders = (_files_in(folder, name) for folder in data_folders())
    return next((there for there in in_folders if there), None)


def _files_in(folder: Path, name: str) -> Found | None:
    suite, part = _parts(name)
    wanted = _glue_files(part) if suite == "glue" else _xnli_files(part, folder)
    files = {split: (path, layout) for split, file, layout in wanted if (path := plain_or_gzip(folder / file))}
    possible = frozenset(split for split, _, _ in wanted)
    return Found(files, examples_language(name), str(folder), possible) if files else None


def hub_files(name: str, cache: Path | None = None, load: HubLoader | None = None) -> Found | None:
    """The public data set on the Hugging Face hub, written once as TSV.

    `cache` is the folder that keeps it (default: the user's cache folder); `load` gets a configuration's rows. None
    for XNLI sets that are no language's. Raises `InputError` if the rows cannot be fetched.
    """
    suite, part = _parts(name)
    if suite == "xnli" and part not in XNLI_LANGUAGES:
        return None
    benchmark = GLUE[part] if suite == "glue" else _xnli_benchmark(part)
    folder = (cache or user_cache()) / suite / part
    if not folder.is_dir():
        dataset = "nyu-mll/glue" if suite == "glue" else "facebook/xnli"
        try:
            rows = (load or from_hub)(dataset, benchmark.configuration)
            publish(folder, lambda draft: _write_splits(draft, benchmark, rows))
        except Exception as error:  # whatever the network libraries raise (they share no base class), or other rows
            what = f"{dataset}, {benchmark.configuration}, on the Hugging Face hub"
            raise InputError(f"{name} could not be fetched from {what}: {reason(error)}", _advice(name)) from error
    task = TASKS[benchmark.tasks[0]]
    layout = written_layout(task.pair, task.labels)
    files = {split: (folder / f"{split}.tsv", layout) for split, _ in benchmark.hub_splits}
    return Found(files, examples_language(name), str(folder), frozenset(files))


SOURCES: tuple[Source, ...] = (local_files, hub_files)


def names_for(task: str) -> tuple[str, ...]:
    """How the benchmarks of a task are named."""
    xnli = ("xnli:LANGUAGE",) if task in _NLI_TASKS else ()
    return (*(f"glue:{part}" for part, benchmark in GLUE.items() if task in benchmark.tasks), *xnli)


def find_examples(task: str, name: str, split: Split, sources: Sequence[Source] = SOURCES) -> Path:
    """The file that a split's examples are in; `train` and `dev` may be parts of one.

    Raises:
        InputError: the benchmark is of another task, no source has it, or it has no such split.
    """
    return _found_split(task, name, split, sources)[0]


def read_examples(
    task: str, name: str, split: Split, sources: Sequence[Source] = SOURCES, whole: bool = False
) -> list[SentencePair]:
    """The examples of a split; with `whole` also those that the dev split is cut from.

    Raises as `find_examples` does, and `DataError` if the file is not well-formed, or too small to be divided.
    """
    path, layout, language, divided = _found_split(task, name, split, sources)
    examples = read_pairs(path, layout, language)
    return divided_part(examples, split, path) if divided and not whole else examples


def is_divided(name: str, split: Split, sources: Sequence[Source] = SOURCES) -> bool:
    """Whether a split is a part of the train file since there is no dev file, as there is of XNLI and STS-B as a rule.

    Of GLUE's other sets, and of a set that is one file, there never is one.
    """
    benchmark = None if split == "test" else _benchmark(name, sources)
    return benchmark is not None and "train" in benchmark.files and "dev" in benchmark.possible - set(benchmark.files)


def divided_part(examples: Sequence[SentencePair], split: Split, path: Path) -> list[SentencePair]:
    """What `train` or `dev` has of the examples of a file; `DataError` if `train` has nothing."""
    train, dev = divide(examples)
    if not train:
        problem = f"has too few examples to divide ({len(examples):,}): none is left to train on beside the last tenth"
        raise DataError(path, None, f"{problem}, which is selected on; give more, or a dev file")
    return dev if split == "dev" else train


def divide(examples: Sequence[SentencePair]) -> tuple[list[SentencePair], list[SentencePair]]:
    """All but the last tenth of the examples, and that tenth; those that share their first sentence stay together.

    Sentences count in the order in which they are first met, so that no premise is in both parts.
    """
    counts: dict[str, int] = {}
    for example in examples:
        counts[example.first] = counts.get(example.first, 0) + 1
    ends = zip(counts, accumulate(counts.values()), strict=True)
    trained = {first for first, end in ends if 10 * end <= 9 * len(examples)}
    return [pair for pair in examples if pair.first in trained], [
        pair for pair in examples if pair.first not in trained
    ]


def _found_split(task: str, name: str, split: Split, sources: Sequence[Source]) -> tuple[Path, Layout, str, bool]:
    """The file of a split, its layout, the language, and whether the split is a part of a train file."""
    check_split(split)
    tasks = _tasks(name)
    if task not in tasks:
        raise InputError(f"{name} is data of task {' or '.join(tasks)}, not of {task}")
    benchmark = _benchmark(name, sources)
    if benchmark is None:
        raise InputError(f"{name} is in none of the sources", _advice(name))
    divided = split != "test" and "dev" not in benchmark.files
    if (file := benchmark.files.get("train" if divided else split)) is None:
        raise InputError(
            f"{name} has no {split} split: {benchmark.where} holds {', '.join(_splits(benchmark))}", _advice(name)
        )
    return *file, benchmark.language, divided


def _benchmark(name: str, sources: Sequence[Source]) -> Found | None:
    return next((benchmark for source in sources if (benchmark := source(name))), None)


def _splits(benchmark: Found) -> tuple[Split, ...]:
    return tuple(
        split for split in SPLITS if split in benchmark.files or (split == "dev" and "train" in benchmark.files)
    )


def _parts(name: str) -> tuple[str, str]:
    suite, _, part = name.partition(":")
    if (suite == "glue" and part in GLUE) or (suite == "xnli" and re.fullmatch(r"[\w-]{1,99}", part)):
        return suite, part
    known = [f"glue:{part}" for part in GLUE]
    raise InputError(
        f"{name!r} is not the name of a benchmark{did_you_mean(name, known)}; known are {', '.join(known)}, and "
        "xnli:LANGUAGE such as xnli:de"
    )


def _tasks(name: str) -> tuple[str, ...]:
    suite, part = _parts(name)
    return GLUE[part].tasks if suite == "glue" else _NLI_TASKS[::-1]


def _glue_files(part: str) -> list[tuple[Split, str, Layout]]:
    folder = part.removesuffix("-mm").removesuffix("-dev")
    return [(split, f"glue/{folder}/{file}", GLUE[part].layout) for split, file in GLUE[part].files]


def _xnli_files(part: str, folder: Path) -> list[tuple[Split, str, Layout]]:
    """One file of a set; or of XNLI 1.0 and XNLI-MT 1.0, whose files for evaluation hold all languages."""
    single = f"xnli/xnli-{part}.tsv"
    if plain_or_gzip(folder / single):
        return [("train", single, _XNLI), ("test", single, _XNLI)]
    if part not in XNLI_LANGUAGES:
        return []
    return [
        ("train", f"xnli/multinli.train.{part}.tsv", _XNLI_TRANSLATED),
        ("dev", "xnli/xnli.dev.tsv", _XNLI_ALL),
        ("test", "xnli/xnli.test.tsv", _XNLI_ALL),
    ]


def _xnli_benchmark(language: str) -> Benchmark:
    splits: tuple[tuple[Split, str], ...] = (("train", "train"), ("dev", "validation"), ("test", "test"))
    return Benchmark(("xnli",), _XNLI, language, _PREMISE, hub_splits=splits)


def _write_splits(folder: Path, benchmark: Benchmark, rows: Mapping[str, Any]) -> None:
    """All rows but those without a text, of which QQP has two."""
    for split, hub_split in benchmark.hub_splits:
        whole = (row for row in rows[hub_split] if all(row[column].strip() for column in benchmark.hub_columns))
        write_pairs(folder / f"{split}.tsv", [_from_row(row, benchmark) for row in whole])


def _from_row(row: Mapping[str, Any], benchmark: Benchmark) -> SentencePair:
    """Class numbers are in the order of the task's labels."""
    labels = TASKS[benchmark.tasks[0]].labels
    # A few texts hold tabs or line ends, which TSV cannot.
    first, *second = (re.sub(r"[\t\r\n]", " ", row[column]) for column in benchmark.hub_columns)
    if labels and row["label"] not in range(len(labels)):
        raise ValueError(f"label {row['label']} of {first!r}: expected 0 to {len(labels) - 1}")
    return SentencePair(first, second[0] if second else None, labels[row["label"]] if labels else float(row["label"]))


def _advice(name: str) -> str:
    suite, part = _parts(name)
    files = [file for _, file, _ in (_glue_files(part) if suite == "glue" else _xnli_files(part, Path("/")))]
    wanted = " and ".join(files or [f"xnli/xnli-{part}.tsv"])
    return f"Set BABELSCOPE_DATA to a folder that holds {wanted} (or with .gz), or connect to the network"
