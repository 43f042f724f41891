"""Advice on a language: what is seen beforehand, the plan, the race, the verdict and the model."""

from __future__ import annotations

import copy
import re
import shutil
from contextlib import nullcontext
from itertools import pairwise

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from babelscope.advise import command, costs
from babelscope.advise import race as race_
from babelscope.advise.data import read_split
from babelscope.advise.floor import constant_answer
from babelscope.advise.outcome import outcome_of
from babelscope.advise.outputs import Outputs
from babelscope.advise.race import Race
from babelscope.advise.recipes import EXTENDED, Recipe, letters_for, recipes
from babelscope.advise.scores import Behind
from babelscope.advise.search import Runner
from babelscope.core.errors import InputError
from babelscope.core.intervals import Interval
from babelscope.corpora.conllu import write_conllu
from babelscope.encoders.load import save_encoder
from babelscope.encoders.places import display_name
from babelscope.measures.formulas.overlap import Coverage, shared_mass
from babelscope.study.compile import compile_study
from babelscope.study.declare import Sizes, Study, Transfer
from babelscope.study.encoders import Adaptation
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM
from babelscope.tasks.export import load_model
from babelscope.tuning.settings import Tuning
from babelscope.world import World
from command_line import babelscope
from language_files import tagger_of_the_card

pytestmark = pytest.mark.usefixtures("in_process", "short")

counts = st.dictionaries(st.integers(0, 9), st.integers(1, 50))


@given(counts, counts)
def test_shared_mass_is_one_minus_the_total_variation(first, second):
    found = shared_mass(first, second)
    if not first or not second:
        assert found == 0
        return
    shares = [{piece: n / sum(one.values()) for piece, n in one.items()} for one in (first, second)]
    variation = sum(abs(shares[0].get(piece, 0) - shares[1].get(piece, 0)) for piece in range(10)) / 2
    assert found == pytest.approx(1 - variation)
    assert found == pytest.approx(shared_mass(second, first))


def test_letters_to_try():
    assert letters_for("ug", "Arab") == ("uyghur",)
    assert letters_for("ug-Arab", "Arab") == letters_for("uig", "Arab") == ("uyghur",)
    assert letters_for("ckb-IQ", "Arab") == ("sorani",)
    assert letters_for("ug", "Latn") == () and letters_for("ug", "Cyrl") == ("cyrillic",)
    assert letters_for("ar", "Arab") == ("buckwalter",)
    assert letters_for("mt", "Latn") == letters_for("xx", None) == ()
    assert letters_for("qah", "Grek") == ("world",)
    assert letters_for("qag", "Latn") == ()


def covered(request, fertility=1.5):
    return {
        (request.encoders[0], one): Coverage(9, 0.0, fertility if one is None else 1.0, 1.0) for one in (None, "world")
    }


def test_recipes_are_of_every_encoder_in_its_own_and_in_latin_letters(request_):
    tried = recipes(covered(request_))
    assert [(one.kind, one.letters) for one in tried[:-1]] == [
        (AS_IT_IS, None), (ADAPTED, None), (AS_IT_IS, "world"), (ADAPTED, "world"),
    ]  # fmt: skip
    assert tried[-1].encoder == BILSTM
    assert [one.may_be_exported(tags=True) for one in tried] == [True, True, False, False, False]


def test_what_reads_from_left_to_right_is_not_adapted(request_):
    assert {one.kind for one in recipes(covered(request_, 3.0), decoders=request_.encoders)} == {AS_IT_IS}


def quiet(plan):
    return nullcontext(lambda event: None)


def test_a_vocabulary_that_covers_the_text_badly_is_extended(request_, store):
    (extended,) = [one for one in recipes(covered(request_, 3.0)) if one.kind == EXTENDED]
    assert (extended.letters, extended.may_be_exported(tags=True)) == (None, True)
    assert extended.name.endswith(" adapted with new subwords")
    tuned = Race(request_, [extended], store, quiet).evaluation(extended, 0).model
    assert tuned.encoder.new_pieces == request_.new_pieces


@pytest.mark.parametrize(
    ("task", "declared"), [("pos", {}), ("parsing", {}), ("deprel", {"task": "tagging", "label": "deprel"})]
)
def test_a_recipe_is_computed_as_a_study_would(request_, store, task, declared):
    """The steps have the keys of a study that declares the same, so that either finds what the other has computed.

    Not those of entities: a study refuses types that it does not train on, which here are not found.
    """
    request = request_.model_copy(update={"task": task})
    tried = [*recipes(covered(request, 3.0))]
    (encoder,), text, labelled = request.encoders, request.text_name, request.labelled_name
    tuning = Tuning(learning_rate=1e-3, epochs=6)
    learning = tuning.model_copy(update={"epochs": None, "steps": 2})
    made, steps = [], {}
    for recipe in tried:
        letters = f">{recipe.letters}" if recipe.letters else ""
        if recipe.kind != AS_IT_IS:
            new = request.new_pieces if recipe.kind == EXTENDED else None
            made.append(
                Adaptation(
                    name=recipe.row_name, encoder=encoder, texts=(text + letters,), tuning=learning, new_pieces=new
                )
            )
        recurrent = recipe.encoder == BILSTM
        transfer = Transfer(
            train=(labelled + letters,), evaluate=(labelled + letters,), tuning=tuning,
            sizes=Sizes(train=10**6, dev=10**6, test=10**6), baselines=("bilstm",) if recurrent else (),
            encoders=(display_name(encoder) if recurrent else recipe.row_name,), **declared,
        )  # fmt: skip
        steps |= compile_study(Study(name="s", encoders=(encoder, *made), tasks={task: transfer}, seeds=(7,))).steps
    race = Race(request, tried, store, quiet)
    assert len(tried) > 4
    assert all(race.evaluation(recipe, 7).key in steps for recipe in tried)


