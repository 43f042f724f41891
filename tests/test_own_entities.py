"""Named entities in files of the user's own: `entities:CODE:FILE`, one file that is divided or a folder with splits."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from babelscope.core.errors import DataError, InputError, StudyError
from babelscope.core.examples import Tagged
from babelscope.corpora.bio import write_bio
from babelscope.corpora.datasets import FileData, find, find_file
from babelscope.corpora.sources import SPLITS
from babelscope.face.notes import notes
from babelscope.steps import Evaluate, Tune
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from command_line import declaration, transfer


@pytest.fixture
def sentences() -> list[Tagged]:
    return World().entities("qaa", "train", 40)


def words(examples: object) -> list[list[str]]:
    return [list(each.words) for each in examples]


def plan(encoder_folder: Path, **changes: object) -> Plan:
    tasks = {"ner": transfer(**({"baselines": []} | changes))}
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, tasks=tasks)
    return compile_study(Study.model_validate(declared))


def test_a_file_is_divided_in_its_order_as_treebanks_are(tmp_path, sentences):
    write_bio(tmp_path / "mine.bio", sentences)
    parts = [find_file("ner", f"entities:wo:{tmp_path / 'mine.bio'}", split) for split in SPLITS]
    assert [len(part.read()) for part in parts] == [32, 4, 4]
    assert words(one for part in parts for one in part.read()) == words(sentences)
    assert {(part.language, part.code, part.splits_one_file, part.is_own) for part in parts} == {
        ("wo", "wo", True, True)
    }


@pytest.mark.parametrize("names", ["wo-{}.bio", "{}.txt", "{}", "{}.conll.gz", "wo_ner-{}.v2.iob2"])
@pytest.mark.parametrize("dev", [True, False])
def test_a_folder_has_a_file_a_split(tmp_path, sentences, names, dev):
    given = {"train": sentences[:20], "test": sentences[30:]} | ({"dev": sentences[20:30]} if dev else {})
    for split, part in given.items():
        path = tmp_path / names.format(split)
        write_bio(path, part)
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "train.json").write_text("{}")  # another form of the same
    (tmp_path / "latest.bio").write_text("no split\n")
    found = {split: find_file("ner", f"entities:wo:{tmp_path}", split) for split in SPLITS}
    train, held_out, test = (words(found[split].read()) for split in SPLITS)
    expected = words(sentences)
    assert test == expected[30:]
    assert (train, held_out) == ((expected[:20], expected[20:30]) if dev else (expected[:18], expected[18:20]))
    assert [found[split].divided for split in SPLITS] == [not dev, not dev, False]
    assert words(found["train"].model_copy(update={"whole": True}).read()) == expected[:20]


def test_other_letters_change_words_and_no_tags(tmp_path):
    write_bio(tmp_path / "mine.bio", [Tagged(["в", "Казани"], ["O", "B-LOC"])] * 20)
    name = f"entities:ru:{tmp_path / 'mine.bio'}>cyrillic"
    data = find("ner", name, "test", 1)
    assert (data.code, data.read()) == ("ru>cyrillic", (Tagged(["v", "Kazani"], ["O", "B-LOC"]),))


def test_the_code_before_every_word_of_wikiann_is_taken_off(tmp_path, sentences):
    write_bio(tmp_path / "mine.bio", [Tagged([f"wo:{word}" for word in s.words], s.labels) for s in sentences])
    assert words(find_file("ner", f"entities:wo:{tmp_path / 'mine.bio'}", "train").read()) == words(sentences[:32])


def test_a_file_is_known_by_its_content(tmp_path, sentences, monkeypatch):
    """A relative path is one from where the study runs; a file that is packed later is the same data."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.bio", "b.bio"):
        write_bio(tmp_path / name, sentences)
    first, second = (find_file("ner", f"entities:wo:{name}", "train") for name in ("a.bio", "b.bio"))
    assert first.sha256 == second.sha256 and first.read() == second.read()
    (tmp_path / "a.bio").write_bytes(gzip.compress((tmp_path / "b.bio").read_bytes()))
    assert find_file("ner", "entities:wo:a.bio", "train") == first
    write_bio(tmp_path / "b.bio", sentences[1:])
    assert find_file("ner", "entities:wo:b.bio", "train").sha256 != first.sha256
    with pytest.raises(DataError, match="changed since the study was planned"):
        second.verify()


def test_equal_content_gives_equal_keys(tmp_path, sentences, encoder_folder, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, keys = "entities:wo:mine.bio", []
    for write in (lambda text: text, gzip.compress, lambda text: text + b"\nx\tO\n"):
        write_bio(tmp_path / "mine.bio", sentences)
        (tmp_path / "mine.bio").write_bytes(write((tmp_path / "mine.bio").read_bytes()))
        keys.append(set(plan(encoder_folder, train=[name], evaluate=[name]).steps))
    assert keys[0] == keys[1] and not keys[0] & keys[2]


# Faults


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("entities:wo", "'entities:wo': a file of entities of one's own is named entities:CODE:FILE, such as entities"),
        ("entities::mine.bio", "a file of entities of one's own is named entities:CODE:FILE"),
        ("entities:wo:nowhere.bio", "entities:wo:nowhere.bio: there is no file or folder /.*/nowhere.bio"),
    ],
)  # fmt: skip
def test_what_there_is_not_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        find_file("ner", name, "train")


