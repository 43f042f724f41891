"""The effects that a study looks for, as the top of a page tells and shows them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import altair as alt
import pandas as pd

from babelscope.core.inference import FEWEST_SEEDS
from babelscope.report.figures import Chart, Figure, within
from babelscope.report.judged import Verdict
from babelscope.report.score import scale, title_of
from babelscope.report.sections.effect_line import Line
from babelscope.report.words import capitalised, counted, direction

CLAIMS = 3
"""As many are told at the top of a page; the section has them all."""
MOST = 40
"""Lines of a chart."""
CAPTION = "Each difference that the study looks for{}; above 0 the first is better. {}"
SHOWING = "Filled: it shows, on either side. Hollow: undecided."
RATIOS = " Perplexities are not here: their differences are ratios, in the table."
WITHIN = " Where the claim is that two are as good as each other, filled: they differ by less than its margin."


def effect_answer(lines: Sequence[Line]) -> list[str]:
    """The first claims: the verdict, how large the difference is, and in how many languages it has which sign."""
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in (line for line in lines if line.is_claim):
        groups[line.contrast.claim].append(line)
    several = len({line.scope for group in groups.values() for line in group}) > 1
    told = [f"{capitalised(claim)}: {_told(group, several)}." for claim, group in list(groups.items())[:CLAIMS]]
    if len(groups) > CLAIMS:
        told.append(f"The verdicts on {counted(len(groups) - CLAIMS, 'more claim')} are below.")
    return told


def _told(group: Sequence[Line], several: bool) -> str:
    """Of the pairs of a claim the first two."""
    parts = [_line(line, several) for line in group[:2]]
    return "; ".join([*parts, *([f"and {counted(len(group) - 2, 'more pair')} below"] if len(group) > 2 else [])])


def _line(line: Line, several: bool) -> str:
    size = f", {line.shown.in_words(line.size)}" if line.size else ""
    margin = f" within {line.shown.margin_in_words(line.contrast.margin)}" if line.contrast.margin else ""
    where = f" on {line.scope}" if several or line.within or line.lacking else ""
    means = list(line.compared.in_each.values())
    told = len(means) > 1 and not line.margin
    signs = f", {direction(means, 'better', 'worse')}{_beyond_chance(line)}" if told else ""
    return f"{_verdict(line)} for {line.against}{margin}{where}{size}{signs}"


def _beyond_chance(line: Line) -> str:
    """In how many languages the difference shows by itself, where it is known and not in all of them."""
    each = [found.interval for found in line.compared.effects.values()]
    if not line.verdict.sign or any(interval.low is None for interval in each):
        return ""
    beyond = sum(bool(interval.sign) for interval in each)
    return (
        "" if beyond == len(each) else f", of these in {counted(beyond) if beyond else 'none'} beyond chance by itself"
    )


def _verdict(line: Line) -> str:
    if line.verdict is Verdict.TOO_FEW and line.effect:
        return f"undecided, {counted(line.effect.seeds, 'seed')} where {counted(FEWEST_SEEDS)} are needed,"
    return "undecided, does not show," if line.verdict is Verdict.UNSEEN else line.verdict


def effect_figures(lines: Sequence[Line]) -> list[Figure]:
    """A chart of the claims whose difference is known and no ratio."""
    claims = [line for line in lines if line.is_claim and line.effect]
    shown = [line for line in claims if not line.shown.as_ratio][:MOST]
    known = any(line.effect.low is not None for line in shown if line.effect)
    caption = CAPTION.format(*((", with its 95% interval", SHOWING) if known else ("", "There are no intervals yet.")))
    caption += WITHIN if any(line.contrast.margin for line in shown) else ""
    caption += RATIOS if any(line.shown.as_ratio for line in claims) else ""
    several = len({line.scope for line in claims}) > 1
    return [Figure("What is looked for", caption, _chart(shown, several), "claims")] if shown else []


def _compared(line: Line, several: bool) -> str:
    return f"{line.between}, {line.scope}" if several else line.between


def _named(line: Line, pairs: bool, several: bool) -> str:
    """The claim, and below it what would not be known else: which pair, or on which task."""
    below = _compared(line, several) if pairs else line.scope if several else ""
    return "\n".join(filter(None, [line.contrast.claim, below]))


def _interval(line: Line) -> dict[str, float | None]:
    ends = {end: getattr(line.effect.interval, end) if line.effect else None for end in ("mean", "low", "high")}
    return {end: None if value is None else scale(line.shown.unit)[0] * value for end, value in ends.items()}


def _chart(lines: Sequence[Line], several: bool) -> Chart:
    claims = Counter(line.contrast.claim for line in lines)
    table = pd.DataFrame(
        {
            "claim": _named(line, claims[line.contrast.claim] > 1, several),
            "task": title_of(line.setting.task) if line.setting.task else None,
            "difference": _compared(line, several),
            "verdict": str(line.verdict),
            "shows": bool(line.verdict.sign),
            **_interval(line),
        }
        for line in lines
    )
    ends = table[["mean", "low", "high"]].to_numpy(dtype=float).ravel()
    limits = within(lines[0].shown.unit, [0.0, *ends], differences=True)
    numbers = [alt.Tooltip(f"{end}:Q", format="+.2f") for end in ("mean", "low", "high")]
    order = list(dict.fromkeys(table["claim"]))
    # A claim on several pairs names the pair below it.
    axis = alt.Axis(labelLimit=360, labelExpr="split(datum.label, '\\n')", tickBand="extent", grid=True)
    base = alt.Chart(table).encode(
        y=alt.Y("claim:N", title=None, sort=order, axis=axis),
        tooltip=["claim", "difference", "verdict", *numbers],
    )
    zero = alt.Chart(pd.DataFrame({"mean": [0]})).mark_rule(strokeDash=[3, 3], opacity=0.6).encode(x="mean:Q")
    known = table.dropna(subset=["low", "high"])
    bars = base.properties(data=known).mark_rule(strokeWidth=1.5, clip=True).encode(x="low:Q", x2="high:Q")
    fill = alt.condition("datum.shows", alt.value("currentColor"), alt.value("transparent"))
    points = base.mark_point(size=60, strokeWidth=1.5, stroke="currentColor", opacity=1).encode(
        x=alt.X("mean:Q", title="Difference (points)", scale=limits), fill=fill
    )
    layers = [zero, bars, points] if len(known) else [zero, points]
    line = 34 if several or max(claims.values()) > 1 else 26
    return alt.layer(*layers).properties(width="container", height=max(60, line * len(order)))
