"""What a report says of differences: one path from scores by seed and sentence to "shows"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from babelscope.core.inference import FEWEST_LANGUAGES, FEWEST_SEEDS, Effect, Known, effect, equivalence, holm
from babelscope.core.samples import Samples, joined, mean_of
from babelscope.study.verdicts import TOO_FEW

LEVEL = 0.05
"""Of a false claim, in a family of claims or of what a table claims."""
Adjust = Callable[[Mapping[str, float]], Mapping[str, float]]


class Verdict(StrEnum):
    """What is said of a difference, as it stands in sentences and tables."""

    SHOWS = "shows"
    REVERSED = "the reverse shows"
    UNSEEN = "does not show"
    TOO_FEW = TOO_FEW
    SAME = "cannot be said: nothing varies"
    UNKNOWN = "cannot be said: fewer than three seeds, or nothing varies"
    NOT_YET = "cannot be said yet"

    @property
    def sign(self) -> int | None:
        """1 where the difference shows, -1 where the reverse does, 0 where neither does; None: it cannot be said."""
        return {Verdict.SHOWS: 1, Verdict.REVERSED: -1, Verdict.UNSEEN: 0}.get(self)


def table_over_places(by_language: Mapping[str, Sequence[Samples]], drawn: int | None = None) -> Known | None:
    """[seeds, sentences, languages], or without the last axis; from the places of each language.

    Three languages or more stand for others, so they are drawn by chance as seeds and sentences are; one or two are
    these alone, also where their spread is known from so few (`drawn`). A language with several data sets counts once.
    None without a seed that all have.
    """
    languages = [mean for places in by_language.values() if (mean := mean_of(places))]
    if len(languages) < len(by_language):
        return None
    if min(len(languages), drawn or len(languages)) >= FEWEST_LANGUAGES:
        table = joined(languages)
        return None if table is None else Known(table, drawn)
    both = mean_of(languages)
    return both.known if both else None


def over_places(by_language: Mapping[str, Sequence[Samples]], drawn: int | None = None) -> Effect | None:
    """The mean over places, by the language of each; None without a seed that all have.

    `drawn` is from how many languages their spread is known, where these are fewer (`drawn_of`).
    """
    known = table_over_places(by_language, drawn)
    return None if known is None else effect(*known)


def judged(
    effects: Sequence[Effect | None], adjust: Adjust = holm, margins: Sequence[float | None] = (), family: int = 0
) -> list[Verdict]:
    """What each of several differences says, their p-values adjusted for one another.

    Args:
        effects: the differences; more is better. None: not known yet.
        adjust: `holm` for a family of claims, `benjamini_hochberg` for a table.
        margins: for each difference, where the claim is that it is smaller than this.
        family: how many they are once all is known: what shows among them shows whatever the others come to.
    """
    wanted = margins or [None] * len(effects)
    p_values = {str(k): p for k, each in enumerate(effects) if (p := p_of(each, wanted[k])) is not None}
    to_come = {f"to come {k}": 1.0 for k in range(family - len(p_values))}
    adjusted = adjust(p_values | to_come)
    return [verdict(each, adjusted.get(str(k)), wanted[k] is not None) for k, each in enumerate(effects)]


def verdict(difference: Effect | None, p: float | None, equal: bool = False) -> Verdict:
    """Whether a difference shows, by its adjusted p-value, and on which side; or, if `equal`, that it is small."""
    if difference is None:
        return Verdict.NOT_YET
    if p is None:
        return why_unknown(difference)
    return said(1.0 if equal else difference.mean, p)


def said(difference: float, p: float) -> Verdict:
    """Whether a difference of that adjusted p-value shows, and on which side."""
    if not p < LEVEL:  # as of NaN
        return Verdict.UNSEEN
    return Verdict.SHOWS if difference > 0 else Verdict.REVERSED


def among(verdict: Verdict, p: float | None, claims: int) -> str:
    """The verdict; where the p-value would be small enough by itself, that it is not among so many claims."""
    by_itself = p is not None and p < LEVEL
    return f"{verdict} among {claims} claims" if by_itself and verdict is Verdict.UNSEEN else verdict


def why_unknown(difference: Effect) -> Verdict:
    """Why a difference has no interval. Tables have no axis of two languages, which are these alone."""
    return Verdict.TOO_FEW if difference.seeds < FEWEST_SEEDS else Verdict.SAME


def chance(differences: Sequence[Effect | None]) -> str:
    """What intervals of a table are over, for its note."""
    known = [each for each in differences if each is not None]
    parts = ["seeds"]
    if any(each.sentences > 1 for each in known):
        parts.append("sentences")
    if any(each.languages > 1 for each in known):
        parts.append("languages")
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def p_of(difference: Effect | None, margin: float | None = None) -> float | None:
    """The p-value of no difference; with a margin that of a difference as large as it. None: it cannot be said."""
    if difference is None:
        return None
    return difference.p if margin is None else equivalence(difference, margin)
