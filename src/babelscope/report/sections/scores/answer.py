"""What the scores of a task come to, in plain sentences for the top of a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from babelscope.core.inference import FEWEST_SEEDS
from babelscope.core.scores import MEASURES
from babelscope.core.words import listed
from babelscope.report.judged import Verdict
from babelscope.report.score import Score, noun_of, scale, title_of
from babelscope.report.sections.scores.findings import Difference
from babelscope.report.shown import Shown
from babelscope.report.words import counted, direction, minus

MOST = 2
"""Conditions that are told one by one; of more only the best and the worst."""


def answer(scores: Sequence[Score], compared: Sequence[Difference]) -> list[str]:
    """How far the task carries over, and against the same encoders untrained; baselines are in the warnings."""
    seeded = [score for score in scores if score.seeds and score.surgery is None] or list(scores)
    by_condition: dict[str, list[Score]] = defaultdict(list)
    for score in seeded:
        by_condition[score.condition].append(score)
    told = dict.fromkeys(difference.score.condition for difference in compared)
    shown = by_condition if len(by_condition) <= MOST else _ends(by_condition)
    sentences = [_level(name, own) for name, own in shown.items()]
    sentences += [_against([d for d in compared if d.score.condition == name]) for name in told if name in shown]
    return sentences


def _ends(by_condition: dict[str, list[Score]]) -> dict[str, list[Score]]:
    """The best and the worst on average, of those that are scored in most places."""
    most = max(map(len, by_condition.values()))
    whole = {name: own for name, own in by_condition.items() if len(own) == most}
    ranked = sorted(whole, key=lambda name: -_mean(_foreign(whole[name])) * whole[name][0].sign)
    return {name: whole[name] for name in dict.fromkeys([ranked[0], ranked[-1]])}


def _foreign(scores: Sequence[Score]) -> Sequence[Score]:
    """In languages that were not trained on; in all of them, where there are no others."""
    return [score for score in scores if not score.is_source] or scores


def _mean(scores: Sequence[Score]) -> float:
    """Over languages; one with several data sets, or in several letters, counts once."""
    mean, by_language = MEASURES[scores[0].measure].mean, defaultdict[str, list[float]](list)
    for score in scores:
        by_language[score.itself].append(score.interval.mean)
    return mean(map(mean, by_language.values()))


def _level(condition: str, scores: Sequence[Score]) -> str:
    foreign = _foreign(scores)
    worst, *_, best = sorted([*foreign, *foreign], key=lambda score: score.sign * score.interval.mean)
    zero_shot = not any(score.is_source for score in foreign)
    where = f"{_counted(foreign)}{' that it was not trained on' if zero_shot else ''}"
    text = f"{title_of(scores[0].task)}: {condition} has {MEASURES[scores[0].measure].name} {_number(foreign)}"
    if len(foreign) == 1:
        return f"{text} in {best.place}."
    ends = f"from {_number([worst])} in {worst.place} to {_number([best])} in {best.place}"
    return f"{text} on average over {where}, {ends}."


def _counted(scores: Sequence[Score]) -> str:
    noun, languages = noun_of(scores), len({score.itself for score in scores})
    return counted(len(scores), noun) + (f" of {counted(languages, 'language')}" if noun != "language" else "")


def _number(scores: Sequence[Score]) -> str:
    factor, symbol = scale(scores[0].unit)
    return minus(f"{factor * _mean(scores):.1f}{symbol if symbol == '%' else ''}")


def _against(own: Sequence[Difference]) -> str:
    """Against the same encoder untrained: in how many languages it is higher and lower, by how much, how sure."""
    shown = Shown.of(own[0].score)
    sizes = [difference.higher.mean for difference in own]
    where = direction(sizes, "higher", "lower", noun_of([difference.score for difference in own]))
    ends = [min(own, key=lambda each: each.higher.mean), max(own, key=lambda each: each.higher.mean)]
    by = " to ".join(dict.fromkeys(shown.cells(each.higher)[0].text for each in ends))
    unit = f" {shown.unit_in_words}".rstrip()
    return f"Against itself untrained, {own[0].score.condition} is {where} ({by}{unit}): {_sureness(own)}."


def _sureness(own: Sequence[Difference]) -> str:
    if all(difference.verdict == Verdict.TOO_FEW for difference in own):
        seeds = min(difference.effect.seeds for difference in own)
        return f"undecided, {counted(seeds, 'seed')} where {counted(FEWEST_SEEDS)} are needed"
    if all(difference.verdict.sign is None for difference in own):
        return f"undecided, {own[0].verdict}"
    showing = [difference for difference in own if difference.verdict.sign]
    open_ones = [difference.score.place for difference in own if not difference.verdict.sign]
    if not showing:
        return "undecided, no difference shows" if len(own) > 1 else "undecided, the difference does not show"
    if not open_ones:
        return "all of these differences show" if len(own) > 1 else "the difference shows"
    show = "shows" if len(showing) == 1 else "show"
    return f"{counted(len(showing))} of these differences {show}, undecided in {listed(open_ones)}"
