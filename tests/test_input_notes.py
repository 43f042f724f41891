"""What is told of text that is predicted on: `babelscope predict` says it on standard error."""

from __future__ import annotations

import pytest

from babelscope.core.tasks import TASKS
from babelscope.core.words import counted
from babelscope.engine.input_notes import input_notes
from babelscope.tasks.design import Design
from babelscope.tasks.kinds import kind_of
from babelscope.tasks.models import task_model

KNOWN = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def model(encoder):
    return task_model(encoder, Design(task=TASKS["pos"]))


def told(model, *inputs):
    return list(input_notes(model, inputs))


def test_words_that_the_tokenizer_does_not_know_are_told(model):
    (note,) = told(model, KNOWN, ["\u4e00"] * 2)
    assert note.startswith("33% of the words have a part that the tokenizer does not know")
    assert "in the language and the script that the model was made for?" in note
    assert told(model, KNOWN, KNOWN, ["\u2603"]) == [], "one in nine"


def test_texts_and_pairs_are_looked_at_as_well(model):
    assert told(model, "a \u2603 b") and told(model, ("a b c d", "\u2603 \u2603 \u2603")) and not told(model, "a b c")


def test_signs_are_told_of_words_alone(model):
    """Texts that are classified are running text."""
    (note,) = told(model, ["a", "dog", "barks."])
    assert "1 of 3 words have a sign attached, such as 'barks.': separate signs by spaces" in note
    assert told(model, "a dog barks.") == [] == told(model)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("pos", "2 sentences labelled"),
        ("ner", "2 sentences labelled"),
        ("parsing", "2 sentences parsed"),
        ("sentiment", "2 texts labelled"),
        ("similarity", "2 pairs of texts given a number"),
    ],
)
def test_what_was_done_has_the_unit_of_its_kind(task, said):
    kind = kind_of(TASKS[task])
    assert f"{counted(2, kind.unit(TASKS[task]))} {kind.predicted}" == said
    assert counted(1, "pair of texts") == "1 pair of texts"
