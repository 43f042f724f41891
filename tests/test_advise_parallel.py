"""Advice with translated sentences: languages brought in, and what more sentences would bring."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import results
from hypothesis import given
from hypothesis import strategies as st

from babelscope.advise import amounts, command, plan, steps
from babelscope.advise.amounts import FEWEST, LABELLED, TRANSLATED, numbers
from babelscope.advise.curves import Curve, as_many, leading
from babelscope.advise.more import findings
from babelscope.advise.outputs import Outputs
from babelscope.advise.race import Race
from babelscope.advise.recipes import BROUGHT_IN, ZERO_SHOT, Recipe
from babelscope.advise.request import Request
from babelscope.advise.translated import texts_in_words, translated
from babelscope.core.samples import Samples
from babelscope.corpora import datasets
from babelscope.corpora.conllu import write_conllu
from babelscope.encoders import load
from babelscope.encoders.load import load_encoder
from babelscope.engine.brought_in import RECORD
from babelscope.report.files import section_markdown
from babelscope.study.compile import compile_study
from babelscope.study.declare import Sizes, Study, Transfer
from babelscope.study.encoders import BringingIn
from babelscope.study.verdicts import AS_IT_IS, BILSTM
from babelscope.tasks.export import load_model
from babelscope.tuning.settings import Tuning
from babelscope.world import World
from command_line import babelscope

pytestmark = pytest.mark.usefixtures("in_process", "short")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, world = tmp_path_factory.mktemp("language"), World()
    (folder / "text.txt").write_text("\n".join(world.text("qag", 60)) + "\n", encoding="utf-8")
    pairs = world.parallel_text("qaa", "qag", 80)
    (folder / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")
    write_conllu(folder / "trees.conllu", world.treebank("qag", "train", 60))
    write_conllu(folder / "source.conllu", world.treebank("qaa", "train", 60))
    return folder


@pytest.fixture
def request_(files, encoder_folder):
    return Request(
        language="qag", text=str(files / "text.txt"), labelled=str(files / "trees.conllu"),
        encoders=(str(encoder_folder),), parallel=(str(files / "pairs.tsv"),),
        source_labelled=f"treebank:qaa:{files / 'source.conllu'}", seeds=1, adaptation_steps=2, search=False,
    )  # fmt: skip


def test_a_language_is_brought_in_as_a_study_would(request_, store):
    """Before tuning, or zero-shot after it; and with fewer pairs, by the name that says so."""
    (encoder,), own, source = request_.encoders, request_.labelled_name, request_.source_labelled_name
    tried = [Recipe(encoder, kind) for kind in (BROUGHT_IN, ZERO_SHOT)]
    texts = {"qag": (f"tsv:qag:{request_.parallel[0]}",)}
    declared, tasks = [], {}
    for recipe, data in zip(tried, (own, source), strict=True):
        later = {"after_tuning": recipe.kind == ZERO_SHOT, "encoder": encoder, "languages": texts}
        names = [recipe.row_name, f"{recipe.row_name}, 40 pairs"]
        declared += [BringingIn(name=name, pairs=n, **later) for name, n in zip(names, (None, 40), strict=True)]
        tasks[recipe.row_name.replace(" ", "-")] = Transfer(
            task="pos", train=(data,), evaluate=(own,), tuning=Tuning(learning_rate=1e-3, epochs=6),
            sizes=Sizes(train=10**6, dev=10**6, test=10**6), baselines=(), encoders=tuple(names),
        )  # fmt: skip
    planned = compile_study(Study(name="s", encoders=(encoder, *declared), tasks=tasks, seeds=(7,))).steps
    race = Race(request_, tried, store, lambda plan: nullcontext())
    for recipe in tried:
        assert race.evaluation(recipe, 7).key in planned
        assert race.evaluation(recipe, 7, amounts.Amounts(pairs=40)).key in planned


def test_fewer_labelled_sentences_are_read_more_often(request_, store):
    race = Race(request_, [Recipe(BILSTM, AS_IT_IS)], store, lambda plan: nullcontext())
    whole, fewer = (race.evaluation(Recipe(BILSTM, AS_IT_IS), 0, amounts.Amounts(labelled=n)).model for n in (None, 12))
    assert (whole.train[0].examples, fewer.train[0].examples) == (10**6, 12)
    assert len(fewer.train[0].read()) * fewer.tuning.epochs == len(whole.train[0].read()) * whole.tuning.epochs


@given(st.integers(1, 10**6), st.sampled_from([TRANSLATED, LABELLED]))
def test_numbers_are_round_and_not_too_few_and_all_that_there_are(there, over):
    *fewer, most = numbers(over, there)
    assert most == there and len(fewer) <= 4 and fewer == sorted(set(fewer))
    assert all(
        FEWEST[over] <= number <= there / 1.5 and str(number).strip("0") in ("1", "2", "25", "5") for number in fewer
    )


def test_numbers_that_are_tried():
    assert numbers(LABELLED, 1000) == [50, 100, 200, 500, 1000]
    assert numbers(LABELLED, 100) == [25, 50, 100]
    assert numbers(LABELLED, 30) == [30]
    assert numbers(TRANSLATED, 1597) == [200, 500, 1000, 1597]


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=6), st.sampled_from([1, 2]))
def test_the_slope_is_that_of_least_squares(values, degree):
    places = np.log2(200 * 2.0 ** np.arange(len(values)))
    assert leading(places, degree) @ values == pytest.approx(np.polyfit(places, values, degree)[0], abs=1e-9)


def curve(scores, over=TRANSLATED, numbers=(250, 500, 1000, 2000), spread=0.02, number=0):
    """Of scores that vary as much by round and sentence, drawn anew for each."""
    draw = np.random.default_rng(number)
    tables = [draw.normal(0, spread, (4, 50)) for _ in scores]
    samples = [Samples((0, 1, 2, 3), score + table - table.mean()) for score, table in zip(scores, tables, strict=True)]
    return Curve(over, Recipe("world-natural", BROUGHT_IN), list(numbers), samples)


def test_what_twice_as_many_bring_is_told_where_it_shows():
    (told,) = findings([curve([0.5, 0.52, 0.54, 0.56])])
    assert told.startswith("2,000 more translated sentences, twice as many as there are, would bring about 2.0 points")
    assert "Alone, the step from 1,000 brought 2.0 points [" in told
    assert "one point more takes about" in told
    slow = [curve([0.5, 0.5001, 0.5002, 0.5003], spread=0.0001), curve([0.96, 0.97, 0.98, 0.992], spread=0.0001)]
    for one in slow:  # it took more sentences than there are atoms, or a score above 100
        (told,) = findings([one])
        assert told.startswith("2,000 more translated sentences") and "one point more" not in told
    (told,) = findings([curve([0.5, 0.501, 0.499, 0.5], spread=0.2)])
    assert told.startswith("What more translated sentences would bring cannot be told: from 250 to 2,000")
    (told,) = findings([curve([0.56, 0.54, 0.52, 0.5])])
    assert "cannot be told" in told and "−2.0 points" in told
    (told,) = findings([curve([0.5, 0.6], numbers=(250, 500))])
    assert told == "What more translated sentences would bring cannot be told from 500; it takes 800 or so."


def test_what_brings_more_is_told_how_many_bring_as_much():
    pairs = curve([0.5, 0.52, 0.54, 0.56])
    labelled = curve([0.3, 0.34, 0.38, 0.42], LABELLED, (50, 100, 200, 400), number=1)
    *_, told = findings([pairs, labelled])
    assert told == "About 166 more labelled sentences would bring as much as 2,000 more translated sentences."
    assert 0.04 * np.log2(566 / 400) == pytest.approx(0.02, abs=2e-4)
    assert len(findings([pairs, curve([0.5] * 4, LABELLED)])) == 2


@given(st.floats(0.001, 1), st.floats(1, 9), st.integers(10, 10**5))
def test_as_many_are_where_the_curve_has_risen_so_far(gain, times, there):
    assert gain * times * np.log2(1 + as_many(gain, gain * times, there) / there) == pytest.approx(gain, rel=0.6)
    assert as_many(gain, gain, there) == there


def test_a_curve_that_bends_goes_on_as_at_its_end():
    flat = curve([0.3, 0.5, 0.6, 0.61], spread=0.001)
    assert flat.doubling.mean == pytest.approx(0.01) and "as from 1,000 to 2,000" in findings([flat])[0]
    assert flat.last.mean == pytest.approx(0.01) and "Alone" not in findings([flat])[0]
    straight = curve([0.3, 0.4, 0.5, 0.6], spread=0.001)
    assert straight.doubling.mean == pytest.approx(0.1) and "as from 250 to 2,000" in findings([straight])[0]


def test_a_race_with_translated_sentences(request_, files, tmp_path, monkeypatch):
    """A page with the scores and both curves, and the model that was picked: zero-shot, which reads both languages."""
    monkeypatch.setitem(FEWEST, TRANSLATED, 20)
    monkeypatch.setitem(FEWEST, LABELLED, 20)
    zero_shot = Recipe(request_.encoders[0], ZERO_SHOT)
    bringing = [Recipe(request_.encoders[0], BROUGHT_IN), zero_shot, Recipe(BILSTM, AS_IT_IS)]
    monkeypatch.setattr(plan, "recipes", lambda *given: bringing)
    monkeypatch.setattr(
        Race, "best_direct", lambda race: next(runner for runner in race.runners if runner.recipe.kind == ZERO_SHOT)
    )
    monkeypatch.setattr(steps, "RECURRENT", steps.RECURRENT.model_copy(update={"epochs": 1}))
    folder, page, shown = tmp_path / "model", tmp_path / "advice.html", []
    command.advise(
        request_, Outputs(page, tmp_path / "store", folder), True, lambda text: None, shown.append,
        lambda plan: nullcontext(lambda event: None),
    )  # fmt: skip
    assert [section.title for section in shown][2:] == ["The verdict", "What more sentences would bring"]
    assert [curve.title for curve in shown[-1].figures] == [f"Over {TRANSLATED}", f"Over {LABELLED}"]
    _is_told_again(shown[-2:], tmp_path, monkeypatch)
    written = page.read_text()
    assert written.count("<svg") == 3 and "The curves take about" in written
    assert re.findall(r">Translated sentences</th>|>Translated sentences</td>", written)
    card, record = (folder / "README.md").read_text(), json.loads((folder / RECORD).read_text())
    assert "- pairs.tsv" in card and str(files) not in card and f"{record['pairs']} pairs of sentences" in card
    assert (record["language"], record["source"]) == ("qag", "qaa")
    assert record["pairs"] == len(translated(request_).pairs)
    model = load_model(folder)
    assert list(model.languages) == ["qaa", "qag"]
    text = " ".join(other for _, other in translated(request_).pairs[:9])
    before = model.reading("qaa").encoder.tokenizer
    assert model.reading("qag").encoder.tokenizer.tokenize(text) != before.tokenize(text)
    assert before.get_vocab() == load_encoder(request_.encoders[0]).tokenizer.get_vocab()


def _is_told_again(shown, folder, monkeypatch):
    """From what was written beside the page and the rows of the store, without texts and encoders."""
    docs = folder / "docs"
    assert results.main([str(folder / "advice.json"), "--store", str(folder / "store"), "--docs", str(docs)]) == 0
    text = (docs / "advice.md").read_text(encoding="utf-8")
    shutil.move(folder / "store", folder / "elsewhere")
    with monkeypatch.context() as context:
        for module, name in ((datasets, "_parsed"), (datasets, "find_file"), (load, "load_located"), (steps, "locate")):
            context.setattr(module, name, None)
        assert results.main(["--docs", str(docs)]) == 0
    shutil.move(folder / "elsewhere", folder / "store")
    assert (docs / "advice.md").read_text(encoding="utf-8") == text
    said = "\n".join(section_markdown(replace(section, figures=[], commands={})) for section in shown).splitlines()
    head, (picture, _, *own) = text.splitlines()[:8], text.splitlines()[8:]
    assert picture.endswith("](advice.png)") and (docs / "advice.png").is_file()
    assert [line for line in own if not line.startswith("- The best with an encoder that reads")] == [
        line for line in said if f"{folder}/model" not in line and not line.startswith("- Of the labelled sentences")
    ]
    assert head[0].startswith("# Which encoder for qag") and "    babelscope advise --run --language qag" in head[4]
    assert " --encoder encoders0/tiny " in head[4] and json.loads((folder / "advice.json").read_text())["recipes"]
    assert re.match(r"\d+ rows of all \d+ steps. Seeds: 0\. ", head[6])


def test_after_few_rounds_it_is_said_of_whom_it_is():
    one = curve([0.5, 0.52, 0.54, 0.56])
    alone = one._replace(scores=[score.at((0,)) for score in one.scores])
    assert findings([alone])[-1] == "With fewer than 3 rounds all of this is about these models alone."
    assert len(findings([one])) == 1


def test_whose_sentences_they_are_is_said(request_, tmp_path, monkeypatch):
    (tmp_path / "ntrex").mkdir()
    for name, line in (("src.eng", "a cat"), ("ref.mlt", "qattus")):
        (tmp_path / "ntrex" / f"newstest2019-{name}.txt").write_text(f"{line}\n", encoding="utf-8")
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    (said,) = texts_in_words(request_.model_copy(update={"language": "mt", "parallel": ("ntrex:mt",)}))
    assert said.startswith("ntrex:mt: NTREX-128, Federmann, Kocmi and Xin (2022), Microsoft, CC BY-SA 4.0, https://")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--parallel", "tsv:qae:{pairs}"], "in qae, but the language that they are given for is qag"),
        (["--parallel", "nowhere.tsv"], "nowhere.tsv"),
        (["--parallel", "qag"], "qag: there is no such file"),
        (["--source-labelled", "{source}"], "give --parallel too"),
        (["--parallel", "{pairs}", "--source-labelled", "treebank:qag:{source}"], "in qag, the language itself"),
        (["--parallel", "{pairs}", "--run"], "give labelled sentences with --labelled"),
        (
            ["--parallel", "{pairs}", "--labelled", "treebank:qag:{source}", "--source-labelled", "{source}"],
            "the same sentences as those of --labelled",
        ),
    ],
)
def test_bad_requests_are_refused_in_words(request_, files, tmp_path, changes, message):
    named = {"pairs": files / "pairs.tsv", "source": files / "source.conllu"}
    answer = babelscope(
        "advise", "--language", "qag", "--text", request_.text, "--encoder", request_.encoders[0],
        *(part.format(**named) for part in changes), "-o", tmp_path / "x.html", "--store", tmp_path / "store",
    )  # fmt: skip
    assert answer.status == 2, answer.output
    assert message in answer.errors and "Traceback" not in answer.errors
