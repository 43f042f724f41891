"""Projections of words: from rows to charts of the page, and to pictures and an animation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from babelscope.core.errors import InputError
from babelscope.corpora.parallel_words import ALIGNED_BY
from babelscope.report.figures import PALETTE, Chart
from babelscope.report.model import Report
from babelscope.report.output import file_name
from babelscope.report.sections.projection.pictures import draw_projection

_AXES = ("t-SNE x", "t-SNE y")


@dataclass(frozen=True)
class Projected:
    """Aligned words of two languages in the plane, layer by layer."""

    encoder: str
    languages: tuple[str, str]
    """Display names."""
    coordinates: NDArray[np.float64]
    """[layers, 2 * pairs, 2]: the words of one language, then their translations."""
    shares: Sequence[float]
    """[layers]: share of all words that are nearest to a translation."""
    data: str = ""
    """Of real words: the data, and what aligned them."""

    @property
    def title(self) -> str:
        """What is shown."""
        shown = f"{self.encoder}: {self.languages[0]} and {self.languages[1]}"
        return f"{shown}, {self.data}" if self.data else shown

    @property
    def pairs(self) -> NDArray[np.int64]:
        """[pairs, 2], the points that are translations of one another."""
        count = self.coordinates.shape[1] // 2
        return np.stack([np.arange(count), np.arange(count) + count], axis=1)


def projections(report: Report) -> list[Projected]:
    """Every encoder and pair of languages that were projected."""
    groups: dict[tuple[str, str], dict[tuple[int, str, int], dict[str, float]]] = {}
    shares: dict[tuple[str, str], dict[int, float]] = {}
    for row in report.rows:
        if row.kind != "projection" or row.layer is None:
            continue
        projected = (row.encoder or "", row.dataset or "")
        if row.word is None:
            shares.setdefault(projected, {})[row.layer] = row.value
        else:
            point = (row.layer, row.language or "", row.word)
            groups.setdefault(projected, {}).setdefault(point, {})[row.measure] = row.value
    return [_projected(report, *key, places, shares[key]) for key, places in groups.items() if key in shares]


def projection_charts(report: Report) -> dict[str, Chart]:
    """A panel a layer, by encoder and pair of languages."""
    return {f"Words in the plane, {projected.title}": _chart(projected) for projected in projections(report)}


def write_animations(report: Report, path: Path) -> list[Path]:
    """Write an animation over the layers to a .gif, and a picture a layer into a folder beside it.

    Several projections go to `stem-encoder-languages.gif`. Raises `InputError` if the study has none.
    """
    to_draw = projections(report)
    if not to_draw:
        raise InputError(f"{report.title}: no projection to draw; a study with `projection` has some")
    written = []
    for projected in to_draw:
        name = path.stem if len(to_draw) == 1 else f"{path.stem}-{file_name(projected.title)}"
        folder = path.with_name(name)
        languages = [language for language in projected.languages for _ in projected.pairs]
        *pictures, animation = draw_projection(
            folder, projected.coordinates, languages, projected.pairs, projected.shares
        )
        written += [*pictures, animation.replace(folder.with_suffix(".gif"))]
    return written


def _projected(
    report: Report,
    encoder: str,
    dataset: str,
    places: dict[tuple[int, str, int], dict[str, float]],
    shares: dict[int, float],
) -> Projected:
    layers, words = sorted(shares), sorted({word for _, _, word in places})
    languages = list(dict.fromkeys(language for _, language, _ in places))
    coordinates = [
        [[places[layer, code, word][axis] for axis in _AXES] for code in languages for word in words]
        for layer in layers
    ]
    first, second = (report.labels.get(code, code) for code in languages)
    data = dataset if ALIGNED_BY in dataset else ""
    return Projected(encoder, (first, second), np.array(coordinates), [shares[layer] for layer in layers], data)


def _chart(projected: Projected) -> Chart:
    titles, points, lines = [], [], []
    for layer, (places, share) in enumerate(zip(projected.coordinates, projected.shares, strict=True)):
        titles.append(f"{f'Layer {layer}' if layer else 'Embeddings'}: {100 * share:.0f}%")
        for pair in projected.pairs:
            ends = [{"x": float(places[k, 0]), "y": float(places[k, 1])} for k in pair]
            lines.append({"layer": titles[-1], **ends[0], "x2": ends[1]["x"], "y2": ends[1]["y"]})
            named = zip(projected.languages, ends, strict=True)
            points += [{"layer": titles[-1], "language": name, **place} for name, place in named]
    axis = alt.Axis(labels=False, grid=False, title=None)
    base = alt.Chart().encode(x=alt.X("x:Q", axis=axis), y=alt.Y("y:Q", axis=axis))
    joined = base.transform_filter("isValid(datum.x2)").mark_rule(opacity=0.3, strokeWidth=0.7)
    scale = alt.Scale(domain=list(projected.languages), range=PALETTE[:2])
    colour = alt.Color("language:N", title=None, scale=scale, legend=alt.Legend(orient="top"))
    dots = base.transform_filter("isValid(datum.language)").mark_point(filled=True, size=18).encode(color=colour)
    both = pd.concat([pd.DataFrame(points), pd.DataFrame(lines)], ignore_index=True)
    facet = alt.Facet("layer:N", title=None, sort=titles, header=alt.Header(labelColor="currentColor"))
    panel = alt.layer(joined.encode(x2="x2:Q", y2="y2:Q"), dots, data=both).properties(width=170, height=170)
    chart: Chart = panel.facet(facet, columns=4)
    return chart
