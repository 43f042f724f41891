"""Pictures of words of two languages in the plane: one a layer, and all of them as an animation."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

from babelscope.core.errors import InputError
from babelscope.core.outside import writing
from babelscope.report.figures import CONFIG, PALETTE, Chart
from babelscope.report.output import FIGURE_SUFFIXES

MARKERS = ("circle", "triangle-up")
"""One a language, so that a picture can be read without colours too."""
SECONDS = 1.0
"""How long the animation shows a layer."""
WIDTH = 460
"""Of the plane, in pixels of a picture that is not scaled."""


def draw_projection(
    folder: Path,
    coordinates: NDArray[np.float64],
    languages: Sequence[str],
    pairs: NDArray[np.int64],
    shares: Sequence[float],
    suffix: str = ".png",
) -> list[Path]:
    """Write `layer-00` and so on, a picture each, and `layers.gif`, all layers one after the other.

    Args:
        folder: made if it is not there.
        coordinates: [layers, points, 2]; layer 0 is the embeddings.
        languages: of each point, as the legend names it; there are two.
        pairs: [pairs, 2], points whose words are aligned; a line joins them.
        shares: of each layer, the share (0 to 1) of words whose nearest in the other language is a translation.
        suffix: of the pictures, .png or .svg.

    Returns:
        The files, the animation last.

    Raises:
        InputError: another suffix, arguments that do not fit each other, or files that cannot be written.
    """
    _check(coordinates, languages, pairs, shares, suffix)
    paths = [folder / f"layer-{layer:02}{suffix}" for layer in range(len(coordinates))]
    animation = folder / "layers.gif"
    corners = _corners(coordinates)
    frames = []
    with writing(folder):
        folder.mkdir(exist_ok=True)
        for layer, path in enumerate(paths):
            chart = _picture(coordinates[layer], languages, pairs, corners, _title(layer, shares[layer]))
            chart.save(str(path), scale_factor=2 if suffix == ".png" else 1)
            frames.append(_frame(chart))
        frames[0].save(animation, save_all=True, append_images=frames[1:], duration=int(1000 * SECONDS), loop=0)
    return [*paths, animation]


def _corners(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
    """[2, 2]: the lowest and the highest x and y that the pictures of all layers reach, with a margin."""
    low, high = coordinates.min(axis=(0, 1)), coordinates.max(axis=(0, 1))
    margin = 0.04 * (high - low).max() or 1.0
    return np.stack([low - margin, high + margin])


def _picture(
    points: NDArray[np.float64],
    languages: Sequence[str],
    pairs: NDArray[np.int64],
    corners: NDArray[np.float64],
    title: str,
) -> Chart:
    """One layer. The more words there are, the smaller the points and the paler the lines between translations."""
    horizontal, vertical = (alt.Scale(domain=ends.tolist(), nice=False, zero=False) for ends in corners.T)
    x, y = alt.X("x:Q", axis=None, scale=horizontal), alt.Y("y:Q", axis=None, scale=vertical)
    ends = pd.DataFrame(points[pairs].reshape(-1, 4), columns=["x", "y", "x2", "y2"])
    words = pd.DataFrame({"x": points[:, 0], "y": points[:, 1], "language": list(languages)})
    names = list(dict.fromkeys(languages))
    legend = alt.Legend(title=None, orient="bottom", labelLimit=WIDTH)
    lines = alt.Chart(ends).mark_rule(
        strokeWidth=0.7, opacity=float(np.clip(80 / (len(pairs) + 1), 0.2, 0.6)), color="#808080"
    ).encode(x=x, y=y, x2="x2:Q", y2="y2:Q")  # fmt: skip
    dots = alt.Chart(words).mark_point(
        filled=True, opacity=1, size=float(np.clip(10_000 / len(points), 14, 45)), stroke="white", strokeWidth=0.4
    ).encode(
        x=x, y=y, color=alt.Color("language:N", scale=alt.Scale(domain=names, range=PALETTE[:2]), legend=legend),
        shape=alt.Shape("language:N", scale=alt.Scale(domain=names, range=list(MARKERS)), legend=legend),
    )  # fmt: skip
    width, height = corners[1] - corners[0]
    layered = alt.layer(lines, dots) if len(pairs) else alt.layer(dots)
    return layered.properties(
        title=alt.Title(title, anchor="start", fontWeight="normal", fontSize=13),
        width=WIDTH, height=float(WIDTH * np.clip(height / width, 0.5, 1.5)), padding=12,
        config=CONFIG | {"background": "white", "view": {"stroke": "#ccc"}},
    )  # fmt: skip


def _title(layer: int, share: float) -> str:
    return f"{f'Layer {layer}' if layer else 'Embeddings'}: {100 * share:.0f}% of words nearest to a translation"


def _frame(chart: Chart) -> Image.Image:
    """The chart as an image in few colours."""
    import vl_convert

    picture = vl_convert.vegalite_to_png(chart.to_dict(), scale=1.2)
    return Image.open(BytesIO(picture)).convert("RGB").quantize(64)


def _check(
    coordinates: NDArray[np.float64],
    languages: Sequence[str],
    pairs: NDArray[np.int64],
    shares: Sequence[float],
    suffix: str,
) -> None:
    if suffix not in FIGURE_SUFFIXES:
        raise InputError(f"the suffix {suffix!r} is none for pictures; allowed are {' and '.join(FIGURE_SUFFIXES)}")
    layers, points = len(shares), len(languages)
    if coordinates.shape != (layers, points, 2) or not coordinates.size:
        raise InputError(
            f"coordinates of shape {coordinates.shape} for {layers} shares and {points} languages of points;"
            " give [layers, points, 2], a share for every layer and a language for every point"
        )
    if len(set(languages)) != 2:
        raise InputError(f"a picture shows two languages; given {', '.join(sorted(set(languages)))}")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.size and not 0 <= pairs.min() <= pairs.max() < points):
        raise InputError(f"pairs must be [pairs, 2] of points, counted from 0 to {points - 1}")
