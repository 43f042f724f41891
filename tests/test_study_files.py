"""Files of studies: what is no YAML of a study, what a value stands for, and what else a file may not be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from babelscope.core.errors import DataError, InputError, StudyError
from babelscope.core.yaml import LARGEST_FILE, parse_value
from babelscope.studies import find_study
from babelscope.study.declare import load_study
from command_line import within
from studies_in_text import MINIMAL, faults, loading, minimal


@pytest.fixture
def load(tmp_path: Path):
    return loading(tmp_path)


def test_a_key_given_twice_is_refused_with_its_line(load):
    with pytest.raises(DataError, match=r'study.yaml:4: found duplicate key "name"; give each key once'):
        load(MINIMAL + "name: y\n")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("name: [x\n", 2, "not YAML"),
        ("name: x\n\ttask: pos\n", 2, "not YAML"),
        ("- a\n- b\n", None, "a study is a mapping of keys to values; this is list"),
        ("", None, "a study is a mapping of keys to values; the file is empty"),
        ("name: *missing\n", 1, "not YAML"),
        ("name: !!python/object:os.system x\n", 1, "not YAML"),
        ("a: \x00\n", None, "not YAML"),
        ("a: !!bool maybe\n", None, "not YAML"),
        ("a: !!int ''\n", None, "not YAML"),
        (f"seeds: [{2**63}]\n", None, "not YAML: a whole number beyond 64 bits"),
        ("a: " + "[" * 50_000, 1, "nested more than 50 deep"),
        ('a: "\\UFFFFFFFF"', None, "not YAML"),
        ("a: " + "x" * LARGEST_FILE, None, "more than 100,000 bytes"),
    ],
)
def test_what_is_not_a_study_is_refused_with_file_and_line(load, text, line, problem):
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        load(text)
    assert caught.value.line == line
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("repeated", ["{{<<: [{}]}}", "[{}]"])
def test_aliases_that_stand_for_more_than_memory_holds_are_refused_at_once(load, repeated):
    lines = [f"k{n}: &k{n} " + repeated.format(", ".join([f"*k{n - 1}"] * 9)) for n in range(1, 13)]
    with within(5), pytest.raises(DataError, match="aliases make it stand for more than 100,000 values"):
        load("\n".join(["k0: &k0 {a: 1}", *lines]))


def test_what_should_be_a_list_is_shown_as_one(load):
    (fault,) = faults(load, MINIMAL, seeds=2)
    assert fault == "seeds: should be a list, in brackets: [one] or [one, another] (given: 2)"


def test_a_name_with_a_space_is_refused_in_words(load):
    (fault,) = faults(load, MINIMAL, name="my study")
    assert fault.startswith("name: should have no other characters than names have here, such as a space")
    assert load(MINIMAL, name="हिन्दी").name == "हिन्दी"


def test_a_folder_is_no_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match="mine is a folder; give the YAML file of a study"):
        find_study("mine", {})


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"absent.yaml: cannot be read: No such file"):
        load_study(tmp_path / "absent.yaml")
    (tmp_path / "latin.yaml").write_bytes("name: é".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8 at byte 6; save the file as UTF-8"):
        load_study(tmp_path / "latin.yaml")


def test_no_is_norwegian_and_1e_5_a_number(load):
    study = load(minimal("tuning: {learning_rate: 1e-5}").replace("['world:qaa']", "[no]"))
    assert study.tasks["pos"].train == ("no",)
    assert study.tasks["pos"].tuning.learning_rate == 0.00001


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("1e-5", 1e-5), ("no", "no"), ("true", True), ("null", None), ("[0, 1]", [0, 1]),
        ("world-natural", "world-natural"), ("/a folder/x", "/a folder/x"), ("{steps: 3}", {"steps": 3}), ("[", "["),
        ("", None), ("2024-13-45", "2024-13-45"), ("!!int x", "!!int x"), ("!!float ''", "!!float ''"),
        ("!!bool x", "!!bool x"), ("[" * 5000, "[" * 5000), ("9" * 5000, "9" * 5000), (f"{2**63}", f"{2**63}"),
        (f"{2**63 - 1}", 2**63 - 1),
    ],
)  # fmt: skip
def test_values_on_the_command_line_are_yaml(text, value):
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


@pytest.mark.parametrize(
    ("text", "value"), [(f"[{2**64}, 3]", [str(2**64), 3]), (f"{{a: {-(2**64)}}}", {"a": str(-(2**64))})]
)
def test_a_number_beyond_64_bits_is_text_wherever_it_is(text, value):
    assert parse_value(text) == value


@pytest.mark.parametrize(
    "key",
    ["seeds", "world_seed", "tasks.pos.shots", "tasks.pos.sizes.train", "tasks.pos.tuning.learning_rate",
     "tasks.pos.tuning.patience", "tasks.pos.tuning.betas"],
)  # fmt: skip
@pytest.mark.parametrize("value", [True, False, [True, 0.5]])
def test_true_and_false_are_no_numbers(load, key, value):
    """Python's true is 1: a learning rate of 1, one shot."""
    (fault,) = faults(load, MINIMAL, **{key: value})
    assert fault.startswith(f"{key}: ") and ("which true and false are not" in fault or "should be a" in fault)
    assert load(MINIMAL, **{"tasks.pos.tuning.recompute": True})


@pytest.mark.parametrize("number", [2**63, 2**64, str(2**64), -(2**64)])
@pytest.mark.parametrize("key", ["seeds", "tasks.pos.shots", "tasks.pos.sizes.train", "tasks.pos.tuning.max_length"])
def test_whole_numbers_that_files_of_rows_cannot_hold_are_refused(load, key, number):
    (fault,) = faults(load, MINIMAL, **{key: [number] if key == "seeds" else number})
    assert fault.startswith(key) and "list" not in fault
    assert load(MINIMAL, **{"tasks.pos.tuning.max_length": 2**63 - 1})


def test_parameters_of_built_in_studies_are_told_from_keys_of_a_file(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(MINIMAL)
    with pytest.raises(InputError, match="--with scale: a parameter of built-in studies such as first-look"):
        find_study(str(file), {"scale": "small"})
    with pytest.raises(StudyError, match="seedz: unknown key"):
        find_study(str(file), {"seedz": [1]})


@pytest.mark.parametrize("name", ["underspecified", "first-look@real"])
def test_a_file_does_not_go_by_the_name_of_a_built_in_study(tmp_path, name):
    """Its report would have that one's published numbers beside its own."""
    (tmp_path / "mine.yaml").write_text(MINIMAL.replace("name: x", f"name: {name}"))
    with pytest.raises(InputError, match=f"'{name}' is the name of a built-in study, .*; give this one another name"):
        find_study(str(tmp_path / "mine.yaml"), {})
    assert find_study(str(tmp_path / "mine.yaml"), {"name": "underspecified-too"}).name == "underspecified-too"


@pytest.mark.parametrize("version", ["1.1", "1.0", "2.0"])
def test_another_version_of_yaml_is_refused(load, version):
    """In YAML 1.1 the seed 010 is 8, and `no` is false."""
    with pytest.raises(DataError, match=r"studies are YAML 1\.2, .*leave it out") as caught:
        load(f"# of mine\n%YAML {version}\n---\n{MINIMAL}")
    assert caught.value.line == 2
    assert load(f"%YAML 1.2\n---\n{MINIMAL}")
