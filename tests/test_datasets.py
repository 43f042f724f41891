"""Data sets as declared values: read once in a process, and only if they are what was declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.errors import DataError, InputError
from babelscope.corpora import datasets
from babelscope.corpora.conllu import read_conllu
from babelscope.corpora.data_sources.divided_treebanks import NAME as DIVIDED
from babelscope.corpora.sources import treebank_language
from babelscope.world import World
from treebank import SAMPLE


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test split of a treebank in a data folder."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    path = tmp_path / "ud" / "UD_French-Harbour" / "fr_harbour-ud-test.conllu"
    path.parent.mkdir(parents=True)
    path.write_text(f"# {tmp_path}\n{SAMPLE}", encoding="utf-8")
    return path


def test_a_file_is_parsed_once_in_a_process(file: Path) -> None:
    expected = read_conllu(file)
    one, other = (datasets.find("pos", "UD_French-Harbour", "test", 10) for _ in range(2))
    first = one.read()
    file.unlink()
    assert list(first) == expected
    assert other is not one and other.read() is first


def test_a_file_is_parsed_as_far_as_it_is_read_and_once_for_all_tasks(file: Path, monkeypatch) -> None:
    parsed = []
    monkeypatch.setattr(
        "babelscope.corpora.parsed.read_conllu", lambda *given: parsed.append(given[:2]) or read_conllu(*given)
    )
    for task in ("pos", "parsing", "mlm"):
        assert len(datasets.find(task, "UD_French-Harbour", "test", 1).read()) == 1
    assert parsed == [(file, 1)]
    whole = datasets.find("pos", "UD_French-Harbour", "test", 10)
    whole.check()
    assert list(whole.read()) == read_conllu(file)
    assert parsed == [(file, 1), (file, None)]


def test_a_fault_behind_the_examples_is_found_by_the_check_alone(file: Path) -> None:
    file.write_text(SAMPLE + "no CoNLL-U\n", encoding="utf-8")
    data = datasets.find("pos", "UD_French-Harbour", "test", 1)
    assert len(data.read()) == 1
    with pytest.raises(DataError, match=r"fr_harbour-ud-test.conllu:\d+: expected 10 tab-separated columns"):
        data.check()


def test_the_first_sentences_are_read(file: Path) -> None:
    assert list(datasets.find("pos", "UD_French-Harbour", "test", 1).read()) == read_conllu(file)[:1]


def test_a_file_that_changed_is_refused(file: Path) -> None:
    declared = datasets.find("pos", "UD_French-Harbour", "test", 10)
    file.write_text(f"# changed\n{SAMPLE}", encoding="utf-8")
    with pytest.raises(DataError, match="the file has changed since the study was planned"):
        declared.read()


def test_sentences_of_the_world_are_made_once_in_a_process() -> None:
    first, second = (datasets.find("pos", "world:qab", "dev", 7, 3) for _ in range(2))
    assert first is not second and first.read() is second.read()
    assert list(first.read()) == World(3).treebank("qab", "dev", 7)
    assert datasets.find("pos", "world:qab", "dev", 7, 4).read() != first.read()


def test_the_parallel_chinese_treebank_is_in_traditional_script() -> None:
    assert treebank_language("UD_Chinese-PUD").script == "Hant"


def entity_file(folder: Path, code: str, types: list[str]) -> None:
    path = folder / "masakhaner2" / code / "test.txt"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"word{k} B-{one}\n" for k, one in enumerate(types)) + "\n", encoding="utf-8")


def test_entity_types_are_mapped_and_what_is_left_over_is_named(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    entity_file(tmp_path, "wol", ["PER", "DATE", "GPE"])
    found = datasets.find("ner", "masakhaner2:wol", "test", 10, entity_types={"DATE": "O", "GPE": "LOC"})
    assert found.language == "wo"
    (sentence,) = datasets.limited(found, ("LOC", "PER")).read()
    assert sentence.labels == ["B-PER", "O", "B-LOC"]
    with pytest.raises(
        DataError, match=r"test\.txt:2: entity type 'DATE' is not one of LOC, PER; say what it counts as"
    ):
        datasets.limited(datasets.find("ner", "masakhaner2:wol", "test", 10), ("LOC", "PER")).read()
    assert datasets.entity_types((found,)) == ("LOC", "PER")


def test_the_world_always_has_three_types_of_entities() -> None:
    assert datasets.entity_types((datasets.find("ner", "world:qab", "train", 1),)) == ("LOC", "ORG", "PER")


@pytest.mark.parametrize("task", ["ner", "inference", "acceptability", "sentiment", "paraphrase", "similarity"])
def test_every_task_of_the_world_has_its_examples(task: str) -> None:
    examples = datasets.find(task, "world:qab", "dev", 5).read()
    assert len(examples) == 5
    world = World()
    assert list(examples) == (
        world.entities("qab", "dev", 5) if task == "ner" else world.examples("qab", task, "dev", 5)
    )


@pytest.mark.parametrize(
    ("task", "name", "allowed"),
    [
        ("pos", "masakhaner2:wol", f"world:CODE, {DIVIDED}, UD_LANGUAGE-NAME, treebank:CODE:FILE"),
        ("ner", "UD_French-Harbour", "world:CODE, masakhaner2:CODE, wikiann:CODE, entities:CODE:FILE"),
        ("rte", "world:qaa", "glue:RTE, tsv:CODE:FILE"),
        ("xnli", "UD_French-Harbour", "glue:MNLI, glue:MNLI-mm, xnli:LANGUAGE, tsv:CODE:FILE"),
        ("inference", "UD_French-Harbour", "world:CODE, tsv:CODE:FILE"),
    ],
)
def test_data_of_another_task_are_refused(task: str, name: str, allowed: str) -> None:
    with pytest.raises(InputError) as error:
        datasets.find(task, name, "train", 10)
    assert str(error.value) == f"{name!r} is no data of {task}, whose data sets are named {allowed}"


def test_text_to_model_language_on_is_what_was_written(file: Path) -> None:
    assert datasets.find("mlm", "UD_French-Harbour", "test", 1).read() == ("Je vais au marché.",)
    own = datasets.find_file("mlm", "UD_French-Harbour>buckwalter", "test").read()
    assert own == ("Je vais au marché.", "Sam drinks 10 000 teas and Kim milk")


def test_data_that_had_other_examples_once_are_told_apart(file: Path) -> None:
    """Text was syntactic words once: such results have other keys, and such data are not read as what they are not."""
    text, words = (datasets.find_file(task, "UD_French-Harbour", "test") for task in ("mlm", "pos"))
    assert (text.edition, words.edition) == (2, 1)
    with pytest.raises(DataError, match="run the study again"):
        text.model_copy(update={"edition": 1}).read()
