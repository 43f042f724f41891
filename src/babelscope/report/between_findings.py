"""What the models between tuned ones say, in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from babelscope.report.between import DROP, Between, Flatness, Place, compare_flatness, name_of
from babelscope.report.gains import FewShot, SeedMean, few_shots, seed_means
from babelscope.report.model import Report, title_of
from babelscope.statistics import Interval, student_t_interval


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
        least, most = min(values), max(values)
        fall = max(0.0, *(before - after for before, after in pairwise(values)))
        start = curve[0.0]
        bounds = "" if start.low is None or start.high is None else f" [{100 * start.low:.1f}, {100 * start.high:.1f}]"
        yield (
            f"{encoder}: from the source’s model to the bilingual one the score on the {language} goes from "
            f"{100 * start.mean:.1f}%{bounds} of the bilingual model’s to 100%; it lies between {100 * least:.1f} and "
            f"{100 * most:.1f}, and {_fall(100 * fall)}."
        )


def _fall(points: float) -> str:
    if points < 0.05:
        return "it never falls from one point to the next"
    return f"falls by {points:.1f} points at most from one point to the next"


def _angles_in_words(report: Report) -> Iterator[str]:
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in report.rows:
        if row.measure in ("angle", "norm ratio") and row.dataset == "all":
            values[name_of(row)][row.measure].append(row.value)
    for encoder, found in values.items():
        angle, ratio = student_t_interval(found["angle"]), student_t_interval(found["norm ratio"])
        yield (
            f"{encoder}: seen from the bilingual model, the ways to the source’s and the target’s differ by "
            f"{_number(angle, 1)} degrees, and the first is {_number(ratio, 2)} times as long."
        )


def _flatter(found: Sequence[Flatness]) -> Iterator[str]:
    """Every two encoders compared."""
    for first, second in combinations(dict.fromkeys(one.encoder for one in found), 2):
        for language in ("source", "target"):
            difference = compare_flatness(found, first, second, language)
            if difference is None:
                continue
            if not difference.sign:
                verdict = "the data do not say which is flatter"
            else:
                verdict = f"{first if difference.sign > 0 else second} is flatter"
            yield (
                f"On the {language}, {verdict}: {first} keeps {1 - DROP:.0%} of the score over "
                f"{_number(difference, 2)} more of α than {second} (paired over {difference.n} tasks and pairs)."
            )


def _few_shot_in_words(one: FewShot) -> str:
    better = one.chosen_against_tuned
    if not better.sign:
        verdict = "which of the two is better does not show"
    else:
        verdict = f"{'the first' if better.sign > 0 else 'the second'} is better"
    return (
        f"{one.encoder}, {title_of(one.task)}, {one.shots} examples of the target: choosing a point on the line gains "
        f"{_number(one.chosen, 1, 100)} points over zero-shot, training on them {_number(one.tuned, 1, 100)}; "
        f"{verdict} (difference {_number(better, 1, 100)})."
    )


def _seeds_in_words(one: SeedMean) -> str:
    return (
        f"{one.encoder}, {title_of(one.task)}: the mean of {one.models} seeds’ models gains "
        f"{_number(one.targets, 1, 100)} points over single ones on other languages, {_signed(100 * one.source)} on "
        f"the source; the barrier between seeds is {_number(one.barrier, 3)} nats."
    )


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")


def _number(interval: Interval, digits: int, factor: float = 1.0) -> str:
    """`55.1 [54.0, 56.2]`."""
    bounds = (interval.low, interval.high)
    text = f"{interval.mean * factor:.{digits}f}"
    if None not in bounds:
        text += f" [{(interval.low or 0.0) * factor:.{digits}f}, {(interval.high or 0.0) * factor:.{digits}f}]"
    return text.replace("-", "−")
