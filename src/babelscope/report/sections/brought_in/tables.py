"""Tables and sentences of languages that are brought in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from babelscope.core.intervals import Interval
from babelscope.core.languages import UNSPACED, script_of
from babelscope.core.row import Row
from babelscope.corpora.letters import split_name
from babelscope.report.judged import chance
from babelscope.report.model import Report
from babelscope.report.paired import level
from babelscope.report.score import scale, section_title
from babelscope.report.sections.brought_in.gains import PAIRS, Gain, recipe
from babelscope.report.shown import RATIOS
from babelscope.report.tables import Cell, Table, keys_of, number_cell, without_empty

ERROR_RATE = "alignment error rate"
FERTILITY = "fertility"
"""Pieces for what stands between two spaces."""
COLUMNS = {
    PAIRS: ("Pairs", 1, ",.0f"),
    "own pieces": ("Own pieces", 1, ",.0f"),
    "linked pieces": ("Linked (%)", 100, ".1f"),
    FERTILITY: ("Pieces a word", 1, ".2f"),
    ERROR_RATE: ("Error rate (%)", 100, ".1f"),
    "alignment precision": ("Precision (%)", 100, ".1f"),
    "alignment recall": ("Recall (%)", 100, ".1f"),
}
"""Measure -> header, factor and format."""


def findings(report: Report, judged: Sequence[Gain], rows: Sequence[Row]) -> list[str]:
    """What the usual recipe gains by every number of sentences, and how good the alignments are."""
    usual = [gain for gain in judged if not recipe(report.brought_in[gain.score.encoder])]
    groups: dict[tuple[str, str], list[Gain]] = defaultdict(list)
    for gain in usual or judged:
        groups[section_title([gain.score]), gain.score.condition].append(gain)
    lines = [_gains_in_words(*named, group) for named, group in groups.items()]
    return [*lines, *_errors_in_words(report, rows)]


def _gains_in_words(title: str, condition: str, group: Sequence[Gain]) -> str:
    said = "; ".join(f"{gain.score.place}: {_size(gain)}, {gain.verdict}" for gain in group)
    return f"{title}, what {condition} gains over {group[0].reference.condition}: {said}."


def _size(gain: Gain) -> str:
    return gain.shown.in_words(gain.better) if gain.better else "not known yet"


def _errors_in_words(report: Report, rows: Sequence[Row]) -> list[str]:
    """Of encoders that are declared to learn their links."""
    learnt = {name for name, made in report.brought_in.items() if not made.known}
    rates = [row.value for row in rows if row.measure == ERROR_RATE and row.encoder in learnt]
    if not rates:
        return []
    return [f"The links that are learnt have alignment error rates from {min(rates):.1%} to {max(rates):.1%}."]


def gain_tables(report: Report, judged: Sequence[Gain]) -> list[Table]:
    """A table a task: a line for every language and encoder."""
    groups: dict[str, list[Gain]] = defaultdict(list)
    for gain in judged:
        groups[section_title([gain.score])].append(gain)
    return [_gain_table(report, title, group) for title, group in groups.items()]


def _gain_table(report: Report, title: str, group: Sequence[Gain]) -> Table:
    shown = group[0].shown
    lines = []
    for gain in group:
        levels = [level(report, score, gain.shown.per) for score in (gain.reference, gain.score)]
        means = [_mean(known, gain) for known in levels]
        better = gain.shown.cell(gain.better, "+.1f")
        lines.append([Cell(gain.score.place), Cell(gain.score.condition), *means, better, Cell(gain.verdict)])
    keys = [[*gain.reference.keys, *gain.score.keys] for gain in group]
    size = "Ratio" if shown.as_ratio else f"Gain{f' ({shown.unit_in_words})' if shown.unit_in_words else ''}"
    headers = ["Language", "Encoder", "As it is", "Brought in", size, "Verdict"]
    note = (
        "Against the encoder as it is, on the same sentences. Intervals over "
        f"{chance([gain.effect for gain in group])}, of three seeds or more; verdicts at 5%, corrected for the number "
        "of lines (Benjamini and Hochberg). A language is brought in once, by the first sentences of its text: "
        "intervals say nothing of other sentences."
    )
    return Table(f"What languages gain: {title}", headers, lines, f"{note} {RATIOS}" if shown.as_ratio else note, keys)


def _mean(known: Interval, gain: Gain) -> Cell:
    return number_cell(known.mean * scale(gain.score.unit)[0], ".3f" if gain.shown.per else ".1f")


def alignment_table(report: Report, rows: Sequence[Row]) -> Table:
    """A line an alignment, by the encoders that it brings the language into."""
    alignments: dict[tuple[str, str], dict[str, Mapping[str, float]]] = defaultdict(dict)
    for row in rows:
        by_encoder = alignments[row.language or "", row.key or row.encoder or ""]
        by_encoder[row.encoder or ""] = {**by_encoder.get(row.encoder or "", {}), row.measure: row.value}
    order = {code: place for place, code in enumerate(report.labels)}
    by_language = sorted(alignments.items(), key=lambda item: order.get(item[0][0], len(order)))
    lines = [
        [
            Cell(report.labels.get(language, language)), Cell(_named(list(by_encoder))),
            *_numbers(language, next(iter(by_encoder.values()))),
        ]
        for (language, _), by_encoder in by_language
    ]  # fmt: skip
    headers = ["Language", "Encoder", *(header for header, _, _ in COLUMNS.values())]
    note = (
        "Encoders that differ in what embeddings are made of, or are trained further, share an alignment. Own pieces: "
        "those of the language’s own vocabulary. Linked: the share of them that translate some piece of the encoder. "
        "Pieces a word: none of languages that are written without spaces between words. "
        "Error rate, precision and recall are between words, against the links that the world knows (Och and Ney "
        "2003); of real text none are known."
    )
    known = set(keys_of(rows))
    keys = [[key for key in (key,) if key in known] for (_, key), _ in by_language]
    return Table("Vocabularies and alignments", *without_empty(headers, lines), note, keys)


def _named(encoders: Sequence[str]) -> str:
    """The first, and how many share its alignment."""
    return encoders[0] if len(encoders) == 1 else f"{encoders[0]} and {len(encoders) - 1} more"


def _numbers(language: str, measured: Mapping[str, float]) -> list[Cell]:
    unspaced = script_of(split_name(language)[0]) in UNSPACED
    known = {measure: value for measure, value in measured.items() if not (unspaced and measure == FERTILITY)}
    return [
        number_cell(known[measure] * factor if measure in known else None, form)
        for measure, (_, factor, form) in COLUMNS.items()
    ]
