"""What drawing the lowest layers anew costs the others and the source, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from babelscope.core.inference import FEWEST_SEEDS, Effect
from babelscope.core.intervals import ratio_interval
from babelscope.core.scores import MEASURES
from babelscope.report.judged import Verdict, judged
from babelscope.report.model import Report
from babelscope.report.paired import BySeed
from babelscope.report.score import title_of
from babelscope.report.sections.redrawn_layers.reinitialised import Layers, Reinitialised, numbers_of, reinitialised
from babelscope.report.shown import Shown
from babelscope.report.words import minus


def reinitialised_findings(report: Report) -> list[str]:
    """How many times what it costs the source the lowest layers cost the others, and what the highest cost these.

    What is said to show is one family of claims (Holm 1979), of an unfinished study with those that are to come.
    """
    known = _known(report)
    ahead = report.planned if known else None
    family = sum(len(costs.claims) for _, costs in _known(ahead)) if ahead else 0
    verdicts = iter(judged([claim for _, costs in known for claim in costs.claims], family=family))
    return [_in_words(redrawn, costs, [next(verdicts) for _ in costs.claims]) for redrawn, costs in known]


class Costs(NamedTuple):
    """What drawing the lowest layers anew costs, and the highest."""

    foreign: Effect
    source: Effect
    by_seed: tuple[BySeed, BySeed]
    """The same, foreign and source, seed by seed."""
    claims: Sequence[Effect | None]
    """How much more the others lose by the lowest than the source; and, if there are more, what they lose by the
    highest."""


def _known(report: Report) -> list[tuple[Reinitialised, Costs]]:
    return [(redrawn, costs) for redrawn in reinitialised(report) if (costs := _costs(redrawn))]


def _costs(redrawn: Reinitialised) -> Costs | None:
    """None where the cost is not known on both sides."""
    lowest, highest = redrawn.layers[0], redrawn.layers[-1]
    foreign, source = (redrawn.loss(lowest, places) for places in (redrawn.foreign, redrawn.sources))
    means = [redrawn.mean_loss(lowest, places) for places in (redrawn.foreign, redrawn.sources)]
    if foreign is None or source is None:
        return None
    others, own = (mean.by_seed or {0: mean.mean} for mean in means if mean)
    claims = [redrawn.more(lowest)]
    if highest != lowest:
        claims.append(redrawn.loss(highest, redrawn.foreign))
    return Costs(foreign, source, (others, own), claims)


def _in_words(redrawn: Reinitialised, costs: Costs, verdicts: Sequence[Verdict]) -> str:
    training, measure = redrawn.first.training or "", MEASURES[redrawn.first.measure].name
    more, *rest = costs.claims
    size = f" (by {_points(redrawn, more)})" if more and more.known else ""
    text = (
        f"{title_of(redrawn.first.task)}, {redrawn.encoder}, trained on {training}: "
        f"drawing {_named(redrawn.layers[0])} anew costs {_others(redrawn)} {_points(redrawn, costs.foreign)} of "
        f"{measure}, and {training} {_points(redrawn, costs.source)}; {_ratio(redrawn, *costs.by_seed)}. "
        f"That the others lose more: {verdicts[0]}{size}."
    )
    return text + "".join(_highest(redrawn, cost, said) for cost, said in zip(rest, verdicts[1:], strict=True))


def _ratio(redrawn: Reinitialised, foreign: BySeed, source: BySeed) -> str:
    """How many times as much the others lose, as far as that can be said; of perplexities in loss per token."""
    shared = foreign.keys() & source.keys()
    if not shared or sum(source[seed] for seed in shared) <= 0:
        return "the latter is no loss, so there is no ratio of the two"
    interval = ratio_interval(foreign, source)
    times = minus(f"{interval.mean:.1f} times as much")
    times += " in loss per token" if Shown.of(redrawn.first).as_ratio else ""
    if interval.n < FEWEST_SEEDS:
        return f"{times} (too few seeds for an interval)"
    if interval.low is not None and interval.high is not None:
        low, high = (round(end, 1) + 0.0 for end in (interval.low, interval.high))  # no minus before 0
        return minus(f"{times} [{low:.1f}, {high:.1f}] over seeds")
    return f"{times}, but the ratio has no bounds: what the training language loses is not told from 0"


def _highest(redrawn: Reinitialised, cost: Effect | None, said: Verdict) -> str:
    if cost is None:
        return ""
    what = "the reverse, a gain, shows" if said is Verdict.REVERSED else said
    return f" {_named(redrawn.layers[-1]).capitalize()} cost the others {_points(redrawn, cost)}: {what}."


def _points(redrawn: Reinitialised, cost: Effect) -> str:
    return Shown.of(redrawn.first).in_words(cost.interval)


def _others(redrawn: Reinitialised) -> str:
    count = redrawn.foreign_languages
    return f"the other languages (mean of {count})" if count > 1 else "the other languages"


def _named(layers: Layers) -> str:
    return f"layer{'s' if len(layers) > 1 else ''} {numbers_of(layers)}"
