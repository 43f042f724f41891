"""The first line of a verdict: what is best, or best so far; and what is said of what was dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from babelscope.advise.outcome import Floor, Outcome, Placed
from babelscope.advise.recipes import EXTENDED, Recipe
from babelscope.advise.request import Request
from babelscope.advise.scores import Behind
from babelscope.advise.sentences import better_one, mean_of_seeds, rounds_of_points
from babelscope.advise.undecided import first_line, given_up, rounds_cell, standing_of, unfinished
from babelscope.advise.verdict import verdict_section
from babelscope.core.intervals import Interval
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM

REQUEST = Request(language="mt", text="ntrex:mt", encoders=("world-natural",))
HASTY = REQUEST.model_copy(update={"search": False, "adaptation_steps": 30})
NONE, WORSE = Recipe(BILSTM, AS_IT_IS), Behind(Interval(0.148, 0.13, 0.165, None, 1), 0.001, 1.0)
OPEN = Behind(Interval(0.001, -0.02, 0.022, None, 1), 0.9, 0.4)
ALIKE = Behind(Interval(0.001, -0.01, 0.012, None, 1), 0.9, 0.01)
DROPPED = "after 1 of 3 rounds, 14.0 points behind on dev"


def placed(kind: str, score: float, behind: Behind | None = None, **more: Any) -> Placed:
    about = Interval(score, score - 0.02, score + 0.02, None, 3)
    given = {"recipe": Recipe("world-natural", kind), "rounds": 3, "dev": about, "test": about, "lost": ""} | more
    return Placed(behind=behind, **given)


def best(**more: Any) -> Placed:
    return placed(AS_IT_IS, 0.82, recipe=NONE, **more)


def outcome(*places: Placed) -> Outcome:
    score = Interval(0.2, 0.18, 0.22, None, 3)
    above = Interval(0.6, 0.55, 0.65, None, 3)
    least = Floor("NOUN for every word", score, score, above, above)
    return Outcome(list(places), {}, places[-1], least, "0" * 64, "1" * 64, Path("store"), 0.02)


def line(*places: Placed, request: Request = REQUEST) -> str:
    return first_line(outcome(*places), request)


def test_what_could_still_win_is_in_the_first_line():
    others = [placed(kind, 0.6, rising=0.02, lost=DROPPED, rounds=1) for kind in (AS_IT_IS, ADAPTED, EXTENDED)]
    said = line(best(), *others, request=HASTY)
    assert said.startswith("Best so far: BiLSTM, accuracy 82.0% [80.0, 84.0] on the test set. All 3 recipes with an")
    assert "still getting better when their training ended, so this says nothing against them. To decide, run" in said
    assert "without --no-search" in said and "more --steps than 30" in said
    assert "--no-search" not in line(best(), *others) and "--steps" not in line(best(), *others)
    assert "--steps" not in line(best(), others[0], request=HASTY), "nothing is adapted in it"
    section = verdict_section(outcome(best(), *others), HASTY, None)
    assert section.findings[0] == said


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([placed(AS_IT_IS, 0.6, WORSE)], ""),
        ([placed(AS_IT_IS, 0.81, ALIKE)], ""),
        ([placed(ADAPTED, 0.81, OPEN)], "world-natural adapted is not shown to be worse: more test sentences"),
        ([placed(AS_IT_IS, 0.81, OPEN), placed(ADAPTED, 0.81, OPEN)], "All 2 recipes with an encoder are not shown"),
        ([placed(AS_IT_IS, 0.6, WORSE), placed(ADAPTED, 0.6, WORSE, rising=0.03)], "world-natural adapted was still"),
        (
            [placed(AS_IT_IS, 0.6, WORSE), *[placed(kind, 0.6, rising=0.03) for kind in (ADAPTED, EXTENDED)]],
            "2 of the 3 recipes with an encoder were still getting better",
        ),
    ],
)
def test_the_best_is_so_only_so_far_where_another_could_win(others, said):
    told = line(best(), *others)
    assert said in told and told.startswith("Best so far: BiLSTM" if said else "Best: BiLSTM")


def test_what_has_learned_nothing_could_still_win():
    one = placed(AS_IT_IS, 0.2, WORSE, unlearned=True)
    said = line(best(), one, request=HASTY)
    assert said.startswith("Best so far: BiLSTM, accuracy 82.0% [80.0, 84.0] on the test set. world-natural as it is ")
    assert "was hardly better than a constant answer when its training ended, so this says nothing against it." in said
    both = line(best(), one, placed(ADAPTED, 0.6, WORSE, rising=0.03), request=HASTY)
    assert "were hardly better than a constant answer or still getting better when their training ended" in both
    assert standing_of(one, 0.02) == "undecided: hardly better than a constant answer"


def test_the_bilstm_counts_among_the_others():
    first = placed(AS_IT_IS, 0.9)
    recurrent = placed(AS_IT_IS, 0.8, recipe=NONE, rising=0.02)
    assert "2 of the 3 other recipes were" in line(
        first, recurrent, placed(ADAPTED, 0.7, rising=0.02), placed("x", 0.5)
    )
    assert "BiLSTM was still getting better when its training ended" in line(first, recurrent)


def test_the_best_itself_may_still_get_better():
    """It is the best all the same; what would tell how good it gets stands beside that."""
    rising = best(rising=0.034)
    assert line(rising, placed(AS_IT_IS, 0.6, WORSE)).startswith("Best: ")
    (said,) = unfinished(outcome(rising, placed(AS_IT_IS, 0.6, WORSE)), HASTY)
    assert said.startswith("BiLSTM was still getting better when its training ended (+3.4 points on the dev sentences)")
    assert "without --no-search" in said


def test_gains_are_told_encoder_by_encoder():
    rising = [placed(AS_IT_IS, 0.6, rising=0.02), placed(ADAPTED, 0.5, rising=0.128)]
    (said,) = unfinished(outcome(best(), *rising), HASTY)
    assert said == (
        "world-natural was still getting better when training ended: as it is (+2.0 points on the dev "
        "sentences); adapted (+12.8)."
    )


def test_what_was_dropped_is_counted():
    early = [placed(kind, 0.6, lost=DROPPED, rounds=1) for kind in (AS_IT_IS, ADAPTED)]
    late = placed(EXTENDED, 0.6, lost="after 2 of 3 rounds, 9.0 points behind on dev", rounds=2)
    failed = placed("x", 0.5, lost="since it failed (no luck)", rounds=0)
    assert given_up(outcome(best(), *early)) == [
        "2 recipes were dropped after round 1, behind on the dev sentences; the table has their scores."
    ]
    dropped, lost = given_up(outcome(best(), *early, late, failed))
    assert dropped.startswith("3 recipes were dropped, 2 after round 1 and 1 after round 2, behind")
    assert lost == "Dropped: world-natural x, since it failed (no luck)."
    assert given_up(outcome(best())) == []
    assert [standing_of(each, 0.02) for each in (early[0], early[0]._replace(rising=0.02), failed)] == [
        "", "undecided: still getting better", "failed",
    ]  # fmt: skip
    assert [rounds_cell(each).text for each in (best(), early[0], late, failed)] == [
        "3", "1 (dropped)", "2 (dropped)", "0",
    ]  # fmt: skip
    assert rounds_cell(late).number == 2


def test_a_difference_of_fewer_rounds_says_so_beside_the_number():
    """81.2% and 66.4% are those of the round that both ran, and differ by what is told."""
    told = better_one(outcome(best(), placed(AS_IT_IS, 0.664, WORSE, rounds=1)))
    assert "14.8 points [13.0, 16.5] on the test set, in round 1, the only one that world-natural as it is ran" in told
    assert "(81.2% against 66.4% there; 82.0% is the mean over 3 rounds)" in told
    assert " there" not in better_one(outcome(best(), placed(AS_IT_IS, 0.664, WORSE)))


def test_a_figure_says_of_each_recipe_over_how_many_rounds_it_is():
    few = placed(AS_IT_IS, 0.664, WORSE, rounds=1)
    assert rounds_of_points([best(), few._replace(rounds=3)]) == "means over 3 rounds with 95% intervals"
    assert rounds_of_points([best(), few]) == (
        "means over 3 rounds with 95% intervals (world-natural as it is: one round, over sentences alone)"
    )
    (figure,) = verdict_section(outcome(best(), few), REQUEST, None).figures
    assert "world-natural as it is: one round" in figure.caption


def test_a_command_that_exports_one_seed_says_whose_the_score_is():
    assert "mean of 3 seeds" in mean_of_seeds(best()) and mean_of_seeds(best(rounds=1)) == ""
    commands = verdict_section(outcome(best(), placed(AS_IT_IS, 0.6, WORSE)), REQUEST, None).commands
    assert sum("(one seed's, the best on the dev sentences" in purpose for purpose in commands) == 2
