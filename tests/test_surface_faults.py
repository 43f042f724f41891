"""Models between tuned ones that cannot be are refused, all of them at once and with their path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from babelscope.core.errors import StudyError
from babelscope.core.validation import validate
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from between_study import (
    angle,
    declared,
    interpolation,
)
from command_line import babelscope, write_study


def faults(encoder: Path, **changes: Any) -> list[str]:
    """What a study with these changes is refused for."""
    with pytest.raises(StudyError) as caught:
        compile_study(validate(Study, declared(encoder) | {"measures": []} | changes, "test"))
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("changes", "path", "problem"),
    [
        ({"tasks": ["pos a", "ner b"]}, "measures.1", "pos a and ner b are models of different shapes"),
        ({"tasks": ["inference a", "pooled"]}, "measures.1", "inference a and pooled are models of different"),
        ({"tasks": ["pos a", "nope"]}, "measures.1", "'nope' is no task of the study; there are "),
        ({"tasks": ["pos a", "pos b", "pos a"]}, "measures.1", "pos a, pos b, pos a: a model and itself"),
        ({"tasks": ["pos a"]}, "measures.1.tasks", ""),
        ({"tasks": ["pos a", "pos b", "pos c", "mlm a"]}, "measures.1.tasks", ""),
        ({"evaluate": ["world:qab", "world:nope"]}, "measures.1.evaluate.1", "nope"),
        ({"evaluate": ["glue:rte"]}, "measures.1.evaluate.0", "'glue:rte' is no data of pos"),
        ({"evaluate": []}, "measures.1.evaluate", ""),
        ({"part": "tail"}, "measures.1.part", "'tail'"),
        ({"sentences": 9}, "measures.1.evaluate", "scored on 9 sentences of world:qab and on 10 sentences of"),
        ({"tasks": ["pos a", "elsewhere"]}, "measures.1", "no encoder is tuned on all of pos a, elsewhere"),
        ({"alphas": []}, "measures.1", "two places or more"),
        ({"alphas": [0.5, 0.5]}, "measures.1", "two places or more"),
    ],
)
def test_interpolations_that_cannot_be_are_refused_with_their_path(encoder_folder, changes, path, problem):
    tasks = declared(encoder_folder)["tasks"]
    tasks["pos a"]["encoders"], tasks["elsewhere"] = (
        [str(encoder_folder)],
        tasks["pos c"] | {"encoders": ["world-natural"]},
    )
    tasks["pooled"] = tasks["inference b"] | {"head": "pooler", "train": ["world:qac"]}
    fine = interpolation("pos a", "pos b")
    encoders = [str(encoder_folder), "world-natural"]
    lines = faults(encoder_folder, encoders=encoders, tasks=tasks, measures=[fine, fine | changes])
    assert any(line.strip(" -").startswith(f"{path}: ") and problem in line for line in lines), lines
    assert not any(line.strip(" -").startswith("measures.0") for line in lines)


def test_all_faults_are_reported_at_once_before_anything_runs(encoder_folder, tmp_path):
    study = declared(encoder_folder) | {
        "measures": [
            interpolation("pos a", "mlm b"),
            interpolation("pos a", "pos b", evaluate=["world:nope"]),
            angle("pos a", "pos b", "pos c"),
            angle("pos a", "pos b", "mlm c"),
            angle("pos a", "pos a", "pos b"),
        ],
    }
    answer = babelscope("run", write_study(tmp_path / "wrong.yaml", study), "--store", tmp_path / "store")
    assert answer.status == 2 and not (tmp_path / "store").exists()
    for path in ("measures.0", "measures.1.evaluate.0", "measures.3", "measures.4"):
        assert f"{path}: " in answer.errors, answer.errors
    assert "measures.2" not in answer.errors


FEW = {"task": "pos", "train": ["world:qaa", "world:qab"], "evaluate": ["world:qab"],
       "sizes": {"train": 20, "dev": 5, "test": 8}}  # fmt: skip


@pytest.mark.parametrize(
    ("dev", "test", "changes", "problem"),
    [
        ({"sentences": 9}, {}, {}, "9 choose the model on this line, .* against all, of 10 examples: half .*; give 5"),
        ({}, {"sentences": 9}, {}, "scored on 9 sentences of world:qab, and all, .* on 8; give 8"),
        ({}, {}, {}, None),
        ({"sentences": 9}, None, {}, None),  # not chosen on dev
        ({"sentences": 9, "evaluate": ["world:qaa"]}, {}, {}, None),  # nor in the target
        ({"sentences": 9}, {}, {"all": {"shots": 20}}, None),  # nothing to hold it against
        ({"sentences": 9}, {}, {"source": {"train": ["world:qac"]}}, None),  # the end has not seen the origin's
        ({"sentences": 9}, {}, {"half": {"train": ["world:qab"]}, "all": {"train": ["world:qab"]}}, None),
        ({"sentences": 9}, {}, {"half": {"encoders": ["{folder}"]}, "all": {"encoders": ["world-natural"]}}, None),
    ],
)
def test_lines_to_models_of_few_examples_are_of_the_sentences_that_all_of_them_are(
    encoder_folder, dev, test, changes, problem
):
    """Where reports subtract the scores of the two."""
    tasks = {"source": FEW | {"train": ["world:qaa"]}, "half": FEW | {"shots": 5}, "all": FEW | {"shots": 10}}
    for name, change in changes.items():
        tasks[name] |= {
            key: [each.format(folder=encoder_folder) for each in value] if key == "encoders" else value
            for key, value in change.items()
        }
    usual = {"evaluate": ["world:qab"], "split": "dev", "sentences": 5}
    lines = [interpolation("source", "half", **usual | dev)]
    lines += (
        [] if test is None else [interpolation("source", "half", **usual | {"split": "test", "sentences": 8} | test)]
    )
    given = {"tasks": tasks, "measures": lines, "encoders": [str(encoder_folder), "world-natural"]}
    study = validate(Study, declared(encoder_folder) | given, "test")
    if problem is None:
        compile_study(study)
    else:
        with pytest.raises(StudyError, match=rf"(?s)measures.[01].sentences: .*{problem}"):
            compile_study(study)


@pytest.mark.parametrize(
    ("tasks", "changes", "refused"),
    [
        (["source", "both"], {"split": "dev"}, True),
        (["source", "both"], {"split": "test"}, False),
        (["source"], {"split": "dev"}, False),
        (["source"], {"split": "dev", "random": 1, "alphas": [0, 1]}, False),
    ],
    ids=["divided by the whole line's score", "on test", "between seeds", "in random directions"],
)
def test_lines_of_a_part_are_of_the_sentences_of_whole_ones_where_they_are_divided_by_their_scores(
    encoder_folder, tasks, changes, refused
):
    known = {"source": FEW | {"train": ["world:qaa"]}, "both": FEW}
    lines = [interpolation(*tasks, **changes), interpolation(*tasks, part="head", **changes | {"sentences": 9})]
    given = {"tasks": {name: known[name] for name in tasks}, "measures": lines, "seeds": [0, 1]}
    study = validate(Study, declared(encoder_folder) | given, "test")
    if not refused:
        compile_study(study)
    else:
        with pytest.raises(StudyError, match="scored on 9 sentences of world:qab and on 10 sentences"):
            compile_study(study)
