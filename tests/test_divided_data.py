"""Which part of a file a split is can hang on another file beside it, which keys and reading must see."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.errors import DataError, InputError
from babelscope.core.tasks import Task, task_of
from babelscope.corpora import datasets
from babelscope.corpora.conllu import write_conllu
from babelscope.corpora.datasets import FileData
from babelscope.corpora.sources import SPLITS
from babelscope.world import World

TOPICS = Task(
    name="topics", kind="classification", reads="texts", measures=("accuracy",), label="label", labels=("a", "b"),
    texts=("text",),
)  # fmt: skip


def sentences(split: str, count: int = 40):
    return World().treebank("qaa", split, count)


def table(path: Path, count: int = 40) -> None:
    lines = [f"{path.stem} {k}\t{'ab'[k % 2]}" for k in range(count)]
    path.write_text("\n".join(["text\tlabel", *lines, ""]), encoding="utf-8")


def xnli(path: Path, count: int = 40) -> None:
    header = "premise\thypo\tlabel\n"
    path.write_text(header + "".join(f"p{k}\th{k}\tentailment\n" for k in range(count)), encoding="utf-8")


def own_table(folder: Path) -> tuple[Task | str, str, Path]:
    (folder / "own").mkdir()
    for split in ("train", "test"):
        table(folder / "own" / f"{split}.tsv")
    return TOPICS, f"tsv:en:{folder / 'own'}", folder / "own" / "dev.tsv"


def own_treebank(folder: Path) -> tuple[Task | str, str, Path]:
    (folder / "own").mkdir()
    for split in ("train", "test"):
        write_conllu(folder / "own" / f"en-{split}.conllu", sentences(split))
    return "pos", f"treebank:en:{folder / 'own'}", folder / "own" / "en-dev.conllu"


def published_treebank(folder: Path) -> tuple[Task | str, str, Path]:
    """Its dev file is trained on while it has no train file."""
    place = folder / "ud" / "UD_French-Harbour"
    place.mkdir(parents=True)
    write_conllu(place / "fr_harbour-ud-dev.conllu", sentences("dev"))
    return "pos", "UD_French-Harbour", place / "fr_harbour-ud-train.conllu"


def published_pairs(folder: Path) -> tuple[Task | str, str, Path]:
    (folder / "xnli").mkdir()
    xnli(folder / "xnli" / "multinli.train.fr.tsv")
    (folder / "xnli" / "xnli.test.tsv").write_text("language\tgold_label\tsentence1\tsentence2\nfr\tneutral\ta\tb\n")
    return "xnli", "xnli:fr", folder / "xnli" / "xnli.dev.tsv"


def published_scores(folder: Path) -> tuple[Task | str, str, Path]:
    """Of GLUE's sets the one that has a dev file of its own."""
    (folder / "glue" / "STS-B").mkdir(parents=True)
    for split in ("train", "test"):
        scores(folder / "glue" / "STS-B" / f"sts-{split}.csv", 40)
    return "stsb", "glue:STS-B", folder / "glue" / "STS-B" / "sts-dev.csv"


def scores(path: Path, count: int) -> None:
    lines = (f"news\tfile\t2012\t{k}\t{k % 5}\t{path.stem} {k}\tother {k}\n" for k in range(count))
    path.write_text("".join(lines), encoding="utf-8")


def added(path: Path) -> None:
    """The file that was missing."""
    if path.suffix == ".conllu":
        write_conllu(path, sentences("dev", 30))
    elif path.parent.name == "STS-B":
        scores(path, 30)
    elif path.parent.name == "xnli":
        path.write_text("language\tgold_label\tsentence1\tsentence2\nfr\tneutral\tc\td\n", encoding="utf-8")
    else:
        table(path, 30)


KINDS = (own_table, own_treebank, published_treebank, published_pairs, published_scores)


@pytest.fixture(params=KINDS, ids=lambda made: made.__name__)
def data(request, tmp_path: Path, monkeypatch) -> tuple[Task | str, str, Path]:
    """A task, data of it, and a file that is not there yet."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    return request.param(tmp_path)


def test_a_file_beside_it_changes_what_a_split_is_known_by(data) -> None:
    """Its content alone is the same before and after, and so the cached result was that of nine tenths."""
    task, name, missing = data
    before = {split: datasets.find_file(task, name, split) for split in ("train", "dev")}
    parts = {split: each.read() for split, each in before.items()}
    assert 0 < len(parts["dev"]) < len(parts["train"]) and len(parts["train"]) + len(parts["dev"]) == 40
    added(missing)
    after = {split: datasets.find_file(task, name, split) for split in ("train", "dev")}
    for split, each in after.items():
        assert (each.read() == parts[split]) == (each == before[split]), split
        assert each.model_dump_json() != before[split].model_dump_json()


def test_data_whose_division_changed_are_refused(data) -> None:
    task, name, missing = data
    planned = datasets.find_file(task, name, "train", 39)
    added(missing)
    with pytest.raises(DataError, match="changed since the study was planned"):
        planned.read()


def test_the_whole_of_what_would_be_divided_can_be_trained_on(data) -> None:
    """Where something else is selected on."""
    task, name, _ = data
    whole = datasets.find_file(task, name, "train").model_copy(update={"whole": True})
    assert len(whole.read()) == 40


def test_tables_to_evaluate_on_need_no_train_file(tmp_path) -> None:
    for split in ("dev", "test"):
        table(tmp_path / f"{split}.tsv", 5)
        assert len(datasets.find_file(TOPICS, f"tsv:en:{tmp_path}", split).read()) == 5
    with pytest.raises(InputError, match=r"the folder has no train\.tsv; it has the splits dev, test"):
        datasets.find_file(TOPICS, f"tsv:en:{tmp_path}", "train")


def test_a_table_that_leaves_nothing_to_train_on_is_refused(tmp_path) -> None:
    """Its time was divided by none."""
    table(tmp_path / "one.tsv", 1)
    data = {split: datasets.find_file(TOPICS, f"tsv:en:{tmp_path / 'one.tsv'}", split) for split in SPLITS}
    for split in ("train", "dev"):
        with pytest.raises(DataError, match=r"one\.tsv: has too few examples to divide \(1\): none is left"):
            data[split].read()
    assert len(data["test"].read()) == 1


def test_data_that_are_divided_in_any_case_are_known_as_before(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    write_conllu(tmp_path / "one.conllu", sentences("train"))
    (tmp_path / "glue" / "RTE").mkdir(parents=True)
    rows = "".join(f"{k}\tp{k}\th{k}\tentailment\n" for k in range(40))
    for split in ("train", "dev"):
        text = f"index\tsentence1\tsentence2\tlabel\n{rows}"
        (tmp_path / "glue" / "RTE" / f"{split}.tsv").write_text(text, encoding="utf-8")
    for task, name in (("pos", f"treebank:en:{tmp_path / 'one.conllu'}"), (task_of("rte"), "glue:RTE")):
        found = datasets.find_file(task, name, "train")
        assert isinstance(found, FileData) and not found.divided and len(found.read()) < 40
