"""Trainings and baselines that rows could not tell apart are refused; those with few examples say how many."""

from __future__ import annotations

import pytest

from babelscope.core.errors import StudyError
from babelscope.corpora.conllu import write_conllu
from babelscope.face.doubts import doubts
from babelscope.report.cautions import cautions
from babelscope.report.model import Report
from babelscope.steps import Baseline, Evaluate, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from command_line import declaration, transfer
from written import rows_of

SIZES = {"train": 20, "dev": 5, "test": 5}


def steps_of(folder, tasks, **more):
    declared = declaration(folder, surgeries=[None], retrieval=None, seeds=[0], tasks=tasks)
    return list(compile_study(Study.model_validate(declared | more)).steps.values())


@pytest.fixture
def treebanks(tmp_path):
    """Two of one language."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for split in ("train", "dev", "test"):
            write_conllu(
                tmp_path / name / f"qaa-{split}.conllu", World(len(name) + ord(name[0])).treebank("qaa", split, 25)
            )
    return [f"treebank:qaa:{tmp_path / name}" for name in ("one", "two")]


def test_two_trainings_in_one_language_are_refused(encoder_folder, treebanks):
    """They were computed, and the report was an error."""
    tasks = {
        name: transfer(train=[data], evaluate=[data], baselines=[], sizes=SIZES)
        for name, data in zip(("pos", "other"), treebanks, strict=True)
    }
    tasks["other"] |= {"task": "pos"}
    with pytest.raises(StudyError, match=rf"in two ways, on {treebanks[0]} and {treebanks[1]}.*two studies"):
        steps_of(encoder_folder, tasks)


def test_two_baselines_of_other_sizes_are_refused(encoder_folder):
    """Though encoders are tuned on one or the other."""
    own = [str(encoder_folder), "made"]
    made = {"name": "made", "texts": [{"language": "qab", "sentences": 9}], "tuning": {"steps": 1},
            "shape": {"hidden": 16, "layers": 1, "feed_forward": 16}}  # fmt: skip
    tasks = {
        name: transfer(task="pos", encoders=[encoder], baselines=["word-majority"], sizes=SIZES | {"train": size})
        for name, encoder, size in (("first", own[0], 20), ("second", own[1], 10))
    }
    with pytest.raises(StudyError, match=r"baseline word-majority on .* is trained in two ways"):
        steps_of(encoder_folder, tasks, encoders=[own[0], made])


def test_two_baselines_that_are_scored_on_other_data_are_refused(encoder_folder):
    """Tables would show the scores of both as those of one."""
    own = [str(encoder_folder), "made"]
    made = {"name": "made", "texts": [{"language": "qab", "sentences": 9}], "tuning": {"steps": 1},
            "shape": {"layers": 1}, "vocabulary_size": 90}  # fmt: skip
    tasks = {
        name: transfer(task="pos", encoders=[encoder], baselines=["word-majority"], sizes=SIZES | {"train": size},
                       evaluate=[data])
        for name, encoder, size, data in (("a", own[0], 20, "world:qab"), ("b", own[1], 10, "world:qac"))
    }  # fmt: skip
    with pytest.raises(StudyError, match=r"word-majority on qab.* two ways, on other numbers of examples of world:qaa"):
        steps_of(encoder_folder, tasks, encoders=[own[0], made])


def test_baselines_of_several_numbers_of_examples_are_told_apart(encoder_folder):
    few = {
        f"few-{shots}": transfer(task="pos", train=["world:qaa", "world:qab"], shots=shots, evaluate=["world:qab"],
                                 baselines=["word-majority"], sizes=SIZES)
        for shots in (5, 10)
    }  # fmt: skip
    steps = steps_of(encoder_folder, few)
    baselines = [step for step in steps if isinstance(step, Baseline)]
    tunings = [step for step in steps if isinstance(step, Tune)]
    assert {step.labels["shots"] for step in baselines} == {5, 10} == {step.labels["shots"] for step in tunings}
    rows = [row.labelled(kind="score") for step in baselines for row in rows_of(step)]
    assert {row.shots for row in rows} == {5, 10}
    low = [row.labelled(encoder="e", value=0.01, seed=0) for row in rows if row.measure == "accuracy"]
    made = Report("t", "q", [*rows, *low])
    assert sum("below the baseline word-majority" in line for line in cautions(made, made.scores)) == 2


def test_what_is_selected_on_test_sets_leaves_no_training_set_few(encoder_folder):
    steps = steps_of(encoder_folder, {"pos": transfer(selected_on="test", sizes=SIZES, baselines=[])})
    (tuned,) = {step.model for step in steps if isinstance(step, Evaluate)}
    assert tuned.trained_on.shots is None and "shots" not in tuned.labels


def test_few_examples_are_not_selected_on_test_sets(encoder_folder):
    """Rows would not say that they were few."""
    few = transfer(selected_on="test", train=["world:qaa", "world:qab"], shots=10, evaluate=["world:qab"])
    with pytest.raises(ValueError, match=r"shots and selected_on: test do not go together"):
        steps_of(encoder_folder, {"pos": few})


@pytest.mark.parametrize(
    ("others", "told"),
    [([], "qaa"), (["world:qab"], "qaa+qab:10")],
    ids=["of the same language alone", "of another, too"],
)
def test_a_language_of_which_there_is_a_whole_data_set_is_not_few(encoder_folder, treebanks, others, told):
    tasks = {"pos": transfer(train=[*treebanks, *others], shots=10, evaluate=["world:qac"], sizes=SIZES,
                             baselines=["word-majority"])}  # fmt: skip
    steps = steps_of(encoder_folder, tasks)
    (tuned,) = (step for step in steps if isinstance(step, Tune))
    (baseline,) = (step for step in steps if isinstance(step, Baseline))
    assert str(tuned.trained_on) == told
    assert baseline.labels["train_languages"] == tuned.labels["train_languages"]
    assert baseline.labels.get("shots") == tuned.labels.get("shots")


CKA = {"measure": "similarity", "source": "world:qaa", "targets": ["world:qab"], "sentences": 8}


@pytest.mark.parametrize(
    ("one", "changes"),
    [
        (CKA, {"pooling": "weighted"}),
        (CKA, {"sentences": 9}),
        ({"measure": "retrieval", "source": "qaa", "targets": ["qab", "qac"]}, {"sentences": 9}),
        ({"measure": "projection", "source": "qaa", "targets": ["qab"]}, {"sentences": 9}),
        ({"measure": "vocabulary", "treebanks": ["world:qaa"], "reference": "tiny"}, {"reference": "made"}),
        ({"measure": "vocabulary", "treebanks": ["world:qaa"], "reference": "tiny"}, {"sentences": 9}),
        ({"measure": "cost", "surgeries": [], "peers": ["tiny"], "reference": "made"}, {"reference": "tiny"}),
    ],
    ids=["pooling", "sentences", "retrieval", "projection", "reference", "treebank", "cost"],
)
def test_measures_of_which_rows_do_not_say_how_they_differ_are_refused(encoder_folder, one, changes):
    """Figures and tables mixed the two."""
    made = {"name": "made", "texts": [{"language": "qab", "sentences": 9}], "tuning": {"steps": 1},
            "shape": {"hidden": 16, "layers": 1, "feed_forward": 16}}  # fmt: skip
    named = f"{encoder_folder.parent.name}/{encoder_folder.name}"
    one, changes = (
        {key: named if value == "tiny" else [named] if value == ["tiny"] else value for key, value in given.items()}
        for given in (one, changes)
    )
    if one["measure"] == "cost":
        one["surgeries"] = ["reinit"]
    more = {"encoders": [str(encoder_folder), made], "surgeries": [None, "reinit"]}
    tasks = {"pos": transfer(baselines=[])}
    steps_of(encoder_folder, tasks, measures=[one, one], **more)
    with pytest.raises(StudyError, match="measured in two ways, and rows could not tell the two apart"):
        steps_of(encoder_folder, tasks, measures=[one, one | changes], **more)


def test_measures_that_share_what_they_measure_are_allowed(encoder_folder):
    measures = [
        CKA | {"targets": ["world:qac"]},
        CKA | {"targets": ["world:qab", "world:qad"]},
        CKA | {"measures": ["linear CKA (biased)"]},
        CKA | {"measures": ["retrieval"]},
        {"measure": "projection", "source": "qaa", "targets": ["qab"]},
        {"measure": "projection", "source": "qaa", "targets": ["qac"], "sentences": 9},
    ]  # fmt: skip
    assert steps_of(encoder_folder, {"pos": transfer(baselines=[])}, measures=measures)


@pytest.mark.parametrize("name", ["Part-of-speech tagging", "part-of-speech tagging"])
def test_tasks_that_pages_call_the_same_are_refused(encoder_folder, name):
    """A figure drew the two as one line."""
    pos = transfer(baselines=[], sizes=SIZES)
    own = pos | {"task": "tagging", "label": "deprel"}
    with pytest.raises(ValueError, match=f"pages would call both pos and {name} 'part-of-speech tagging'; rename"):
        steps_of(encoder_folder, {"pos": pos, name: own})
    steps_of(encoder_folder, {"pos": pos, "relations": own})


REVERSE = {"name": "reverse", "operations": ["reverse"]}


@pytest.mark.parametrize(
    ("name", "surgery", "schedule", "refused"),
    [
        ("world-natural, reverse", REVERSE, None, True),
        ("world-natural reverse", REVERSE, None, True),
        ("world-natural, schedule freeze:1", None, "freeze:1", True),
        ("world-natural, reverse, schedule freeze:1", REVERSE, "freeze:1", True),
        ("world-natural untrained", {"name": "reinit", "operations": ["reinit"]}, None, True),
        ("world-natural again", REVERSE, "freeze:1", False),
        ("world-natural untrained", None, "freeze:1", False),
        ("world-natural, schedule freeze:1", REVERSE, None, False),
        ("world-natural, reverse", REVERSE | {"encoders": ["{folder}"]}, None, False),
    ],
)
def test_encoders_that_pages_call_as_they_call_another_are_refused(encoder_folder, name, surgery, schedule, refused):
    """The report of all that was computed was an error."""
    made = {"name": name, "texts": [{"language": "qab", "sentences": 9}], "tuning": {"steps": 1},
            "shape": {"layers": 1}, "vocabulary_size": 90}  # fmt: skip
    if surgery and "encoders" in surgery:
        surgery = surgery | {"encoders": [str(encoder_folder)]}
    given = {
        "encoders": ["world-natural", made, str(encoder_folder)], "surgeries": [None, *([surgery] if surgery else [])],
        "schedules": [None, *([schedule] if schedule else [])],
    }  # fmt: skip
    tasks = {"pos": transfer(baselines=[], sizes=SIZES)}
    if not refused:
        steps_of(encoder_folder, tasks, **given)
    else:
        with pytest.raises(StudyError, match=rf"encoders.1: '{name}' is what pages call world-natural after a surgery"):
            steps_of(encoder_folder, tasks, **given)


def test_baselines_of_more_examples_than_there_are_are_one(encoder_folder, treebanks):
    """25 sentences are read of either."""
    own = [str(encoder_folder), "made"]
    made = {"name": "made", "texts": [{"language": "qab", "sentences": 9}], "tuning": {"steps": 1},
            "shape": {"layers": 1}, "vocabulary_size": 90}  # fmt: skip
    tasks = {
        name: transfer(task="pos", train=[treebanks[0]], encoders=[encoder], baselines=["word-majority"],
                       evaluate=[data], sizes=SIZES | {"train": size})
        for name, encoder, size, data in (("a", own[0], 50, "world:qab"), ("b", own[1], 60, "world:qac"))
    }  # fmt: skip
    steps = steps_of(encoder_folder, tasks, encoders=[own[0], made])
    assert sum(isinstance(step, Baseline) for step in steps) == 2 and doubts(steps) == []
