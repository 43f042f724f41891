"""How long and how fast recipes are trained, decided by made-up scores; and what is said of it."""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from babelscope.advise.floor import Constant, clear_gain
from babelscope.advise.outcome import Outcome, Placed
from babelscope.advise.outputs import Outputs
from babelscope.advise.race import Race
from babelscope.advise.recipes import ZERO_SHOT, Recipe
from babelscope.advise.record import ConstantScores, Record, _runner, read_record, record_of
from babelscope.advise.request import Request, command_line
from babelscope.advise.scores import Behind, Scores
from babelscope.advise.search import USUAL, Runner, Training, choose_rates, train_longer
from babelscope.advise.steps import tuning_of
from babelscope.advise.undecided import standing_of, unfinished
from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.core.samples import Samples
from babelscope.corpora.conllu import write_conllu
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM
from babelscope.tuning.settings import Tuning
from babelscope.world import World

FIRST, SECOND = Recipe("world-natural", AS_IT_IS), Recipe("world-natural", ADAPTED)


class Made:
    """Trials with a score, and a rise, by recipe and training; others fail."""

    def __init__(self, scores, rises, constant=0.0):
        self.scores, self.rises, self.constant, self.computed = scores, rises, constant, []

    def evaluations(self, recipe, seed, training):
        assert seed == 0
        return tuple(SimpleNamespace(key=f"{recipe.kind} {training} {split}", of=(recipe, training)) for split in "dt")

    def compute(self, evaluations):
        self.computed += [each.of for each in evaluations]
        return {each.key: "no luck" for each in evaluations if each.of not in self.scores}

    def mean(self, evaluations):
        return self.scores[evaluations[0].of]

    def rise(self, evaluations):
        return self.rises.get(evaluations[0].of, 0.0)

    def unlearned(self, evaluations):
        return self.mean(evaluations) < self.constant + clear_gain(self.constant, 0.01)


def runner(made, recipe):
    dev, test = made.evaluations(recipe, 0, USUAL)
    return Runner(recipe, [dev], [test])


def test_what_still_gets_better_is_trained_longer_while_that_helps():
    """The first up to the longest; the second is done at once; a recipe that longer training does not help, once.

    Nothing is open of that last one: the longer training that would tell was tried, and was no better.
    """
    twice, four = Training(longer=2), Training(longer=4)
    third = Recipe(BILSTM, AS_IT_IS)
    scores = {(FIRST, USUAL): 0.5, (FIRST, twice): 0.6, (FIRST, four): 0.7, (SECOND, USUAL): 0.5, (third, USUAL): 0.8,
              (third, twice): 0.79}  # fmt: skip
    made = Made(scores, {(FIRST, USUAL): 0.05, (FIRST, twice): 0.04, (FIRST, four): 0.03, (third, USUAL): 0.02})
    runners = [runner(made, recipe) for recipe in (FIRST, SECOND, third)]
    train_longer(made, runners)
    assert [each.training for each in runners] == [four, USUAL, USUAL]
    assert made.computed == [(FIRST, twice), (third, twice), (FIRST, four)]
    assert [each.rising for each in runners] == pytest.approx([0.1, 0.0, 0.0])
    assert [each.is_unfinished for each in runners] == [True, False, False]
    assert runners[0].dev[0].of == runners[0].test[0].of == (FIRST, four)


def test_what_has_learned_nothing_is_trained_as_long_as_it_goes():
    """Its score need not rise before it begins to learn. Where it never does, that is decided.

    What it gains when it begins to learn says nothing of what a longer training would bring.
    """
    twice, four = Training(longer=2), Training(longer=4)
    scores = {(FIRST, USUAL): 0.2, (FIRST, twice): 0.2, (FIRST, four): 0.6}
    scores |= {(SECOND, length): 0.2 for length in (USUAL, twice, four)}
    made = Made(scores, {(FIRST, four): 0.003, (SECOND, USUAL): 0.03}, constant=0.2)
    first, second = runners = [runner(made, recipe) for recipe in (FIRST, SECOND)]
    train_longer(made, runners)
    assert made.computed == [(FIRST, twice), (SECOND, twice), (FIRST, four), (SECOND, four)]
    assert (first.training, second.training) == (four, USUAL)
    assert [(each.rising, each.is_unfinished) for each in runners] == [(0.003, False), (0.0, False)]


def test_a_better_rate_does_not_unsay_what_longer_trainings_brought():
    twice, four, fast = Training(longer=2), Training(longer=4), Training(2.0, 4)
    scores = {(FIRST, USUAL): 0.5, (FIRST, twice): 0.6, (FIRST, four): 0.7, (FIRST, fast): 0.701}
    made = Made(scores, {(FIRST, USUAL): 0.05})
    (first,) = runners = [runner(made, FIRST)]
    train_longer(made, runners)
    choose_rates(made, runners)
    train_longer(made, runners)
    assert first.training == fast and first.rising == pytest.approx(0.1) and first.is_unfinished


