"""The sections of a report that some studies have: what they say, show and list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from babelscope.report.aligned import correlations
from babelscope.report.aligned_page import aligned_figures
from babelscope.report.aligned_tables import aligned_findings, aligned_tables
from babelscope.report.between.figures import between_figures
from babelscope.report.between.findings import between_findings
from babelscope.report.between.lines import Between
from babelscope.report.between.tables import between_tables
from babelscope.report.contrasts import effects
from babelscope.report.figures import Chart, Figure
from babelscope.report.findings import claims
from babelscope.report.model import Report
from babelscope.report.probe_page import probe_figures
from babelscope.report.probe_tables import probe_findings, probe_tables
from babelscope.report.reinitialised import reinitialised_findings, reinitialised_tables
from babelscope.report.sweep import likeness_table, sweep_charts, sweep_findings
from babelscope.report.tables import Table, effect_table
from babelscope.report.unseen import gains, unseen_figures, unseen_findings, unseen_tables


@dataclass(frozen=True)
class Section:
    """What a report says about one thing."""

    title: str
    findings: Sequence[str]
    figures: Sequence[Figure]
    tables: Sequence[Table]
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What for -> the shell commands that do it, one a line."""


def special_sections(report: Report) -> list[Section]:
    """What only some studies have, such as probes or sweeps of frozen layers, as far as there is."""
    found = (
        _effects(report), _unseen(report), _probed(report), _swept(report), _reinitialised(report), _aligned(report),
        _between(report),
    )  # fmt: skip
    return [section for section in found if section]


def _effects(report: Report) -> Section | None:
    found = effects(report)
    return Section("What the study looks for", claims(found), [], [effect_table(found)]) if found else None


def _unseen(report: Report) -> Section | None:
    if not (found := gains(report)):
        return None
    parts = unseen_findings(report, found), unseen_figures(report, found), unseen_tables(report, found)
    return Section("Models against each other, sentence by sentence", *parts)


def _probed(report: Report) -> Section | None:
    figures = probe_figures(report)
    return Section("While training", probe_findings(report), figures, probe_tables(report)) if figures else None


def _swept(report: Report) -> Section | None:
    figures = captioned(sweep_charts(report), _SWEEP_CAPTION)
    tables = [table] if (table := likeness_table(report)) else []
    return Section("Freezing the first layers", sweep_findings(report), figures, tables) if figures else None


def _reinitialised(report: Report) -> Section | None:
    tables = reinitialised_tables(report)
    return Section("Layers drawn anew before tuning", reinitialised_findings(report), [], tables) if tables else None


def _aligned(report: Report) -> Section | None:
    related = correlations(report)  # bootstrapped, so computed once
    figures, tables = aligned_figures(report, related), aligned_tables(report, related)
    findings = aligned_findings(report, related)
    return Section("Where languages are alike", findings, figures, tables) if figures else None


def _between(report: Report) -> Section | None:
    between = Between.of(report)
    figures = list(between_figures(report, between))
    tables = between_tables(report, between)
    found = between_findings(report, between)
    return Section("Between models", found, figures, tables) if figures or tables else None


def captioned(charts: Mapping[str, Chart], caption: str) -> list[Figure]:
    """Charts by title, all with one caption."""
    return [Figure(title, caption, chart) for title, chart in charts.items()]


_SWEEP_CAPTION = (
    "Score, mean over seeds; the colour is the change from the first column, grey where that is not known yet."
)