def test_a_split_that_is_not_there_or_there_twice_is_refused(tmp_path, sentences):
    for name in ("train.bio", "valid.bio"):
        write_bio(tmp_path / name, sentences)
    with pytest.raises(
        InputError, match=r"no file of BIO with test in its name, such as wo-test\.bio; give it one, or give"
    ):
        find_file("ner", f"entities:wo:{tmp_path}", "test")
    write_bio(tmp_path / "wo-train.txt", sentences)
    with pytest.raises(InputError, match=r"several files of the split train: train\.bio, wo-train\.txt; leave one"):
        find_file("ner", f"entities:wo:{tmp_path}", "train")


def test_damaged_lines_and_files_too_small_are_refused_with_their_place(tmp_path, sentences):
    file = tmp_path / "mine.bio"
    data = f"entities:wo:{file}"
    write_bio(file, sentences[:9])
    with pytest.raises(DataError, match=r"mine\.bio: 9 sentences; a file that is divided takes ten or more"):
        find_file("ner", data, "test").read()
    file.write_text("Dakar B-LOC\n. O\n\n" * 10 + "Saint-Louis LOC\n")
    for split in SPLITS:  # wherever the line is
        with pytest.raises(DataError, match=r"mine\.bio:31: 'LOC' is not a BIO tag; allowed are O, B-TYPE and I-TYPE"):
            find_file("ner", data, split).read()
    file.write_text("Dakar\n\n" * 10)
    with pytest.raises(DataError, match=r"mine\.bio:1: expected a word and its tag, found 'Dakar' alone"):
        find_file("ner", data, "train").read()


def test_such_data_are_of_entities_alone(tmp_path):
    with pytest.raises(InputError, match=r"is no data of pos, .*treebank:CODE:FILE"):
        find_file("pos", f"entities:wo:{tmp_path}", "train")
    with pytest.raises(InputError, match=r"is no data of ner, .*wikiann:CODE, entities:CODE:FILE$"):
        find_file("ner", f"treebank:wo:{tmp_path}", "train")


# Studies


def test_types_of_ones_own_are_those_of_the_training_data(tmp_path, encoder_folder):
    """A type that is left over elsewhere is a fault with its line, until `entity_types` says what it counts as."""
    for name, types in (("tools", ("TOOL", "PART")), ("more", ("TOOL", "MAKER"))):
        write_bio(tmp_path / f"{name}.bio", [Tagged(["a", "b"], [f"B-{types[k % 2]}", "O"]) for k in range(40)])
    tools, more = (f"entities:wo:{tmp_path / name}.bio" for name in ("tools", "more"))
    steps = plan(encoder_folder, train=[tools], evaluate=[tools]).steps.values()
    assert {step.entity_types for step in steps if isinstance(step, Tune)} == {("PART", "TOOL")}
    with pytest.raises(
        DataError, match=r"more\.bio:4: entity type 'MAKER' is not one of PART, TOOL; say what it counts"
    ):
        scored_on(plan(encoder_folder, train=[tools], evaluate=[more])).check()
    mapped = scored_on(plan(encoder_folder, train=[tools], evaluate=[more], entity_types={"MAKER": "O"}))
    assert [each.labels[0] for each in mapped.read()] == ["B-TOOL", "O", "B-TOOL", "O"]


def scored_on(study: Plan) -> FileData:
    return next(step.data for step in study.steps.values() if isinstance(step, Evaluate))


def test_a_file_without_an_entity_is_told_before_it_is_trained_on(tmp_path, encoder_folder):
    write_bio(tmp_path / "none.bio", [Tagged([f"a{k}", "b"], ["O", "O"]) for k in range(40)])
    name = f"entities:wo:{tmp_path / 'none.bio'}"
    told = notes(plan(encoder_folder, train=[name], evaluate=["world:qaa"]).steps.values())
    assert f"{name}: all that is labelled in the train split is 'O', so that there is nothing to learn" in told
    with pytest.raises(StudyError, match=r"entity_types: no type of the training data is left to find"):
        plan(encoder_folder, train=[name], evaluate=["world:qaa"], entity_types={"X": "LOC"})


def test_it_is_said_how_a_file_is_divided(tmp_path, sentences, encoder_folder):
    write_bio(tmp_path / "mine.bio", sentences)
    name = f"entities:wo:{tmp_path / 'mine.bio'}"
    told = notes(plan(encoder_folder, train=[name], evaluate=[name]).steps.values())
    assert any(line.startswith(f"{name}: one file, divided in its order: eight tenths to train on") for line in told)
