"""What a page without a run answers: the best guess, why, and the command with its minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.advise import guess as guess_
from babelscope.advise.facts import Fact
from babelscope.advise.guess import best_guess, minutes_of_run
from babelscope.advise.outputs import Outputs
from babelscope.advise.page import next_section, seen_section
from babelscope.advise.plan import Planned
from babelscope.advise.recipes import BROUGHT_IN, EXTENDED, Recipe
from babelscope.advise.request import Request
from babelscope.measures.formulas.overlap import Coverage
from babelscope.study.verdicts import AS_IT_IS, BILSTM

REQUEST = Request(language="ug", text="ntrex:ug", labelled="UD_Uyghur-UDT", encoders=("mini",))


def fact(unknown: float, fertility: float, letters: str | None = None, **more: object) -> Fact:
    return Fact("mini", letters, Coverage(9, unknown, fertility, 1.0), [], False, False)._replace(**more)


def plan(*recipes: Recipe, seconds: float | None = 60.0) -> list[Planned]:
    return [Planned(recipe, seconds) for recipe in (*recipes, Recipe(BILSTM, AS_IT_IS))]


def test_the_most_promising_recipe_is_named_with_its_reason():
    facts = [fact(0.668, 2.82), fact(0.0, 2.99, "uyghur")]
    untuned, told = best_guess(plan(Recipe("mini", EXTENDED, "uyghur"), Recipe("mini", AS_IT_IS)), facts)
    assert untuned.startswith("Nothing has been tuned yet")
    assert told.startswith("The best guess is mini adapted with new subwords, in Latin letters (table uyghur): of what")
    assert "0.0% of the words have a part that it does not know, and it cuts a word into 3.0 subwords" in told
    assert "Adapted encoders come before others" in told and told.endswith("only a run tells.")
    (_, plain) = best_guess(plan(Recipe("mini", AS_IT_IS)), [fact(0.01, 1.5)])
    assert "Adapted" not in plain and "knows the text best" not in plain


def test_what_is_brought_in_is_named_with_another_reason():
    (_, told) = best_guess(plan(Recipe("mini", BROUGHT_IN)), [fact(0.9, 1.0)])
    assert "mini with the language brought in: it reads the language with a vocabulary of its own" in told


def test_nothing_is_guessed_of_encoders_that_cannot_read_the_text():
    (_, told) = best_guess(plan(Recipe("mini", AS_IT_IS)), [fact(0.9, 1.0)])
    assert told.startswith("No recipe with an encoder is a good guess: none of the encoders can read most words")


@pytest.mark.parametrize(
    ("cores", "curve", "told"),
    [
        (2, True, "about 3 minutes here, and about 8 more for the curves"),
        (1, False, "about 6 minutes here"),
    ],
)
def test_minutes_are_those_by_the_clock(monkeypatch, cores, curve, told):
    monkeypatch.setattr(guess_, "at_once", lambda request: cores)
    monkeypatch.setattr(guess_, "most_for_curves", lambda request, planned: 960.0)
    found = minutes_of_run(plan(*[Recipe("mini", AS_IT_IS)] * 5), REQUEST.model_copy(update={"curve": curve}))
    assert found == told
    assert minutes_of_run(plan(seconds=None), REQUEST) == minutes_of_run([], REQUEST) == ""
    assert minutes_of_run([*plan(), *plan(seconds=None)], REQUEST) == "", "of one recipe they are not known"
    alone = REQUEST.model_copy(update={"curve": False})
    assert minutes_of_run(plan(seconds=1.0), alone) == "about 1 minute here"


def test_the_page_begins_with_it_and_the_command():
    section = next_section(REQUEST, Outputs(Path("x.html")), ["A guess."], "about 3 minutes here")
    assert list(section.findings) == ["A guess."]
    ((purpose, (command,)),) = section.commands.items()
    assert purpose.startswith("This runs the plan (about 3 minutes here) and says which recipe is best")
    assert command.startswith("babelscope advise --run --language ug")


def test_subwords_of_unknown_words_are_said_to_be_too_few():
    """An unknown word counts as one subword."""
    (table,) = seen_section({"Arab": 1.0}, [fact(0.668, 2.82), fact(0.1, 2.99, "uyghur")], [], []).tables
    assert [line[3].text for line in table.lines] == ["2.82 (too low)", "2.99"]
    assert [line[3].number for line in table.lines] == [2.82, 2.99] and "counts as one subword" in table.note
    (known,) = seen_section({"Arab": 1.0}, [fact(0.1, 2.99)], [], []).tables
    (counted,) = seen_section({"Hani": 1.0}, [fact(0.5, 0.8, unit="character")], [], []).tables
    assert "Too low" not in known.note + counted.note, "unknown characters are counted one by one"


@pytest.mark.parametrize(
    ("letters", "said"), [(("ئ",), "reads ئ without its marks"), (("ż", "ċ"), "without their marks")]
)
def test_letters_without_their_marks_agree(letters, said):
    section = seen_section({"Arab": 1.0}, [fact(0.0, 1.0, stripped=letters)], [], [])
    assert said in section.findings[1]
