"""What the page of an unfinished study claims: no more than what is there can bear, and no less than it will."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from babelscope.core.inference import holm
from babelscope.core.row import Row
from babelscope.encoders.places import display_name
from babelscope.engine.store import Store
from babelscope.face.job import Job
from babelscope.report import report_of
from babelscope.report.model import Report
from babelscope.report.sections.effect_line import Line
from babelscope.report.sections.effect_tables import effect_table
from babelscope.report.sections.effects import claims, effects
from babelscope.report.sections.effects_told import effect_answer
from babelscope.report.sections.redrawn_layers.findings import reinitialised_findings
from babelscope.steps import Evaluate
from babelscope.study.declare import load_study
from command_line import declaration, transfer, write_study

SURGERIES = {"A": None, "B": "reinit", "C": "clean", "D": "drawn"}
SCORES = {"A": (0.80, 0.82, 0.84), "B": (0.76, 0.76, 0.81), "C": (0.80, 0.80, 0.86), "D": (0.80, 0.83, 0.83)}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory, encoder_folder: Path) -> Job:
    """Two claims, that A is above B and C above D, of which nothing is run."""
    return claimed(tmp_path_factory.mktemp("pairs"), encoder_folder, {"pos": transfer(baselines=[])})


def claimed(folder: Path, encoder: Path, declared_tasks: dict[str, Any], **of_second: Any) -> Job:
    """The claims on these tasks, the second of them of these alone."""
    sides = {name: {"encoder": display_name(str(encoder)), "surgery": made} for name, made in SURGERIES.items()}
    drawn = [{"name": name, "operations": [f"reinit:layers={layer}"]} for name, layer in (("clean", 0), ("drawn", 1))]
    contrasts = [
        {"claim": "A above B", "first": sides["A"], "second": sides["B"]},
        {"claim": "C above D", "first": sides["C"], "second": sides["D"], **of_second},
    ]
    declared = declaration(
        encoder, surgeries=[None, "reinit", *drawn], seeds=[0, 1, 2], contrasts=contrasts, tasks=declared_tasks
    )
    del declared["retrieval"]
    return Job.of(load_study(write_study(folder / "study.yaml", declared)), Store(folder / "store"))


def found(job: Job, names: str, *, finished: bool = False, **only: int) -> list[Line]:
    """What comes out of the scores of these, of C and D with these labels alone."""
    rows = []
    for step in job.plan.steps.values():
        name = next(name for name, surgery in SURGERIES.items() if surgery == step.labels.get("surgery"))
        left_out = name in "CD" and any(step.labels.get(label) != value for label, value in only.items())
        if isinstance(step, Evaluate) and name in names and not left_out:
            measure = {"pos": "accuracy", "parsing": "las"}[step.labels["task"]]
            value = SCORES[name][step.labels["seed"]]
            rows.append(Row(measure, value, "share", kind="score").labelled(**step.labels))
    missing = "" if finished else "the rest is missing"
    return effects(report_of(job.study, rows, plan=job.plan, missing=missing))


def test_a_claim_that_waits_for_results_is_of_the_family(pairs: Job) -> None:
    """What shows now is to show among all claims of the study; without the other one p would be 0.04."""
    lines = found(pairs, "ABC")
    assert [line.verdict for line in lines] == ["does not show", "cannot be said yet"]
    assert lines[0].effect is not None and lines[0].effect.p == pytest.approx(0.039, abs=1e-3)
    first, second = claims(lines)
    name = display_name(pairs.study.encoders[0])
    assert first.startswith(f"A above B: does not show among 2 claims for {name}, Part-of-speech tagging (")
    assert second == f"C above D: cannot be said yet for {name} clean, Part-of-speech tagging."
    assert effect_answer(lines)[1] == f"C above D: cannot be said yet for {name} clean against {name} drawn."
    assert [cell.text for cell in effect_table(lines).lines[1][2:]] == [
        "",
        "",
        "",
        "",
        "cannot be said yet",
        "C above D",
    ]


def test_a_finished_study_has_the_claims_that_it_scores(pairs: Job) -> None:
    assert [line.verdict for line in found(pairs, "ABC", finished=True)] == ["shows"]
    done, open_ = (found(pairs, "ABCD", finished=finished) for finished in (True, False))
    assert [line._replace(compared=None) for line in done] == [line._replace(compared=None) for line in open_]
    assert claims(done) == claims(open_) and len(done) == 2


def test_a_finished_study_counts_what_it_can_test(pairs: Job) -> None:
    """With one seed of C there is no p, and none is to come."""
    done, open_ = (found(pairs, "ABCD", finished=finished, seed=0) for finished in (True, False))
    assert [line.family for line in done] == [1, 1] and [line.family for line in open_] == [2, 2]
    assert (done[0].verdict, open_[0].verdict) == ("shows", "does not show")


def test_of_several_tasks_the_claim_that_waits_is_one(tmp_path: Path, encoder_folder: Path) -> None:
    tasks = {name: transfer(baselines=[]) for name in ("pos", "parsing")}
    waiting = [line for line in found(claimed(tmp_path, encoder_folder, tasks), "AB") if line.effect is None]
    assert [(line.where, line.is_claim) for line in waiting if line.is_claim] == [("all tasks", True)]
    named = claimed(tmp_path, encoder_folder, tasks, tasks=["pos"], languages=["qab"])
    *_, last = found(named, "AB")
    assert last.scope == "Part-of-speech tagging, in qab near (Latn)" and last.is_claim


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, encoder_folder: Path) -> Job:
    """Two schedules, two tasks and three conditions, of which nothing is run."""
    folder = tmp_path_factory.mktemp("claims")
    sides = [
        {"encoder": display_name(str(encoder_folder)), "surgery": surgery} for surgery in (None, "reinit", "clean")
    ]
    contrasts = [
        {"claim": "learned", "first": sides[0], "second": sides[1]},
        {"claim": "cleaned", "first": sides[2], "second": sides[1]},
        {"claim": "frozen", "first": sides[0] | {"schedule": "freeze:1"}, "second": sides[1]},
    ]
    declared = declaration(
        encoder_folder, surgeries=[None, "reinit", {"name": "clean", "operations": ["reinit:layers=0"]}],
        schedules=[None, "freeze:1"], seeds=[0, 1, 2], contrasts=contrasts,
        tasks={"pos": transfer(), "parsing": transfer(baselines=[])},
    )  # fmt: skip
    del declared["retrieval"]
    return Job.of(load_study(write_study(folder / "study.yaml", declared)), Store(folder / "store"))


def there(job: Job, **lacking: str | None) -> Report:
    """The report of a study that lacks the scores with these labels; the encoder as it is, is a little better."""
    made = []
    for step in job.plan.steps.values():
        if isinstance(step, Evaluate) and any(step.labels.get(name) != value for name, value in lacking.items()):
            measure = {"pos": "accuracy", "parsing": "las"}[step.labels["task"]]
            seed, better = step.labels["seed"], "surgery" not in step.labels
            value = 0.5 + (0.014 + 0.004 * seed) * better
            made.append(Row(measure, value, "share", kind="score").labelled(**step.labels))
    return report_of(job.study, made, plan=job.plan, missing=job.missing)


@pytest.mark.parametrize(
    "lacking",
    [{"schedule": "freeze:1"}, {"surgery": "clean"}, {"task": "parsing"}, {"surgery": "reinit", "schedule": None}],
    ids=str,
)
def test_the_plan_says_which_claims_are_to_come(job: Job, lacking: dict[str, str | None]) -> None:
    """Two claims under two schedules, and one between them, whatever is there of them."""
    found = [line for line in effects(there(job, **lacking)) if line.is_claim]
    under_both = {(claim, schedule) for claim in ("learned", "cleaned") for schedule in (None, "freeze:1")}
    assert {(line.contrast.claim, line.setting.schedule) for line in found} == under_both | {("frozen", None)}
    assert len(found) == 5 and {line.family for line in found} == {5}
    known = {str(k): line.effect.p for k, line in enumerate(found) if line.effect and line.effect.p is not None}
    adjusted = holm(known | {f"to come {k}": 1.0 for k in range(5 - len(known))})
    assert known and all((found[int(k)].verdict == "shows") == (adjusted[k] < 0.05) for k in known)
    assert all(line.verdict == "cannot be said yet" for line in found if line.effect is None)


def test_a_task_that_the_claim_is_not_going_to_be_of_is_no_claim(tmp_path: Path, encoder_folder: Path) -> None:
    """The mean over tasks is going to be without perplexities, which are there first."""
    encoder = display_name(str(encoder_folder))
    contrast = {"claim": "learned", "first": {"encoder": encoder}, "second": {"encoder": encoder, "surgery": "reinit"}}
    tasks = {name: transfer(baselines=[]) for name in ("pos", "parsing", "mlm")}
    declared = declaration(
        encoder_folder, surgeries=[None, "reinit"], seeds=[0, 1, 2], contrasts=[contrast], tasks=tasks
    )
    del declared["retrieval"]
    job = Job.of(load_study(write_study(tmp_path / "study.yaml", declared)), Store(tmp_path / "store"))
    steps = [step for step in job.plan.steps.values() if isinstance(step, Evaluate) and step.labels["task"] == "mlm"]
    rows = [
        Row("perplexity", 20.0 - step.labels["seed"] * ("surgery" in step.labels), kind="score").labelled(**step.labels)
        for step in steps
    ]
    found = effects(report_of(job.study, rows, plan=job.plan, missing=job.missing))
    (claim,) = (line for line in found if line.is_claim)
    assert claim.verdict == "cannot be said yet" and claim.effect is None and claim.family == 1
    assert len(found) == 2, "the line of the perplexities is none"


def test_with_all_scores_there_nothing_is_to_come(job: Job) -> None:
    whole = there(job, task=None)
    assert not [line for line in effects(whole) if line.effect is None]


def test_what_layers_cost_is_a_family_with_what_is_to_come(job: Job) -> None:
    """A claim a task and schedule: with p 0.02, two of them show among two and not among four."""

    def report(missing: str, **lacking: str) -> Report:
        made = there(job, **lacking)
        rows = [
            row.labelled(value=0.6 - (0.03 + 0.01 * (row.seed or 0)) * (row.surgery == "clean"))
            if row.language == "qab" else row.labelled(value=0.8)
            for row in made.rows
        ]  # fmt: skip
        return replace(made, rows=rows, missing=missing)

    (one, other) = reinitialised_findings(report("x", schedule="freeze:1"))
    assert "That the others lose more: does not show (" in one and "does not show (" in other
    (one, other) = reinitialised_findings(report("", schedule="freeze:1"))
    assert "That the others lose more: shows (" in one and "shows (" in other
