"""What the study of evolution claims: each technique beside the next, on what is learnt and on what is forgotten."""

from __future__ import annotations

import pytest

from babelscope.studies import find_study
from babelscope.study.compile import compile_study

LAYERS = {"freeze:0": 6, "upper:half": 3, "upper:quarter": 2, "upper:last": 1}
"""Of six layers, how many a technique trains."""


@pytest.mark.parametrize("target", ["qag", "qab"])
def test_more_layers_learn_the_target_and_fewer_forget_less_of_the_others(target):
    study = find_study("evolution@world", {"target": target})
    by_claim = {}
    for contrast in study.contrasts:
        by_claim.setdefault(contrast.claim, []).append(contrast)
    learnt, kept = by_claim["more layers trained, more learnt"], by_claim["fewer layers trained, less forgotten"]
    trained = [(LAYERS[each.first.schedule], LAYERS[each.second.schedule]) for each in learnt]
    assert trained == [(6, 3), (3, 2), (2, 1)]
    assert [(LAYERS[each.second.schedule], LAYERS[each.first.schedule]) for each in kept] == trained
    assert {each.languages for each in learnt} == {(target,)}
    seen = {"qaa", "qab", "qac", "qad", "qae", "qaf"}
    assert {frozenset(each.languages) for each in kept} == {frozenset(seen - {target})}


@pytest.mark.parametrize("changes", [{}, {"encoder": "world-pairs"}, {"scale": "small"}, {"target": "qaa"}], ids=str)
def test_the_claims_are_of_what_is_scored(changes):
    study = find_study("evolution@world", changes)
    assert study.contrasts and compile_study(study).steps


def test_nothing_is_claimed_of_given_texts():
    """They may be in a language of the control."""
    assert len(find_study("evolution@real", {}).contrasts) == 6
    assert not find_study("evolution@real", {"texts": ["text:de:mine.txt"]}).contrasts
    assert {each.languages for each in find_study("evolution@paper", {}).contrasts} == {()}


@pytest.mark.parametrize("name", ["evolution@world", "evolution@real"])
def test_each_group_of_layers_is_unfrozen_for_a_third_of_the_training(name):
    whole, small = (find_study(name, changes) for changes in ({}, {"scale": "small"}))
    schedule, tuning = whole.schedules[-1], whole.tasks["mlm"].tuning
    assert (schedule.gradual, schedule.gradual * schedule.every) == (3, tuning.steps)
    assert (small.schedules[-1].every, small.tasks["mlm"].tuning.epochs) == ("epoch", 3)
