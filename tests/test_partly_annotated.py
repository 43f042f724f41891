"""Treebanks without trees, without universal tags, or without any annotation, for tasks that do not need it."""

from __future__ import annotations

from functools import partial

import pytest

import babelscope as bs
from babelscope.core.errors import DataError
from babelscope.core.examples import NO_HEAD
from babelscope.corpora.conllu import read_conllu, write_conllu
from babelscope.corpora.datasets import find
from babelscope.corpora.lines import content_digest
from babelscope.corpora.parsed import sentences_for
from babelscope.study.transfer import Transfer, declared_task
from babelscope.world import World
from command_line import declaration, write_study

TAGS = {"NOUN": "n", "VERB": "v.fin", "ADJ": "adj", "PUNCT": "p"}


def lines(sentence, upos, xpos="_", tree=False):
    """CoNLL-U of a sentence, its words tagged and attached as asked for."""
    for number, word in enumerate(sentence.words, start=1):
        attached = (str(word.head), word.deprel) if tree else ("_", "_")
        yield "\t".join([str(number), word.form, "_", upos(word), xpos, "_", *attached, "_", "_"])
    yield ""


def universal(word):
    return word.upos


def own(word):
    return TAGS.get(word.upos, "other")


def nothing(word):
    return "_"


@pytest.fixture(scope="module")
def sentences():
    return World().treebank("qaa", "train", 40)


@pytest.fixture
def file(sentences, tmp_path, request):
    upos, tree = request.param
    path = tmp_path / "mine.conllu"
    path.write_text("\n".join(line for each in sentences for line in lines(each, upos, tree=tree)), encoding="utf-8")
    return path


def tagging(**changes):
    declared = {"task": "tagging", "train": ["world:qaa"], "evaluate": ["world:qaa"]}
    return declared_task("mine", {"mine": Transfer.model_validate(declared | changes)})


@pytest.mark.parametrize("file", [(universal, False)], indirect=True)
def test_tags_without_trees_are_enough_for_tagging(file, sentences):
    read = find("pos", f"treebank:qaa:{file}", "train", 5).read()
    assert [sentence.upos for sentence in read] == [sentence.upos for sentence in sentences[:5]]
    assert {word.head for sentence in read for word in sentence.words} == {NO_HEAD}
    with pytest.raises(DataError, match=r"mine.conllu:1: no head or no dependency relation"):
        find("parsing", f"treebank:qaa:{file}", "train", 5).read()


@pytest.mark.parametrize("file", [(own, True), (own, False)], indirect=True)
def test_tags_of_ones_own_are_labels_of_a_declared_task(file, sentences):
    read = find(tagging(label="upos"), f"treebank:qaa:{file}", "train", 5).read()
    assert [word.upos for sentence in read for word in sentence.words] == [
        own(word) for sentence in sentences[:5] for word in sentence.words
    ]
    with pytest.raises(DataError, match=r"mine.conllu:\d+: .* is not a universal part of speech.*label: upos"):
        find("pos", f"treebank:qaa:{file}", "train", 5).read()


@pytest.mark.parametrize("file", [(universal, False)], indirect=True)
def test_another_kind_of_task_may_look_at_trees(file):
    looking = tagging(label="upos").model_copy(update={"kind": "looking"})
    with pytest.raises(DataError, match=r"mine.conllu:1: no head or no dependency relation"):
        annotated = partial(sentences_for, looking, sha256=content_digest(file))
        annotated(file, 5)


@pytest.mark.parametrize("file", [(universal, False)], indirect=True)
def test_a_divided_treebank_without_trees_is_for_tagging_alone(file, tmp_path, monkeypatch):
    folder = tmp_path / "ud" / "UD_French-Harbour"
    folder.mkdir(parents=True)
    file.rename(folder / "fr_harbour-ud-test.conllu")
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    assert find("pos", "UD_French-Harbour:tenths-8-1-1", "train", 5).read()
    with pytest.raises(DataError, match=r"fr_harbour-ud-test.conllu:1: no head or no dependency relation"):
        find("parsing", "UD_French-Harbour:tenths-8-1-1", "train", 5).read()


@pytest.mark.parametrize("file", [(nothing, False)], indirect=True)
def test_text_needs_no_annotation(file, sentences):
    read = find("mlm", f"treebank:qaa:{file}", "train", 5).read()
    assert list(read) == [" ".join(sentence.forms) for sentence in sentences[:5]]
    with pytest.raises(DataError, match=r"mine.conllu:1: no universal part of speech"):
        find("pos", f"treebank:qaa:{file}", "train", 5).read()


@pytest.mark.parametrize("file", [(universal, True)], indirect=True)
def test_a_tree_of_which_a_part_is_missing_is_refused_for_any_task(file):
    text = file.read_text(encoding="utf-8").split("\n")
    cells = text[1].split("\t")
    file.write_text("\n".join([text[0], "\t".join([*cells[:6], "_", "_", *cells[8:]]), *text[2:]]), encoding="utf-8")
    with pytest.raises(DataError, match=r"mine.conllu:2: no head .*though other words of the sentence have one"):
        find("pos", f"treebank:qaa:{file}", "train", 5).read()
    file.write_text("\n".join([text[0], "\t".join([*cells[:6], "_", *cells[7:]]), *text[2:]]), encoding="utf-8")
    with pytest.raises(DataError, match=r"mine.conllu:2: no head or no dependency relation"):
        find("pos", f"treebank:qaa:{file}", "train", 5).read()


@pytest.mark.parametrize("file", [(universal, False)], indirect=True)
def test_what_has_no_tree_is_written_and_read_again(file, tmp_path):
    read = read_conllu(file, annotation="any")
    write_conllu(tmp_path / "again.conllu", read)
    assert read_conllu(tmp_path / "again.conllu", annotation="any") == read


@pytest.mark.parametrize("file", [(own, False)], indirect=True)
def test_a_study_is_trained_and_scored_on_tags_of_ones_own(file, encoder_folder, tmp_path):
    task = {
        "task": "tagging", "label": "upos", "train": [f"treebank:qaa:{file}"], "evaluate": [f"treebank:qaa:{file}"],
        "tuning": {"steps": 2}, "baselines": [],
    }  # fmt: skip
    given = declaration(encoder_folder, encoders=[str(encoder_folder)], surgeries=[None], seeds=[0], retrieval=None)
    study = bs.read_study(write_study(tmp_path / "mine.yaml", given | {"tasks": {"mine": task}}))
    rows = study.run(store=tmp_path / "store", jobs=1).frame()
    assert set(rows.loc[rows["measure"] == "accuracy", "dataset"]) == {f"treebank:qaa:{file}"}
