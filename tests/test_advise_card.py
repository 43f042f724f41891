"""The card of the model that advise exports: nothing in it is of the machine that made it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from babelscope.advise.card import card
from babelscope.advise.outcome import Floor, Outcome, Placed
from babelscope.advise.recipes import Recipe
from babelscope.advise.request import Request
from babelscope.advise.scores import Behind
from babelscope.advise.steps import usual_in_words
from babelscope.advise.verdict import verdict_section
from babelscope.core.intervals import Interval
from babelscope.corpora.conllu import write_conllu
from babelscope.study.verdicts import AS_IT_IS, BILSTM
from babelscope.world import World


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    write_conllu(tmp_path / "trees.conllu", World().treebank("qaa", "train", 30))
    return Request(language="mt", text="ntrex:mt", labelled=str(tmp_path / "trees.conllu"), encoders=("world-natural",))


def outcome(store: Path, letters: str | None) -> Outcome:
    score, behind = Interval(0.9, 0.8, 0.95, None, 3), Behind(Interval(0.03, 0.01, 0.05, None, 1), 0.01, 1.0)
    first = Recipe("world-natural", AS_IT_IS, letters) if letters else Recipe(BILSTM, AS_IT_IS)
    best = Placed(first, 3, score, score, None, "")
    direct = Placed(Recipe("world-natural", AS_IT_IS), 3, score, score, behind, "")
    least = Floor("NOUN for every word", score, score, score, score)
    return Outcome([best, direct], {}, direct, least, "0" * 64, "1" * 64, store, 0.02, 0.91)


@pytest.mark.parametrize("letters", [None, "uyghur"])
def test_commands_of_this_machine_are_on_the_page_alone(request_: Request, tmp_path: Path, letters: str | None) -> None:
    made = outcome(tmp_path / "store", letters)
    text = card(made, request_, has_pipeline=True)
    assert "babelscope export" not in text and str(tmp_path) not in text
    assert "is better by 3.0 points" in text and "tuned on the training sentences of `trees.conllu`" in text
    commands = verdict_section(made, request_, None).commands
    assert any(
        f"babelscope export 111111111111 --store {tmp_path / 'store'}" in line
        for one in commands.values()
        for line in one
    )


def test_a_card_names_the_language(request_: Request, tmp_path: Path) -> None:
    text = card(outcome(tmp_path, None), request_, has_pipeline=True)
    assert "# Part-of-speech tagging for Maltese (mt)\n" in text
    header = yaml.safe_load(text.split("---")[1])
    assert header["language"] == "mt"
    assert header["model-index"][0]["name"] == "Part-of-speech tagging for Maltese (mt)"
    unknown = card(outcome(tmp_path, None), request_.model_copy(update={"language": "qag"}), has_pipeline=True)
    assert "# Part-of-speech tagging for qag\n" in unknown


def test_a_card_promises_no_pipeline_where_transformers_lacks_the_head(request_: Request, tmp_path: Path) -> None:
    with_, without = (card(outcome(tmp_path, None), request_, has_pipeline=given) for given in (True, False))
    assert yaml.safe_load(with_.split("---")[1])["pipeline_tag"] == "token-classification"
    assert "from transformers import pipeline" in with_
    assert not {"pipeline_tag", "library_name"} & yaml.safe_load(without.split("---")[1]).keys()
    assert "transformers" not in without
    assert "babelscope predict . FILE.conllu" in without


def test_a_page_says_how_each_encoder_is_usually_trained(request_: Request) -> None:
    assert usual_in_words(request_, "world-natural") == (
        "as usual: learning rate 0.001 (language modelling 0.001), 6 epochs or more, 512 tokens a batch"
    )
    assert usual_in_words(request_, BILSTM) == "as usual: learning rate 0.004, 20 epochs or more, 500 tokens a batch"
