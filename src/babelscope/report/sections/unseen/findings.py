"""Verdicts, and what other letters give, as sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from babelscope.corpora.letters import split_name
from babelscope.report.judged import Verdict
from babelscope.report.model import Report
from babelscope.report.score import title_of
from babelscope.report.sections.unseen.gains import Case, Gain, Gains, label, sentences_in_words, verdicts
from babelscope.report.words import in_points, minus
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM, above, against_chance, by_letters

_OF_LETTERS = (by_letters(AS_IT_IS), by_letters(AS_IT_IS, permuted=True), against_chance(AS_IT_IS))
"""Claims about other letters."""
_GAINS = {Verdict.SHOWS: "a gain of", Verdict.REVERSED: "a loss of", Verdict.UNSEEN: "nothing that shows,"}


def unseen_findings(report: Report, compared: Gains) -> list[str]:
    """The verdicts, and what other letters give, in words."""
    return [*_verdicts_in_words(report, compared), *_letters_in_words(report, compared)]


def _verdicts_in_words(report: Report, compared: Gains) -> list[str]:
    groups: dict[tuple[str, int], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for case, decided in verdicts(compared).items():
        groups[case.task, case.shots][decided].append(f"{label(report, case)}{_over_bilstm(compared[case])}")
    return [
        f"{title_of(task)}, {sentences_in_words(shots)}, points over the BiLSTM: {decided}: {'; '.join(named)}."
        for (task, shots), by_verdict in groups.items()
        for decided, named in sorted(by_verdict.items())
    ]


def _over_bilstm(by_claim: Mapping[str, Gain]) -> str:
    """` (as it is −8.8, adapted −8.1)`: the gains that decide."""
    deciding = {recipe: by_claim.get(above(recipe, BILSTM)) for recipe in (AS_IT_IS, ADAPTED)}
    points = [minus(f"{recipe} {100 * gain.interval.mean:+.1f}") for recipe, gain in deciding.items() if gain]
    return f" ({', '.join(points)})" if points else ""


def _letters_in_words(report: Report, compared: Gains) -> list[str]:
    """Of the encoder as it is, where it gains most clearly: without labelled sentences, or with the fewest."""
    lines = []
    fewest: dict[tuple[str, str], Case] = {}
    for case in sorted(compared, key=lambda case: case.shots):
        if split_name(case.language)[1]:
            fewest.setdefault((case.task, case.language), case)
    for case in fewest.values():
        for claim, gain in compared[case].items():
            if claim in _OF_LETTERS:
                kind = claim.removesuffix(f", {AS_IT_IS}")
                shown = _GAINS.get(gain.verdict, f"{gain.verdict},")
                points = in_points(gain.interval.negative if gain.verdict.sign == -1 else gain.interval)
                where = f"{title_of(case.task)}, {label(report, case)}, {sentences_in_words(case.shots)}"
                lines.append(f"{where}: {kind}: {shown} {points}.")
    return lines
