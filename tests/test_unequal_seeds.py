"""Scores of which some seeds are missing: what is said of seeds is said of those that were compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from babelscope.core.row import Row
from babelscope.report import Report, markdown
from babelscope.report.cautions import cautions
from babelscope.report.section import Section, sections_of
from babelscope.report.sections.scores.answer import answer
from babelscope.report.sections.scores.findings import differences, findings

LANGUAGES = ("qaa", "qab", "qac")


def scored(seeds: Mapping[str, Iterable[int]], encoder: str = "e", surgery: str | None = None) -> list[Row]:
    """By language the seeds that it is scored with."""
    about = {"kind": "score", "task": "pos", "train_languages": "qaa", "split": "test"}
    return [
        Row("accuracy", (0.4 if surgery else 0.6) + 0.01 * seed, "share", encoder=encoder, surgery=surgery,
            language=language, seed=seed, **about)
        for language, each in seeds.items() for seed in each
    ]  # fmt: skip


def alike(seeds: Iterable[int]) -> dict[str, list[int]]:
    return {language: list(seeds) for language in LANGUAGES}


def page(rows: list[Row]) -> Section:
    (section,) = sections_of(Report("t", "q", rows))
    return section


@pytest.mark.parametrize(("untrained", "told"), [([1], "one seed"), ([0, 2], "two seeds")])
def test_seeds_are_too_few_where_the_pairs_have_few(untrained, told):
    """The encoder itself was run with three."""
    (*_, against) = page([*scored(alike(range(3))), *scored(alike(untrained), surgery="reinit")]).answer
    assert against.endswith(f"undecided, {told} where three are needed.")


def test_the_fewest_seeds_of_the_pairs_are_told():
    untrained = {"qaa": [0, 1], "qab": [2], "qac": [1, 2]}
    (*_, against) = page([*scored(alike(range(3))), *scored(untrained, surgery="reinit")]).answer
    assert against.endswith("in all three languages (+20.0 points): undecided, one seed where three are needed.")


def test_a_difference_of_other_seeds_is_none():
    """Neither told nor drawn, since it would stand there as paired."""
    rows = [*scored(alike([1, 2])), *scored(alike([0]), surgery="reinit")]
    section = page(rows)
    assert not differences(Report("t", "q", rows).scores)
    assert len(section.answer) == 1 and not any(
        "untrained" in said for said in [*section.answer, *section.findings[-1:]]
    )
    assert [figure.title for figure in section.figures] == ["By language"]
    assert "Pretrained minus untrained" not in markdown(Report("t", "q", rows))


def test_differences_are_of_the_places_that_share_a_seed():
    untrained = {"qaa": [0, 1, 2], "qab": [7], "qac": [0, 1, 2]}
    scores = Report("t", "q", [*scored(alike(range(3))), *scored(untrained, surgery="reinit")]).scores
    compared = differences(scores)
    assert [each.score.place for each in compared] == ["qaa", "qac"]
    assert "higher in both languages" in answer(scores, compared)[-1]
    assert "of 2 languages" in findings(scores)[-1]


def test_zero_shot_scores_are_told_though_no_seed_can_be_compared():
    compared, alone = scored(alike(range(3))), scored(alike([1]), encoder="f")
    rows = [*compared, *scored(alike(range(3)), surgery="reinit"), *alone]
    rows += scored(alike([2]), encoder="f", surgery="reinit")
    told = findings(Report("t", "q", rows).scores)
    assert [said.split(",")[0] for said in told if said.startswith("Zero-shot")] == [
        "Zero-shot accuracy of e", "Zero-shot accuracy of f",
    ]  # fmt: skip


@pytest.mark.parametrize("turned", [False, True])
def test_a_condition_has_as_few_seeds_as_the_place_with_the_fewest(turned):
    seeds = {"qaa": [0, 1, 2], "qab": [0], "qac": [1, 2]}
    if turned:
        seeds = {"qaa": [0, 1, 2], "qab": [1, 2], "qac": [0]}
    report = Report("t", "q", [*scored(seeds), *scored(alike(range(3)), encoder="f")])
    (told, *_) = cautions(report, report.scores)
    assert told.startswith("Part-of-speech tagging: one seed (e). Nothing can be said")