@pytest.mark.parametrize(
    ("score", "constant", "unlearned"),
    [(0.205, 0.2, True), (0.211, 0.2, False), (0.0, 0.0, True), (1.0, 0.995, False), (0.997, 0.995, True)],
)
def test_what_has_learned_nothing_is_undecided_without_a_search(store, monkeypatch, score, constant, unlearned):
    request = Request(language="nl", text="ntrex:nl", encoders=("world-natural",), seeds=1, search=False)
    race = Race(request, [FIRST], store, lambda plan: nullcontext(lambda event: None))
    race.scores = SimpleNamespace(mean=lambda evaluations: score, rise=lambda models: 0.0)
    race.constant = SimpleNamespace(dev=SimpleNamespace(mean=constant))
    made = SimpleNamespace(key="k", model=None)
    monkeypatch.setattr(race, "evaluations", lambda *given: (made, made))
    monkeypatch.setattr(race, "compute", lambda evaluations: {})
    monkeypatch.setattr(race, "_give_up", lambda rounds: None)
    race.run()
    assert race.runners[0].unlearned == race.runners[0].is_unfinished == unlearned


def test_a_longer_training_that_fails_settles_nothing():
    """Neither of what still got better, nor of what has learned nothing; nor is it tried again."""
    made = Made({(FIRST, USUAL): 0.5, (SECOND, USUAL): 0.1}, {(FIRST, USUAL): 0.05}, constant=0.1)
    runners = [runner(made, recipe) for recipe in (FIRST, SECOND)]
    train_longer(made, runners)
    train_longer(made, runners)
    assert all(each.is_unfinished for each in runners) and len(made.computed) == 2


def test_another_rate_opens_anew_what_was_settled():
    """It is another training, whose longer one was not tried."""
    fast, twice = Training(2.0), Training(longer=2)
    scores = {(FIRST, USUAL): 0.5, (FIRST, twice): 0.4, (FIRST, fast): 0.6}
    made = Made(scores, {(FIRST, USUAL): 0.05, (FIRST, fast): 0.05})
    (first,) = runners = [runner(made, FIRST)]
    train_longer(made, runners)
    assert not first.is_unfinished
    choose_rates(made, runners)
    train_longer(made, runners)
    assert (first.training, first.is_unfinished) == (fast, True)


def test_a_better_rate_is_trained_longer_where_it_still_gets_better():
    """Also where twice as long was no more than a little better at the usual rate."""
    twice, fast, longest = Training(longer=2), Training(2.0, 2), Training(2.0, 4)
    scores = {(FIRST, USUAL): 0.5, (FIRST, twice): 0.505, (FIRST, fast): 0.6, (FIRST, longest): 0.605}
    made = Made(scores, {(FIRST, USUAL): 0.05, (FIRST, fast): 0.05})
    (first,) = runners = [runner(made, FIRST)]
    train_longer(made, runners)
    choose_rates(made, runners)
    train_longer(made, runners)
    assert first.training == longest and first.rising == pytest.approx(0.005) and not first.is_unfinished


def test_the_best_of_three_rates_is_kept_and_one_that_fails_is_not():
    slow, fast = Training(0.5, 2), Training(2.0, 2)
    scores = {(FIRST, USUAL): 0.5, (FIRST, Training(0.5)): 0.6, (FIRST, Training(2.0)): 0.55, (SECOND, USUAL): 0.5}
    made = Made(scores, {})
    runners = [runner(made, recipe) for recipe in (FIRST, SECOND)]
    choose_rates(made, runners)
    assert [each.training for each in runners] == [Training(0.5), USUAL]
    assert len(made.computed) == 4
    assert (slow.name, fast.name, USUAL.name) == (
        "twice as long, half the rate",
        "twice as long, twice the rate",
        "as usual",
    )


def test_a_training_changes_rate_and_epochs_alone():
    usual = Tuning(learning_rate=1e-3, epochs=6, dropout=0.3)
    assert Training(0.5, 4).of(usual) == Tuning(learning_rate=5e-4, epochs=24, dropout=0.3)
    assert USUAL.of(usual) == usual


def test_how_much_better_a_model_was_at_the_end_is_read_from_its_curve():
    curves = {"a": [0.1, 0.5, 0.6], "b": [0.4, 0.4], "c": [0.9], "d": [0.1, 0.3, 0.3, 0.2, 0.45, 0.4]}
    rows = {
        key: [Row(split="dev", step=10 * step, measure="accuracy", value=value) for step, value in enumerate(values)]
        + [Row(split="dev", step=99, measure="loss", value=7), Row(split="train", step=99, measure="accuracy", value=9)]
        for key, values in curves.items()
    }
    scores = Scores(SimpleNamespace(rows=rows.__getitem__), "accuracy")
    models = {key: SimpleNamespace(key=key) for key in curves}
    assert scores.rise([models["a"], models["b"]]) == pytest.approx(0.05)
    assert scores.rise([models["c"]]) is None
    assert scores.rise([models["d"]]) == pytest.approx(0.15), "the best of the last third, and the best before"