def test_what_is_seen_beforehand(request_):
    sections, planned, _ = command.look(request_)
    tried = [step.recipe for step in planned]
    assert re.fullmatch(r"Letters of the text: Greek 9\d%, Latin \d%.", sections[0].findings[0])
    (table,) = sections[0].tables
    own, latin = ([cell.text for cell in line] for line in table.lines)
    assert (own[1], latin[1]) == ("its own", "Latin (table world)")
    assert latin[-1].startswith("qaa (source) ")
    assert {(one.kind, one.letters) for one in tried} >= {(AS_IT_IS, None), (ADAPTED, "world"), (AS_IT_IS, "world")}
    assert all(line[1].number > 0 for line in sections[1].tables[0].lines)


def test_a_race_gives_up_what_is_clearly_behind(request_, store, monkeypatch):
    tried = [Recipe(request_.encoders[0], AS_IT_IS), Recipe(request_.encoders[0], ADAPTED), Recipe(BILSTM, AS_IT_IS)]
    race = Race(request_, tried, store, quiet)
    monkeypatch.setattr(race, "leader", lambda: race.runners[-1])
    behind = [Behind(Interval(0.2, 0.1, 0.3, 0.1, 9), p, 1.0) for p in (0.02, 0.001)]  # in the order of the recipes
    monkeypatch.setattr(race_, "behind_first", lambda scores, margin: behind[: len(scores) - 1])
    monkeypatch.setattr(race.scores, "rise", lambda models: 0.01 * len(models))
    race.run()
    kept, lost, recurrent = race.runners
    assert (len(kept.dev), len(lost.dev), len(recurrent.dev)) == (2, 1, 2)
    assert [one.rising for one in race.runners] == [0.02, 0.01, 0.02]  # of what was dropped, too
    assert (kept.lost, recurrent.lost) == ("", "")
    assert lost.lost == "after 1 of 2 rounds, 20.0 points behind on dev"
    assert (kept.tested, lost.tested, recurrent.tested) == (True, False, True)
    assert all(store.has(one.key) for one in (*kept.test, *recurrent.test))
    assert not store.has(lost.test[0].key)
    rows = [row for one in kept.test for row in store.rows(one.key) if row.measure == "accuracy"]
    assert race.scores.mean(kept.test) == sum(row.value for row in rows) / 2
    assert race.scores.mean(kept.test) == pytest.approx(race.scores.of(kept.test).mean)


def test_a_recipe_that_fails_is_given_up_and_the_others_go_on(request_, store, monkeypatch):
    tried = [Recipe(request_.encoders[0], AS_IT_IS), Recipe(request_.encoders[0], ADAPTED), Recipe(BILSTM, AS_IT_IS)]
    race = Race(request_.model_copy(update={"seeds": 1}), tried, store, quiet)
    compute = race.compute

    def failing(evaluations):
        lost = {one.key: "adapt: no luck" for one in evaluations if "adapted" in one.title}
        return compute([one for one in evaluations if one.key not in lost]) | lost

    monkeypatch.setattr(race, "compute", failing)
    race.run()
    kept, lost, recurrent = race.runners
    assert lost.lost == "since it failed (adapt: no luck)"
    assert (len(kept.dev), lost.dev, len(recurrent.dev)) == (1, [], 1)
    assert outcome_of(race, constant_answer(race.request)).verdicts == {}  # which need the adapted one


@pytest.mark.parametrize(("failed", "lacked"), [(("adapted", "bilstm"), "bilstm"), (("adapted", "plain"), "adapted")])
def test_what_a_verdict_lacks_is_what_is_named(request_, store, failed, lacked):
    tried = [Recipe(request_.encoders[0], ADAPTED), Recipe(request_.encoders[0], AS_IT_IS), Recipe(BILSTM, AS_IT_IS)]
    named = dict(zip(("adapted", "plain", "bilstm"), tried, strict=True))
    race = Race(request_, tried, store, quiet)
    scored = {recipe: race.evaluation(recipe, 0) for recipe in tried}
    race.runners = [Runner(recipe, [scored[recipe]], [scored[recipe]]) for recipe in tried]
    with pytest.raises(InputError, match=f"no verdict, and it failed: no luck with {lacked}"):
        race._drop_failed({scored[named[one]].key: f"no luck with {one}" for one in failed})


