"""How the recipes of a race stand to the best of them, which was picked from among them."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from babelscope.advise.floor import Constant
from babelscope.advise.outcome import outcome_of
from babelscope.advise.race import Race
from babelscope.advise.recipes import Recipe
from babelscope.advise.request import Request
from babelscope.advise.scores import behind_first, gain_of
from babelscope.advise.sentences import beside_best, few_rounds, standing
from babelscope.core.samples import Samples
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM
from babelscope.tuning.settings import Tuning
from slowly import judged as slowly_judged

ENCODERS = ("world-natural", "world-pairs")


def score(mean, rounds=4, sentences=40, spread=0.05, number=0):
    """Of a recipe, with exactly this mean; others of the same number vary as it does."""
    table = np.random.default_rng(number).normal(0, spread, (rounds, sentences))
    return Samples(tuple(range(rounds)), mean + table - table.mean())


def slow_holm(p_values):
    """Stepping down (Holm 1979): each times the number of those that are no smaller, and no less than one before."""
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, k in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[k] * (len(p_values) - rank)))
        adjusted[k] = largest
    return adjusted


@settings(max_examples=40)
@given(st.integers(2, 4), st.sampled_from([1, 2, 3, 5]), st.integers(0, 2**32))
def test_the_best_is_held_against_every_pair_that_it_could_have_been_of(recipes, rounds, number):
    draw = np.random.default_rng(number)
    scores = [Samples(tuple(range(rounds)), draw.normal(0.01 * k, 0.1, (rounds, 12))) for k in range(recipes)]
    tables = [first.table - second.table for first, second in combinations(scores, 2)]
    tables = [table.mean(axis=0) if rounds < 3 else table for table in tables]  # the models that there are, as one
    expected = slow_holm([slowly_judged(table).p for table in tables])
    found = behind_first(scores, 0.02)
    assert [behind.p for behind in found] == pytest.approx(expected[: recipes - 1])
    assert [behind.interval.mean for behind in found] == pytest.approx(
        [table.mean() for table in tables][: recipes - 1]
    )
    if rounds < 3:
        ends = ((-0.02, "greater"), (0.02, "less"))
        sides = [max(stats.ttest_1samp(table, end, alternative=way).pvalue for end, way in ends) for table in tables]
        assert [behind.p_equal for behind in found] == pytest.approx(slow_holm(sides)[: recipes - 1])


def test_the_more_recipes_there_are_the_less_shows():
    """The difference of two recipes that shows between these two does not where six others could have been picked."""
    two = [score(0.02, number=1), score(0.0, number=2)]
    (alone,) = behind_first(two, 0.02)
    among = behind_first([*two, *(score(0.0, number=k) for k in range(3, 9))], 0.02)
    assert (alone.sign, among[0].sign) == (1, 0) and alone.interval == among[0].interval
    (turned,) = behind_first(two[::-1], 0.02)
    assert turned.sign == -1
    alike = [score(0.0, number=1), score(0.0, number=2)]
    others = [score(0.5 * k, number=k) for k in range(3, 9)]  # far apart, so that no other pair is as good
    (alone,), among = behind_first(alike, 0.02), behind_first([*alike, *others], 0.02)
    assert (alone.equal, among[0].equal) == (True, False)


def test_as_good_needs_a_margin_that_the_difference_is_within():
    close, open_ = [score(0.001 * k, number=k) for k in (1, 2)], [score(0, spread=2.0, number=k) for k in (1, 2)]
    assert [behind.equal for margin in (0.05, 0.001) for behind in behind_first(close, margin)] == [True, False]
    (behind,) = behind_first(open_, 0.05)
    assert (behind.sign, behind.equal) == (0, False)
    assert standing(behind, 0.05) == "not shown to be worse"


def test_rounds_that_one_recipe_has_not_run_are_left_out():
    long, short = score(0.9, rounds=4, number=1), score(0.7, rounds=1, number=2)
    (behind,) = behind_first([long, short], 0.02)
    first_round = Samples((0,), long.table[:1])
    assert behind.interval == gain_of(first_round, short).interval and behind.sign == 1
    with pytest.raises(ValueError, match="no round that both ran"):
        gain_of(long, Samples((9,), short.table))


def test_what_does_not_vary_is_not_said_to_be_anything():
    same = score(0.5)
    (behind,) = behind_first([same, same], 0.02)
    assert (behind.p, behind.p_equal, behind.sign, behind.equal) == (1, 1, 0, False)


# --- in a race


class Given:
    """Scores that are given, by recipe and split, in place of those of a store."""

    def __init__(self, scores):
        self.scores = scores

    def of(self, evaluations):
        first = evaluations[0]
        return self.scores[first.recipe, first.split]

    def mean(self, evaluations):
        return self.of(evaluations).mean


def raced(store, dev, test, rounds=4):
    """A race of which all rounds are run, with these scores by recipe."""
    request = Request(language="nl", text="ntrex:nl", encoders=ENCODERS, seeds=rounds)
    race = Race(request, list(dev), store, lambda plan: nullcontext(lambda event: None))
    by_split = {"dev": dev, "test": test}
    race.scores = Given({(recipe, split): of[recipe] for split, of in by_split.items() for recipe in of})
    for runner in race.runners:
        for split, evaluations in (("dev", runner.dev), ("test", runner.test)):
            evaluations += [
                SimpleNamespace(recipe=runner.recipe, split=split, key=str(n), model=MODELS[n]) for n in range(rounds)
            ]
        runner.tested = True
    return race


MODELS = [SimpleNamespace(tuning=Tuning(epochs=12), seed=number) for number in range(9)]
"""Of the rounds; dev and test sentences have the same."""
RECIPES = [Recipe(encoder, kind) for encoder in ENCODERS for kind in (AS_IT_IS, ADAPTED)]
RECURRENT = Recipe(BILSTM, AS_IT_IS)


def scores_of(means, rounds=4, sentences=40):
    """Of each recipe, all that are told apart by chance alone and by these means; the first is ahead."""
    recipes = [*RECIPES, RECURRENT]
    return {
        recipe: score(mean, rounds, sentences, number=k + 1)
        for k, (recipe, mean) in enumerate(zip(recipes, means, strict=True))
    }


@pytest.fixture
def decided(store):
    """What an outcome makes of the means of the five recipes, the same on dev and test sentences."""
    constant = Constant("X", *[score(0.2, sentences=40)] * 2)

    def decide(*means, rounds=4):
        scores = scores_of(means, rounds)
        return outcome_of(raced(store, scores, scores, rounds), constant)

    return decide


def test_the_page_of_a_race_corrects_for_its_recipes(decided):
    """The best is 1.4 points ahead of others, which of two recipes would show, and 30 points ahead of the last."""
    outcome = decided(0.914, 0.9, 0.9, 0.9, 0.6)
    assert [behind.interval.sign for behind in map(lambda placed: placed.behind, outcome.placed[1:])].count(1) >= 2
    assert [standing(placed.behind, outcome.margin) for placed in outcome.placed[1:]] == [
        *["not shown to be worse"] * 3, "worse",
    ]  # fmt: skip
    (said,) = beside_best(outcome)
    assert said.startswith("Not shown to be worse: ") and said.count("behind by") == 3 and BILSTM not in said
    assert few_rounds(outcome) == ""


def test_as_good_is_said_of_what_shows_to_be_within_the_margin(decided):
    as_good, open_ = beside_best(decided(0.9002, 0.9, 0.9, 0.9, 0.6))
    assert as_good.startswith("As good, within 2 points: ") and as_good.count("behind by") == 2
    assert open_.startswith("Not shown to be worse: ") and open_.count("behind by") == 1


def test_what_does_better_on_the_test_set_alone_is_ahead(store):
    dev, test = scores_of((0.9, 0.88, 0.8, 0.8, 0.6), 4), scores_of((0.9, 0.91, 0.8, 0.8, 0.6), 4)
    outcome = outcome_of(raced(store, dev, test, 4), Constant("X", *[score(0.2, sentences=40)] * 2))
    (said,) = [line for line in beside_best(outcome) if "ahead by" in line]
    second = next(placed for placed in outcome.placed if placed.behind and placed.behind.interval.mean < 0)
    assert f"{second.recipe.name} (ahead by {100 * -second.behind.interval.mean:.1f} points [" in said


@pytest.mark.parametrize(
    ("difference", "p", "p_equal", "said"),
    [
        (0.03, 0.01, 0.9, "worse"),
        (0.01, 0.01, 0.01, "worse, by less than 1 point"),
        (0.001, 0.4, 0.01, "as good, within 1 point"),
        (0.01, 0.4, 0.4, "not shown to be worse"),
        (-0.03, 0.01, 0.9, "better on the test set, though not on the dev set"),
    ],
)
def test_words_for_what_shows(difference, p, p_equal, said):
    (behind,) = behind_first([score(0.5, number=1), score(0.5, number=2)], 0.01)
    interval = type(behind.interval)(difference, None, None, None, 3)
    assert standing(behind._replace(interval=interval, p=p, p_equal=p_equal), 0.01) == said


@pytest.mark.parametrize(("rounds", "said"), [(1, "After 1 round all"), (2, "After 2 rounds all"), (3, "")])
def test_few_rounds_are_not_about_the_recipes(decided, rounds, said):
    found = few_rounds(decided(0.9, 0.9, 0.9, 0.9, 0.6, rounds=rounds))
    assert found.startswith(said) and ("not enough seeds to say" in found) == bool(said)


def test_verdicts_on_encoders_are_one_family(decided):
    """Of four gains over the BiLSTM one alone would show at 5%; of all four together it does not."""
    one = decided(0.94, 0.9, 0.9, 0.9, 0.9).verdicts["world-natural"]
    assert one.startswith("undecided")
    assert decided(1.1, 0.9, 0.9, 0.9, 0.9).verdicts["world-natural"].startswith("Easy")


def test_a_recipe_is_given_up_by_what_shows_among_all_of_them(store):
    """At 1%, corrected for the pairs of those that are in the race; the BiLSTM stays however far behind it is."""
    few = {RECIPES[0]: score(0.922, number=1), RECIPES[1]: score(0.9, number=2)}
    race = raced(store, few, few)
    race._give_up(4)
    assert race.runners[1].lost == "after 4 of 4 rounds, 2.2 points behind on dev"
    more = few | {recipe: score(0.9, number=k) for k, recipe in enumerate(RECIPES[2:], 3)} | {RECURRENT: score(0.2)}
    race = raced(store, more, more)
    race._give_up(4)
    assert [runner.lost for runner in race.runners] == [""] * 5
