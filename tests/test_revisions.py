"""Code that others bring is in no key: a raised revision of its class is."""

from __future__ import annotations

from typing import Literal

import pytest

from babelscope.core.keyed import keyed_fields
from babelscope.core.registry import Registered
from babelscope.measures.similarities import SIMILARITIES
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.surgery.operations.reverse import Reverse
from babelscope.tasks.baselines.word_majority import WordMajority
from babelscope.tasks.kinds import TaskKind
from command_line import declaration, transfer

Tagging = TaskKind.named("tagging")


class Family(Registered):
    by = "thing"


class Thing(Family):
    thing: Literal["thing"] = "thing"


def test_the_first_revision_is_in_no_key_and_others_are(monkeypatch):
    first = list(keyed_fields(Thing()))
    monkeypatch.setattr(Thing, "revision", 2)
    assert list(keyed_fields(Thing())) == [*first, ("revision", 2)]


def keys_of(folder) -> dict[str, set[str]]:
    """Of a study with an operation, a baseline and similarities, by kind of step."""
    similarity = {"measure": "similarity", "source": "world:qaa", "targets": ["world:qab"], "sentences": 9}
    tasks = {"pos": transfer(baselines=["word-majority"])}
    given = declaration(folder, surgeries=[None, "reverse"], retrieval=None, seeds=[0], tasks=tasks)
    study = Study.model_validate(given | {"measures": [similarity]})
    found: dict[str, set[str]] = {}
    for key, step in compile_study(study).steps.items():
        found.setdefault(type(step).__name__, set()).add(key)
    return found


@pytest.mark.parametrize(
    ("raised", "moved"),
    [
        (Reverse, {"Tune", "Evaluate", "SentenceSimilarity"}),
        (WordMajority, {"Baseline"}),
        ("retrieval", {"SentenceSimilarity"}),
    ],
)
def test_what_is_computed_with_a_later_revision_has_other_keys(raised, moved, encoder_folder, monkeypatch):
    before = keys_of(encoder_folder)
    if isinstance(raised, str):
        entry = SIMILARITIES[raised]
        monkeypatch.setitem(SIMILARITIES, raised, type(entry)(entry.name, entry.compute, entry.unit, revision=2))
    else:
        monkeypatch.setattr(raised, "revision", 2)
        monkeypatch.setattr("babelscope.core.step._TEXTS", {})
    after = keys_of(encoder_folder)
    assert {kind for kind in before if before[kind] != after[kind]} == moved


def test_a_task_of_a_kind_with_a_later_revision_has_another_key(monkeypatch):
    """Of one that a study declares: those that are built in have kinds that are, too."""
    first = list(keyed_fields(Tagging().declared("number", "feats:Number")))
    monkeypatch.setattr(Tagging, "revision", 2)
    assert list(keyed_fields(Tagging().declared("number", "feats:Number"))) == [*first, ("revision", 2)]
