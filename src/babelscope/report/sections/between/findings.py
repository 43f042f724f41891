"""What the models between tuned ones say, in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from babelscope.core.intervals import Interval, student_t_interval
from babelscope.core.training import TrainedOn
from babelscope.report.model import Report, title_of
from babelscope.report.published import is_published
from babelscope.report.sections.between.gains import FewShot, SeedMean, few_shots, seed_means
from babelscope.report.sections.between.lines import DROP, Between, Flatness, Place, compare_flatness, name_of
from babelscope.report.words import bounded, minus


def between_findings(report: Report, between: Between) -> list[str]:
    """What the lines say, in words."""
    means = between.means()
    encoders = dict.fromkeys(place.encoder for place in means)
    return [
        *(sentence for encoder in encoders for sentence in _rise(means, encoder)),
        *_angles_in_words(report),
        *_flatter(between.flatness()),
        *map(_few_shot_in_words, few_shots(report, between)),
        *map(_seeds_in_words, seed_means(report, between)),
    ]


def _rise(means: Mapping[Place, Interval], encoder: str) -> Iterator[str]:
    """How the source's and the target's mean scores change from the source's model to that of both."""
    for language in ("source", "target"):
        curve = {
            place.alpha: interval
            for place, interval in means.items()
            if (place.encoder, place.origin, place.language) == (encoder, "source", language) and 0 <= place.alpha <= 1
        }
        if 0.0 not in curve or 1.0 not in curve:
            continue
        values = [curve[alpha].mean for alpha in sorted(curve)]
        end = "100" if curve[1.0].mean == 1 else bounded(curve[1.0], 100)  # a part alone does not get there
        least, most = min(values), max(values)
        fall = max(0.0, *(before - after for before, after in pairwise(values)))
        yield (
            f"{encoder}: from the source’s model to the bilingual one the score on the {language} goes from "
            f"{bounded(curve[0.0], 100)}% of the bilingual model’s to {end}%; it lies between {100 * least:.1f} and "
            f"{100 * most:.1f}, and {_fall(100 * fall)}."
        )


def _fall(points: float) -> str:
    if points < 0.05:
        return "it never falls by 0.05 points or more from one point to the next"
    return f"falls by {points:.1f} points at most from one point to the next"


def _angles_in_words(report: Report) -> Iterator[str]:
    """Of models of two languages, and of each of these alone."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in report.rows:
        if row.kind == "angle" and row.part == "all" and len(row.models) == 3:
            origin, *single = row.models
            if TrainedOn.read(origin) == TrainedOn(tuple(single)):
                values[name_of(row)][row.measure].append(row.value)
    published = {row.measure: row.value for row in report.rows if row.kind == "angle" and is_published(row)}
    for encoder, measured in values.items():
        angle, ratio = student_t_interval(measured["angle"]), student_t_interval(measured["norm ratio"])
        yield (
            f"{encoder}: at the bilingual model, the angle between the directions to the source’s and the target’s "
            f"models is {bounded(angle)} degrees; the source’s model is {bounded(ratio, digits=2)} times as far away"
            f"{_beside(published)}."
        )


def _beside(published: Mapping[str, float]) -> str:
    if not {"angle", "norm ratio"} <= published.keys():
        return ""
    return f" (published: around {published['angle']:g} degrees, and near {published['norm ratio']:g})"


def _flatter(measured: Sequence[Flatness]) -> Iterator[str]:
    """Every two encoders compared."""
    for first, second in combinations(dict.fromkeys(flatness.encoder for flatness in measured), 2):
        for language in ("source", "target"):
            difference = compare_flatness(measured, first, second, language)
            if difference is None:
                continue
            flatter, sharper = (second, first) if difference.mean < 0 else (first, second)
            verdict = f"{flatter} is flatter" if difference.sign else "the data do not say which is flatter"
            yield (
                f"On the {language}, {verdict}: {flatter} keeps {1 - DROP:.0%} of the score over "
                f"{bounded(_upright(difference), digits=2)} more of α than {sharper} (paired by task and pair, "
                f"n = {difference.n})."
            )


def _few_shot_in_words(few_shot: FewShot) -> str:
    better = few_shot.chosen_against_tuned
    if not better.sign:
        verdict = "which of the two is better does not show"
    else:
        verdict = f"{'the first' if better.sign > 0 else 'the second'} is better"
    return (
        f"{few_shot.encoder}, {title_of(few_shot.task)}, {few_shot.shots} examples of the target: "
        f"choosing a point on the line {_gain(few_shot.chosen)} over zero-shot, "
        f"training on them {_gain(few_shot.tuned)}; {verdict} (difference {bounded(better, 100)})."
    )


def _seeds_in_words(seed_mean: SeedMean) -> str:
    return (
        f"{seed_mean.encoder}, {title_of(seed_mean.task)}, {seed_mean.split}: "
        f"the mean of {seed_mean.models} seeds’ models {_gain(seed_mean.targets)} over single ones on other languages, "
        f"{_signed(100 * seed_mean.source)} on the source; the "
        f"barrier between seeds is {bounded(seed_mean.barrier, digits=3)} nats."
    )


def _gain(points: Interval) -> str:
    """`gains 5.0 [4.0, 6.0] points`, or loses them."""
    return f"{'loses' if points.mean < 0 else 'gains'} {bounded(_upright(points), 100)} points"


def _upright(interval: Interval) -> Interval:
    """The same with the sign turned if its mean is negative."""
    if interval.mean >= 0:
        return interval
    low, high = (None if bound is None else -bound for bound in (interval.high, interval.low))
    return replace(interval, mean=-interval.mean, low=low, high=high)


def _signed(value: float) -> str:
    return minus(f"{value:+.1f}")
