"""Tables and sentences of how alike languages are in each layer, and of how that goes with transfer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from babelscope.core.inference import effect, holm
from babelscope.core.intervals import student_t_interval
from babelscope.core.row import Row
from babelscope.core.words import listed
from babelscope.report.judged import among, said
from babelscope.report.model import Report
from babelscope.report.score import title_of
from babelscope.report.sections.alignment.alignments import (
    Alignment,
    Correlation,
    Stage,
    alignments,
    charted,
    gaps,
    published_correlations,
    source_titles,
    stage_titles,
)
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.report.words import bounded, chance_of, minus

SIGN = (
    "X-Gap is the score in the language of the training minus that in the target: the larger, the worse a task carries "
    "over. The correlation is of the similarity with minus the X-Gap, so that it has the sign of the published ones: "
    "positive where the more alike languages have the smaller gap."
)
EXCHANGED = (
    "Verdicts at 5%, corrected for the number of these correlations (Holm); p, before that, is of exchanging languages "
    "as if they were not related, so that it may be too small. Of single layers the extremes are picked, and stand "
    "without intervals."
)
RELATED = (
    "95%: BCa bootstrap over target languages, of each the mean over seeds; the languages are few and related, so that "
    "the intervals are rough, and narrower than they should be."
)


def aligned_tables(report: Report, related: Sequence[Correlation]) -> list[Table]:
    """Where languages are most alike, X-Gaps, and their correlations."""
    aligned = alignments(report)
    if not aligned:
        return []
    tables = [_peaks(report, aligned), _gap_table(report, aligned), _correlation_table(report, related)]
    return [table for table in tables if table.lines]


def aligned_findings(report: Report, related: Sequence[Correlation]) -> list[str]:
    """Where the peaks are before and after tuning, and how similarity and X-Gap go together."""
    aligned = alignments(report)
    shown = charted(aligned)
    first = shown[:1]
    groups: dict[tuple[str, str, str], list[Alignment]] = defaultdict(list)
    for alignment in aligned:
        if alignment.measure in first or (alignment.measure in shown and alignment.unit == "share"):
            groups[alignment.stage.encoder, alignment.source, alignment.measure].append(alignment)
    sentences = [_peaks_in_words(*key, group) for key, group in groups.items()]
    by_stage: dict[tuple[Stage, str, str], list[Correlation]] = defaultdict(list)
    titles = source_titles(related)
    for each in related:
        if each.measure in first:
            by_stage[each.stage, titles[each.stage, each.source], each.measure].append(each)
    published = published_correlations(report)
    verdicts = _verdicts([_over_layers(group) for group in by_stage.values()])
    related_in_words = [
        _correlation_in_words(*key, group, published, verdict)
        for (key, group), verdict in zip(by_stage.items(), verdicts, strict=True)
    ]
    return [*sentences, *related_in_words, SIGN, EXCHANGED] if related_in_words else sentences


def _peaks(report: Report, aligned: Sequence[Alignment]) -> Table:
    lines, titles = [], stage_titles(alignment.stage for alignment in aligned)
    for alignment in aligned:
        at_peak = student_t_interval(list(alignment.mean(alignment.peak).values()))
        ends = (fmean(alignment.mean(layer).values()) for layer in (alignment.layers[0], alignment.layers[-1]))
        peaks = ", ".join(f"{code} {alignment.peak_of(code)}" for code in alignment.values)
        lines.append([
            *map(Cell, (alignment.stage.encoder, alignment.source, alignment.measure, titles[alignment.stage])),
            number_cell(alignment.peak, "d"), number_cell(at_peak.mean, ".3f"), bounds_cell(at_peak, 1),
            number_cell(fmean(fmean(alignment.mean(layer).values()) for layer in alignment.layers), ".3f"),
            *(number_cell(end, ".3f") for end in ends), Cell(peaks),
        ])  # fmt: skip
    note = "Means over target languages; layer 0 is the embeddings. 95%: over seeds, as far as these differ."
    tuned_before = {name for name, made in report.brought_in.items() if made.after_tuning}
    if later := sorted(tuned_before & {alignment.stage.encoder for alignment in aligned}):
        note += f" Into {listed(later)} languages are brought after tuning: its layers are measured before it alone."
    headers = [
        "Encoder", "Compared with", "Measure", "When", "Peak (layer)", "There", "95%", "Mean of layers",
        "Lowest layer", "Last layer",
        "Peak by language",
    ]  # fmt: skip
    return Table("Where languages are most alike", headers, lines, note)


def _gap_table(report: Report, aligned: Sequence[Alignment]) -> Table:
    measured = {alignment.stage for alignment in aligned}
    shown = [gap for gap in gaps(report) if gap.stage in measured or gap.stage.encoder.startswith("published")]
    lines = [
        [
            Cell(title_of(gap.stage.task)), Cell(_name(gap.stage)), Cell(gap.stage.training), Cell(gap.place),
            *gap.shown.cells(effect(*gap.samples.known).interval, ".2f"),
        ]
        for gap in shown
    ]  # fmt: skip
    note = "Score in the language of the training minus that in the target, in points; 95% over seeds and, as far "
    note += "as they are known, sentences; none of one number, as of what was published. Of perplexities: how many "
    note += "times as high as in the language of the training, by geometric means; they are per token, of which one "
    note += "language needs more than another for the same text."
    headers = ["Task", "Encoder", "Trained on", "Target", "X-Gap", "95%"]
    return Table("X-Gap", headers, lines, note, [gap.keys for gap in shown])


def _correlation_table(report: Report, related: Sequence[Correlation]) -> Table:
    several = any(source_titles(related).values())
    lines = [
        [
            Cell(title_of(correlation.stage.task)), Cell(_name(correlation.stage)), Cell(correlation.stage.training),
            *([Cell(correlation.source)] if several else []), Cell(correlation.measure),
            Cell("mean") if correlation.layer is None else number_cell(correlation.layer, "d"),
            number_cell(correlation.interval.mean, ".2f"), bounds_cell(correlation.interval, 1),
            Cell("") if correlation.p is None else number_cell(correlation.p, ".3f"),
            number_cell(correlation.interval.n, "d"),
        ]
        for correlation in related
    ]  # fmt: skip
    published = [
        [
            Cell(title_of(row.task or "")), Cell(row.encoder or ""), Cell(row.train_languages or ""),
            *([Cell("")] if several else []), Cell("CKA"),
            Cell(""), number_cell(row.value, ".2f"), Cell(""), Cell(""), Cell(""),
        ]
        for row in published_correlations(report)
    ]  # fmt: skip
    headers = ["Task", "Encoder", "Trained on", *(["Compared with"] if several else []), "Measure", "Layer"]
    headers += ["Spearman’s ρ", "95%", "p", "Languages"]
    title = "Does a task carry over further where languages are more alike?"
    return Table(title, headers, [*published, *lines] if lines else [], f"{SIGN} {RELATED}")


def _peaks_in_words(encoder: str, source: str, measure: str, group: Sequence[Alignment]) -> str:
    counts, titles = [len(each.languages) for each in group], stage_titles(alignment.stage for alignment in group)
    over = [f"; {_mean_over(count)}" if len(set(counts)) > 1 else "" for count in counts]
    stages = [
        f"{titles[each.stage]} in layer {each.peak} ({_at_peak(each)}{told})"
        for each, told in zip(group, over, strict=True)
    ]
    what = f"{measure} with {source}" if source else measure
    mean = f", {_mean_over(counts[0])}," if len(set(counts)) == 1 else ""
    return f"{encoder}: {what}{mean} is highest {'; '.join(stages)}; layer 0 is the embeddings."


def _mean_over(count: int) -> str:
    return f"mean over {count} languages" if count > 1 else "one language"


def _at_peak(alignment: Alignment) -> str:
    value, last = (fmean(alignment.mean(layer).values()) for layer in (alignment.peak, alignment.layers[-1]))
    return minus(f"{value:.2f}; {last:.2f} in the last")


def _over_layers(group: Sequence[Correlation]) -> Correlation:
    """Of the mean over layers; the highest of a layer where that is not known."""
    return max(group, key=lambda correlation: (correlation.layer is None, correlation.interval.mean))


def _correlation_in_words(
    stage: Stage, source: str, measure: str, group: Sequence[Correlation], published: Sequence[Row], verdict: str
) -> str:
    layers = [correlation for correlation in group if correlation.layer is not None]
    least, most = (pick(layers, key=lambda correlation: correlation.interval.mean) for pick in (min, max))
    over = _over_layers(group)
    beside = [f"{row.value:.2f}" for row in published if row.task == stage.task]
    lowest, highest = (minus(f"{each.interval.mean:.2f} (layer {each.layer})") for each in (least, most))
    compared = f", compared with {source}" if source else ""
    text = (
        f"{title_of(stage.task)}, {_name(stage)}, trained on {stage.training}{compared}: Spearman’s correlation of "
        f"{measure} with minus the X-Gap, over {over.interval.n} target languages, is "
        f"{bounded(over.interval, digits=2)} for the mean over layers, and between {lowest} and {highest} in single "
        f"ones; {verdict}"
    )
    return f"{text} (published of mBERT: {', '.join(beside)})." if beside else f"{text}."


def _verdicts(correlations: Sequence[Correlation]) -> list[str]:
    """Of all of them as one family (Holm 1979)."""
    p_values = {str(k): each.p for k, each in enumerate(correlations) if each.p is not None}
    adjusted = holm(p_values)
    return [_said(each, adjusted.get(str(k)), len(p_values)) for k, each in enumerate(correlations)]


def _said(over: Correlation, p: float | None, claims: int) -> str:
    """The verdict by an adjusted p-value, among so many claims."""
    if p is None or over.p is None:
        return "how sure that is cannot be said"
    verdict = among(said(over.interval.mean, p), over.p, claims)
    return f"that the more alike languages have the smaller gap: {verdict} ({chance_of(over.p)})"


def _name(stage: Stage) -> str:
    return ", ".join(filter(None, [stage.encoder, stage.schedule]))