def test_encoders_of_one_name_are_refused(request_, encoder_folder, encoder, tmp_path):
    other = tmp_path / encoder_folder.parent.name / encoder_folder.name
    save_encoder(encoder, other)
    both = request_.model_copy(update={"encoders": (str(encoder_folder), str(other))})
    with pytest.raises(InputError, match=f"both are called {display_name(str(other))}; rename one"):
        command.check(both, False, Outputs(tmp_path / "advice.html"))
    twice = request_.model_copy(update={"encoders": (str(encoder_folder),) * 2})
    command.check(twice, False, Outputs(tmp_path / "advice.html"))


@pytest.mark.parametrize("copied", [True, False])
def test_an_encoder_does_not_race_against_itself(request_, encoder_folder, tmp_path, copied):
    """Neither by two names for its folder, nor from a copy that is called otherwise."""
    other = tmp_path / "copy" if copied else f"{encoder_folder.parent}/./{encoder_folder.name}/"
    if copied:
        shutil.copytree(encoder_folder, other)
    both = request_.model_copy(update={"encoders": (str(encoder_folder), str(other))})
    with pytest.raises(InputError, match=f"--encoder {encoder_folder} and {other}: both are the same encoder; leave"):
        command.check(both, False, Outputs(tmp_path / "advice.html"))


def test_sentences_that_are_trained_on_do_not_test(request_, tmp_path):
    for split in ("train", "dev", "test"):
        write_conllu(tmp_path / f"qah-{split}.conllu", World().treebank("qah", "dev" if split == "dev" else "train", 9))
    same = request_.model_copy(update={"labelled": str(tmp_path)})
    with pytest.raises(InputError, match="the test sentences are those that are trained or selected on"):
        command.check(same, False, Outputs(tmp_path / "advice.html"))


def test_a_verdict_a_page_and_a_model_that_pipelines_load(request_, language_folder, tmp_path, encoder_folder):
    folder, page = tmp_path / "model", tmp_path / "advice.html"
    arguments = [
        "advise", "--language", "qah", "--text", language_folder / "text.txt",
        "--labelled", language_folder / "trees.conllu",
        "--encoder", encoder_folder, "--seeds", 1, "--steps", 2, "--store", tmp_path / "store", "-o", page, "--run",
            "--no-search", "--no-curve",
    ]  # fmt: skip
    first = babelscope(*arguments, "--export", folder)
    assert first.status == 0, first.errors
    assert "The verdict" in first.output
    assert "reading the text with" in first.errors
    written = page.read_text()
    assert re.search("Best( so far)?: ", written) and "in percent" in written.lower()
    assert "for every word</th>" in written and re.search(
        rf"{folder} (holds this|does not hold the best) model", written
    )
    assert re.search(r"[0-9.]+ minutes for the race, .* about [0-9.]+ were expected", written)
    assert "Made from" in written and "48 to train, 6 to select, 6 to test" in written
    assert "<pre>babelscope advise --run --language qah" in written
    again = babelscope(*arguments)  # all of it is in the store
    assert "tune" not in again.errors
    best, as_before = (re.search(r"^- Best( so far)?: .*$", one.output, re.MULTILINE)[0] for one in (first, again))
    assert best == as_before
    text = (folder / "README.md").read_text()
    header = yaml.safe_load(text.split("---")[1])
    assert (header["language"], header["pipeline_tag"]) == ("qah", "token-classification")
    (told,) = header["model-index"][0]["results"]
    accuracy = re.search(r"Accuracy on the test sentences of `[^`]+`: ([0-9.]+)%", text)[1]
    assert told["metrics"][0]["value"] == pytest.approx(float(accuracy) / 100, abs=6e-4)
    assert told["dataset"]["split"] == "test"
    assert ("of no use" in text) == ("of no use" in written)
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {ordinary_mode(tmp_path)}
    tag = tagger_of_the_card(text, folder)
    sentences = [sentence.forms for sentence in World().treebank("qah", "test", 9)]
    predicted = load_model(folder).module.predict(sentences)
    assert [tag(words) for words in sentences] == predicted
    assert any(one == other for tags in predicted for one, other in pairwise(tags)), "no neighbours with the same tag"


def ordinary_mode(folder):
    (folder / "new").touch()
    return (folder / "new").stat().st_mode & 0o777


def test_a_plan_costs_what_its_steps_cost(request_, encoder):
    words = costs.words_of(request_)
    assert (words.train, words.dev) == tuple(
        sum(len(one.words) for one in read_split(request_, split)) for split in ("train", "dev")
    )
    copied = copy.deepcopy(encoder)  # its weights change
    found = costs.encoder_costs(request_, request_.encoders[0], copied, ["een twee drie"] * 20)
    assert found.word > 0 and found.step > 0

    def seconds(kind, **changes):
        asked_ = request_.model_copy(update=changes)
        return costs.expected_seconds(asked_, Recipe(request_.encoders[0], kind), costs.Costs(0.5, 3.0), words, 1.0)

    assert seconds(AS_IT_IS, seeds=4) == pytest.approx(2 * seconds(AS_IT_IS))
    assert seconds(ADAPTED, adaptation_steps=7) - seconds(AS_IT_IS) == pytest.approx(21)
