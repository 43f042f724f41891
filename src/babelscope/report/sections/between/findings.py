"""What the models between tuned ones say, in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from babelscope.core.inference import Effect, best_of, effect
from babelscope.core.training import TrainedOn
from babelscope.report.judged import Verdict, among, judged
from babelscope.report.model import Report
from babelscope.report.published import is_published
from babelscope.report.score import title_of
from babelscope.report.sections.between.gains import FewShot, SeedMean, few_shots, seed_means
from babelscope.report.sections.between.line_tables import rise
from babelscope.report.sections.between.lines import (
    DROP,
    ROLES,
    Between,
    Flatness,
    by_curve,
    compare_flatness,
    name_of,
)
from babelscope.report.sections.between.means import (
    OVER,
    Run,
    Values,
    over_pairs,
    run_of,
    subtracted,
    table_over_pairs,
)
from babelscope.report.words import bounded, chance_of, minus


class Claim(NamedTuple):
    """That something is above zero; in its place in a sentence stands by how much, and whether that shows."""

    more: Effect | None
    factor: float = 100
    symbol: str = " points"
    digits: int = 1

    def in_words(self, verdict: Verdict, claims: int) -> str:
        """`5.8 points [5.1, 6.4] (shows, p = 0.012)`; with the verdict alone where nothing is known yet."""
        if self.more is None:
            return f"({verdict})"
        p = "" if self.more.p is None else f", {chance_of(self.more.p)}"
        size = bounded(self.more.interval, self.factor, self.symbol, self.digits)
        return f"{size} ({among(verdict, self.more.p, claims)}{p})"


Finding = Sequence[str | Claim]
"""The parts of a sentence."""


def between_findings(report: Report, between: Between) -> list[str]:
    """What the lines say, in words; all that they claim is one family (Holm 1979)."""
    findings: list[Finding] = [
        *_rises(between),
        *_angles_in_words(report),
        *_flatter(between.flatness()),
        *map(_few_shot_in_words, few_shots(report, between)),
        *map(_seeds_in_words, seed_means(report, between)),
    ]
    claims = [part for finding in findings for part in finding if isinstance(part, Claim)]
    verdicts = iter(judged([claim.more for claim in claims]))
    tested = sum(claim.more is not None and claim.more.p is not None for claim in claims)
    said = [
        "".join(part.in_words(next(verdicts), tested) if isinstance(part, Claim) else part for part in finding)
        for finding in findings
    ]
    more = ", to which the finished study may add others" if report.missing else ""
    note = f"Verdicts at 5%, corrected for the number of claims here (Holm){more}; p before that. {OVER}"
    return [*said, note] if claims else said


def _rises(between: Between) -> Iterator[Finding]:
    """How the source's and the target's mean scores change from the source's model to that of both."""
    for (encoder, origin, language), curve in by_curve(between.normalised()).items():
        within = {alpha: values for alpha, values in curve.items() if 0 <= alpha <= 1}
        means = {alpha: mean.interval for alpha, values in within.items() if (mean := over_pairs(values))}
        if origin != "source" or 0.0 not in means or 1.0 not in means:
            continue
        end = "100" if means[1.0].mean == 1 else bounded(means[1.0], 100)  # a part alone does not get there
        levels = [100 * interval.mean for interval in means.values()]
        yield [
            f"{encoder}: from the source’s model to the bilingual one the score on the {language} goes from "
            f"{bounded(means[0.0], 100)}% of the bilingual model’s to {end}%, and rises by ",
            Claim(rise(curve)),
            f". It lies between {min(levels):.1f} and {max(levels):.1f}, and ",
            *_fall(list(within.values())),
        ]


def _fall(values: Sequence[Values]) -> Finding:
    """The largest from one point to the next, held against having been picked; its interval would not be."""
    tables = [table for pair in pairwise(values) if (table := table_over_pairs(subtracted(*pair))) is not None]
    falls = [effect(*table) for table in tables]
    largest = max(falls, key=lambda fall: fall.mean)
    if 100 * largest.mean < 0.05:
        return ["it never falls by 0.05 points or more from one point to the next."]
    p = best_of(tables)[falls.index(largest)]
    return [
        f"its largest fall, of {len(falls)} from one point to the next, is ",
        Claim(largest._replace(p=p, low=None, high=None)),
        ".",
    ]


def _angles_in_words(report: Report) -> Iterator[Finding]:
    """Of models of two languages, and of each of these alone."""
    values: dict[str, dict[str, dict[Run, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in report.rows:
        if row.kind == "angle" and row.part == "all" and len(row.models) == 3:
            origin, *single = row.models
            if TrainedOn.read(origin) == TrainedOn(tuple(single)):
                values[name_of(row)][row.measure][run_of(row)] = row.value
    published = {row.measure: row.value for row in report.rows if row.kind == "angle" and is_published(row)}
    for encoder, measured in values.items():
        angle, ratio = over_pairs(measured["angle"]), over_pairs(measured["norm ratio"])
        if angle and ratio:
            yield [
                f"{encoder}: at the bilingual model, the angle between the directions to the source’s and the target’s "
                f"models is {bounded(angle.interval)} degrees; the source’s model is "
                f"{bounded(ratio.interval, digits=2)} times as far away{_beside(published)}."
            ]


def _beside(published: Mapping[str, float]) -> str:
    if not {"angle", "norm ratio"} <= published.keys():
        return ""
    return f" (published: around {published['angle']:g} degrees, and near {published['norm ratio']:g})"


def _flatter(measured: Sequence[Flatness]) -> Iterator[Finding]:
    """Every two encoders compared."""
    for first, second in combinations(dict.fromkeys(flatness.encoder for flatness in measured), 2):
        for language in ROLES:
            difference = compare_flatness(measured, first, second, language)
            if difference and difference.mean < 0:
                first, second = second, first
                difference = compare_flatness(measured, first, second, language)
            if difference:
                yield [
                    f"That {first} is flatter than {second} on the {language}, keeping {1 - DROP:.0%} of the score "
                    "over more of α (paired by task, pair and seed): ",
                    Claim(difference, 1, "", 2),
                    ".",
                ]


def _few_shot_in_words(few_shot: FewShot) -> Finding:
    return [
        f"{few_shot.encoder}, {title_of(few_shot.task)}, {few_shot.shots} examples of the target: over zero-shot, "
        "choosing a point on the line gains ",
        Claim(few_shot.chosen),
        ", training on them ",
        Claim(few_shot.tuned),
        "; the first minus the second is ",
        Claim(few_shot.chosen_against_tuned),
        ".",
    ]


def _seeds_in_words(seed_mean: SeedMean) -> Finding:
    return [
        f"{seed_mean.encoder}, {title_of(seed_mean.task)}, {seed_mean.split}: the mean of {seed_mean.models} seeds’ "
        f"models gains {_signed(seed_mean.targets)} points over single ones on other languages, "
        f"{_signed(seed_mean.source)} on the source; the barrier between seeds is {seed_mean.barrier:.3f} nats. "
        "The mean of two gains ",
        Claim(seed_mean.halfway),
        " on other languages; its loss is above the mean of theirs by ",
        Claim(seed_mean.loss, 1, " nats", 3),
        ".",
    ]


def _signed(gain: float) -> str:
    return minus(f"{100 * gain:+.1f}")