def test_a_round_is_told_and_what_is_not_done_is_named(store):
    said = []
    request = Request(language="nl", text="ntrex:nl", encoders=("world-natural",), seeds=3)
    race = Race(request, [FIRST, SECOND], store, lambda plan: nullcontext(lambda event: None), said.append)
    race.scores = SimpleNamespace(mean=lambda evaluations: 0.75)
    race.runners[1].lost = "after 1 of 3 rounds, 9.0 points behind on dev"
    race._tell(1)
    assert said == [
        "round 1 of 3: ahead on the dev sentences is world-natural as it is, 75.0% (trained as usual); "
        "1 of 2 recipes are in the race"
    ]
    placed = [
        Placed(FIRST, 3, None, None, None, "", USUAL, 6, 0.034),
        Placed(SECOND, 3, None, None, None, "", USUAL, 6, None),
    ]
    outcome = Outcome(placed, {}, placed[0], None, "", "", None, 0.02)
    (sentence,) = unfinished(outcome, request)
    assert sentence.startswith("world-natural as it is was still getting better when its training ended (+3.4 points")
    (hasty,) = unfinished(outcome, request.model_copy(update={"search": False}))
    assert "without --no-search" in hasty and "--no-search" not in sentence
    assert unfinished(outcome._replace(placed=placed[1:]), request) == []


def test_what_still_got_better_is_no_worse_than_the_best():
    """Nothing is decided of it, though the difference of the models shows."""
    score, behind = Interval(0.7, 0.6, 0.8, None, 1), Behind(Interval(0.1, 0.05, 0.15, None, 1), 0.001, 1.0)
    done = Placed(SECOND, 3, score, score, behind, "")
    rising = done._replace(rising=0.034)
    assert standing_of(done, 0.02) == "worse" and standing_of(rising, 0.02) == "undecided: still getting better"
    assert standing_of(done._replace(behind=None), 0.02) == ""


def test_a_search_can_be_left_out():
    request = Request(language="nl", text="ntrex:nl", encoders=("world-natural",), search=False)
    assert "--no-search" in command_line(request, Outputs(), run=True).split()
    assert "search" not in command_line(request.model_copy(update={"search": True}), Outputs(), run=True)


def test_few_sentences_are_read_as_often_as_it_takes(tmp_path):
    """As many sentences altogether as of a large file; what is read zero-shot counts by the source's."""
    for name, number in (("few", 50), ("many", 2500)):
        write_conllu(tmp_path / f"{name}.conllu", World().treebank("qab", "train", number))
    few, many = (
        Request(language="qab", text="ntrex:nl", labelled=str(tmp_path / f"{name}.conllu"), encoders=("world-natural",))
        for name in ("few", "many")
    )
    assert tuning_of(few, FIRST).epochs == tuning_of(few, Recipe(BILSTM, AS_IT_IS)).epochs == 8000 // 40
    assert (tuning_of(many, FIRST).epochs, tuning_of(many, Recipe(BILSTM, AS_IT_IS)).epochs) == (6, 20)
    zero_shot = few.model_copy(update={"source_labelled": f"treebank:qaa:{tmp_path / 'many.conllu'}"})
    assert tuning_of(zero_shot, Recipe("world-natural", ZERO_SHOT)).epochs == 6


def test_a_record_from_before_there_was_a_search_says_that_there_was_none(tmp_path):
    request = Request(language="nl", text="ntrex:nl", encoders=("world-natural",))
    record = Record(request=request, recipes=(), constant=ConstantScores(name="X", dev=(), test=()), curves=())
    record.write(tmp_path / "advice.json")
    assert read_record(tmp_path / "advice.json") == record
    old = json.loads((tmp_path / "advice.json").read_text())
    del old["request"]["search"]
    (tmp_path / "advice.json").write_text(json.dumps(old))
    assert read_record(tmp_path / "advice.json").request == request.model_copy(update={"search": False})


@pytest.mark.parametrize(
    "state", [{"rise": 0.0, "gain": 0.1, "tried": 4}, {"rise": 0.1, "unlearned": True, "tried": 4}, {"unlearned": True}]
)
def test_a_record_keeps_what_is_undecided(tmp_path, store, state):
    request = Request(language="nl", text="ntrex:nl", encoders=("world-natural",))
    race = Race(request, [FIRST], store, lambda plan: nullcontext(lambda event: None))
    race.runners = [Runner(FIRST, **state)]
    record_of(race, Constant("X", Samples((), np.zeros((1, 1))), Samples((), np.zeros((1, 1)))), []).write(
        tmp_path / "advice.json"
    )
    (raced,) = read_record(tmp_path / "advice.json").recipes
    again, first = _runner(raced, {}), race.runners[0]
    assert (again.rising, again.is_unlearned, again.is_unfinished) == (
        first.rising, first.is_unlearned, first.is_unfinished,
    )  # fmt: skip


def test_the_epochs_of_a_recipe_are_on_the_page():
    placed = Placed(FIRST, 3, None, None, None, "", Training(2.0, 2), 12)
    assert placed.trained == "12 epochs, twice as long, twice the rate"
    assert placed._replace(epochs=1, training=USUAL).trained == "1 epoch, as usual"
    assert placed._replace(epochs=None, training=USUAL).trained == "as usual", "it has failed at once"
