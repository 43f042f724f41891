"""How alike languages are in each layer, before and after tuning, and whether a task carries over with it.

Muller et al. (2021, section 4) correlate, over target languages, the similarity of a layer with the X-Gap: how much
worse the tuned model is in the target than in the language of its training.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

from babelscope.core.intervals import Interval, spearman_interval, spearman_p_value
from babelscope.core.row import Row
from babelscope.core.samples import Samples, mean_of
from babelscope.corpora.datasets import WORLD_PREFIX
from babelscope.corpora.parallel import SOURCE
from babelscope.corpora.translations import COLLECTIONS
from babelscope.measures.similarities import SIMILARITIES
from babelscope.report.model import Report
from babelscope.report.paired import BySeed, mean_by_seed
from babelscope.report.published import with_published
from babelscope.report.score import Score, Written, as_written, itself, title_of
from babelscope.report.shown import Shown

FEWEST = 4
"""Target languages that a rank correlation is computed of."""
Texts = frozenset[str]
"""Names of the parallel texts that were compared with one source."""


def is_similarity(row: Row) -> bool:
    """Whether the row says how alike two languages are in a layer."""
    return row.kind == "similarity" and row.layer is not None


class Stage(NamedTuple):
    """A model whose layers are measured; without a task an encoder as it is."""

    encoder: str
    task: str
    training: str
    schedule: str | None

    @property
    def title(self) -> str:
        """When it is measured."""
        title = title_of(self.task)
        when = f"after {title[:1].lower()}{title[1:]}" if self.task else "before tuning"
        return f"{when}, {self.schedule}" if self.schedule else when


def stage_titles(stages: Iterable[Stage]) -> dict[Stage, str]:
    """When each is measured, with the training where there are several."""
    listed = list(stages)
    several = len({stage.training for stage in listed if stage.task}) > 1
    return {
        stage: f"{stage.title}, trained on {stage.training}" if several and stage.task else stage.title
        for stage in listed
    }


@dataclass(frozen=True)
class Alignment:
    """A similarity of the language of the training to others, of one model, by layer."""

    stage: Stage
    source: str
    """The language that others are compared with: that of the tuned models."""
    measure: str
    unit: str
    values: Mapping[str, Mapping[int, BySeed]]
    """By the code of the target language (in other letters it has another one), and layer."""

    @property
    def layers(self) -> list[int]:
        """Those that are known, 0 the embeddings."""
        return sorted({layer for layers in self.values.values() for layer in layers})

    def of(self, language: str, layer: int) -> float:
        """Of one language, the mean over seeds."""
        return fmean(self.values[language][layer].values())

    @cached_property
    def languages(self) -> Mapping[str, Sequence[str]]:
        """Each target language with its codes: one for each of the letters that it was compared in."""
        return _languages(self.values)

    def mean(self, layer: int) -> BySeed:
        """Over languages, by the seeds that all have; one in several letters counts once."""
        known = ([code for code in codes if layer in self.values[code]] for codes in self.languages.values())
        return mean_by_seed(mean_by_seed(self.values[code][layer] for code in codes) for codes in known if codes)

    @cached_property
    def peak(self) -> int:
        """The layer in which the languages are most alike on average; the lowest such."""
        return max(self.layers, key=lambda layer: (fmean(self.mean(layer).values()), -layer))

    def peak_of(self, language: str) -> int:
        """The layer in which one language is most like the source."""
        return max(self.values[language], key=lambda layer: (self.of(language, layer), -layer))


def alignments(report: Report) -> list[Alignment]:
    """Every similarity of every intact encoder, before it is tuned and after."""
    rows = [row for row in report.rows if is_similarity(row) and row.surgery is None]
    texts = _texts(rows)
    sources = _sources(rows, texts)
    by_stage: dict[tuple[str, Stage, str, str], dict[str, dict[int, BySeed]]] = {}
    for row in rows:
        stage = Stage(row.encoder or "", row.task or "", row.trained_on, row.schedule)
        key = (sources[texts[row]], stage, row.measure, row.unit)
        layers = by_stage.setdefault(key, defaultdict(dict))[row.language or ""]
        layers[row.layer or 0] = {**layers.get(row.layer or 0, {}), row.seed or 0: row.value}
    ordered = sorted(by_stage.items(), key=lambda item: (item[0][0], bool(item[0][1].task)))
    found = [Alignment(stage, source, measure, unit, values) for (source, stage, measure, unit), values in ordered]
    return [each for each in found if all(each.mean(layer) for layer in each.layers)]  # as far as a seed has all


def _texts(rows: Sequence[Row]) -> dict[Row, Texts]:
    """Row -> the parallel texts that its step compared; without a step its own alone."""
    of_step: dict[str, Texts] = defaultdict(frozenset)
    for row in rows:
        of_step[row.key or ""] |= {row.dataset or ""}
    return {row: of_step[row.key] if row.key else frozenset({row.dataset or ""}) for row in rows}


def _sources(rows: Sequence[Row], texts: Mapping[Row, Texts]) -> dict[Texts, str]:
    """The language that texts compare others with, as the tuned models name it; with a text where two would be alike.

    Models may be trained on more than the source; what all have in common is the least of them. Where none is tuned, it
    is the text of the source.
    """
    trained: dict[Texts, set[str]] = defaultdict(set)
    languages: dict[Texts, set[Written]] = defaultdict(set)
    for row in rows:
        trained[texts[row]] |= {row.train_languages} if row.train_languages else set()
        languages[texts[row]].add(as_written(row.language or ""))
    least = {each: min(sorted(named), key=len) if named else "" for each, named in trained.items()}

    def is_alike(each: Texts) -> bool:
        others = (other for other in least if other != each and least[other] == least[each])
        return any(languages[each] & languages[other] for other in others)

    named = {each: f"{source} ({min(each)})" if source else _source_of(min(each)) for each, source in least.items()}
    return {each: named[each] if is_alike(each) else source or named[each] for each, source in least.items()}


def _source_of(text: str) -> str:
    """What the sentences of a text are compared with, by its name: `world:qaa` of `world:qaa-qab`."""
    if text.startswith(WORLD_PREFIX):
        return text.split("-")[0]
    collection = text.split(":")[0]
    return f"{collection}:{SOURCE}" if collection in COLLECTIONS else text.split("+")[0]


def charted(aligned: Iterable[Alignment]) -> list[str]:
    """The measures to show, the first of them in words."""
    there = dict.fromkeys(alignment.measure for alignment in aligned)
    variants = {name for name, similarity in SIMILARITIES.items() if similarity.variant}
    return [measure for measure in there if measure not in variants] or list(there)


class Gap(NamedTuple):
    """How much worse a tuned model is in a language than in that of its training."""

    stage: Stage
    language: str
    place: str
    shown: Shown
    samples: Samples
    keys: Sequence[str]
    """Of the results of both."""

    @property
    def by_seed(self) -> BySeed:
        """Of what was published, one number, at seed 0."""
        return self.samples.by_seed or {0: self.samples.mean}


def gaps(report: Report) -> list[Gap]:
    """X-Gap: same-language score minus cross-language score, of intact encoders, by seed.

    The mean over the languages of the training, where there are several.
    """
    groups: dict[Stage, list[Score]] = defaultdict(list)
    for score in with_published(report):
        if score.surgery is None:
            groups[Stage(score.encoder, score.task, score.training, score.schedule)].append(score)
    return [gap for stage, scores in groups.items() for gap in _gaps(stage, scores)]


def _gaps(stage: Stage, scores: Sequence[Score]) -> list[Gap]:
    sources = [score for score in scores if score.is_whole_source]
    source, keys = mean_of([score.samples for score in sources]), [key for score in sources for key in score.keys]
    gaps_there = []
    for score in scores:
        gap = None if source is None or score.is_whole_source else source.beyond(score.samples)
        if gap is not None:
            gaps_there.append(Gap(stage, score.language, score.place, Shown.of(score), gap, [*keys, *score.keys]))
    return gaps_there


class Correlation(NamedTuple):
    """Over target languages: does a task carry over further where a layer makes languages more alike?"""

    stage: Stage
    source: str
    """What the target languages are compared with."""
    measure: str
    layer: int | None
    """None: the mean over layers."""
    interval: Interval
    """Of Spearman's correlation of the similarity with minus the X-Gap, positive where the more alike languages have
    the smaller gap; by resampling languages, of each the mean over seeds and letters."""
    p: float | None = None
    """Of the mean over layers: of no correlation, by exchanging languages."""


def correlations(report: Report) -> list[Correlation]:
    """For every task, measure and layer, where there are enough languages and these differ."""
    by_stage: dict[Stage, dict[Written, list[float]]] = defaultdict(lambda: defaultdict(list))
    for gap in gaps(report):
        by_stage[gap.stage][as_written(gap.language)].append(fmean(gap.by_seed.values()))
    related = []
    for alignment in alignments(report):
        gap_of = {language: fmean(values) for language, values in by_stage[alignment.stage].items()}
        for layer in [*alignment.layers, None]:
            if sides := _sides(alignment, layer, gap_of):
                of = alignment.stage, alignment.source, alignment.measure
                p = spearman_p_value(*sides) if layer is None else None
                related.append(Correlation(*of, layer, spearman_interval(*sides), p))
    return related


def _sides(
    alignment: Alignment, layer: int | None, gap_of: Mapping[Written, float]
) -> tuple[list[float], list[float]] | None:
    """Of each language how alike it is and minus its gap; None of too few, or where all are the same."""
    wanted = alignment.layers if layer is None else [layer]
    whole = [
        code
        for code, layers in alignment.values.items()
        if as_written(code) in gap_of and all(each in layers for each in wanted)
    ]
    languages = _languages(whole).values()
    alike = [fmean(alignment.of(code, each) for code in codes for each in wanted) for codes in languages]
    closer = [-fmean(gap_of[as_written(code)] for code in codes) for codes in languages]
    if len(languages) < FEWEST or len(set(alike)) == 1 or len(set(closer)) == 1:
        return None
    return alike, closer


def source_titles(related: Iterable[Correlation]) -> dict[tuple[Stage, str], str]:
    """Stage and source -> the source; empty where tunings of an encoder by one training are compared with no other."""
    listed = list(related)
    sources: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in listed:
        sources[each.stage.encoder, each.stage.training].add(each.source)
    several = {key for key, there in sources.items() if len(there) > 1}
    return {
        (each.stage, each.source): each.source if (each.stage.encoder, each.stage.training) in several else ""
        for each in listed
    }


def _languages(codes: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Language -> its codes among these."""
    languages: dict[str, list[str]] = defaultdict(list)
    for code in codes:
        languages[itself(code)].append(code)
    return languages


def published_correlations(report: Report) -> list[Row]:
    """Those of the paper."""
    return [row for row in report.rows if row.kind == "correlation"]
