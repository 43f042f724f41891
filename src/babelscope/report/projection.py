"""Pictures of words of two languages in the plane: one a layer, and all of them as an animation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from babelscope.core.errors import InputError
from babelscope.report.figures import PALETTE
from babelscope.report.files import FIGURE_SUFFIXES, unwritable

MARKERS = ("o", "^")
"""One a language, so that a picture can be read without colours too."""
SECONDS = 1.0
"""How long the animation shows a layer."""


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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context({"svg.hashsalt": "projection"}):  # else an SVG file's names are others each time
            for layer, path in enumerate(paths):
                figure = _figure(coordinates[layer], languages, pairs, corners, _title(layer, shares[layer]))
                figure.savefig(path, dpi=160, metadata={"Date": None} if suffix == ".svg" else None)
                frames.append(_frame(figure))
        frames[0].save(animation, save_all=True, append_images=frames[1:], duration=int(1000 * SECONDS), loop=0)
    except OSError as error:
        raise unwritable(folder, error) from None
    return [*paths, animation]


def _corners(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
    """[2, 2]: the lowest and the highest x and y that the pictures of all layers reach, with a margin."""
    low, high = coordinates.min(axis=(0, 1)), coordinates.max(axis=(0, 1))
    margin = 0.04 * (high - low).max() or 1.0
    return np.stack([low - margin, high + margin])


def _figure(
    points: NDArray[np.float64],
    languages: Sequence[str],
    pairs: NDArray[np.int64],
    corners: NDArray[np.float64],
    title: str,
) -> Figure:
    """One layer."""
    width, height = corners[1] - corners[0]
    figure = Figure(figsize=(5, 0.55 + 5 * np.clip(height / width, 0.5, 1.5)), layout="constrained")
    axes = figure.add_subplot(aspect="equal", xlim=corners[:, 0], ylim=corners[:, 1], xticks=[], yticks=[])
    axes.set_title(title, loc="left", fontsize="medium")
    axes.spines[:].set_color("0.8")
    # The more there are, the smaller the points (in square typographic points) and the paler the lines.
    area = np.clip(5000 / len(points), 6, 20)
    opacity = np.clip(80 / (len(pairs) + 1), 0.2, 0.6)
    axes.add_collection(LineCollection(list(points[pairs]), colors="0.5", linewidths=0.5, alpha=opacity, zorder=1))
    for language, colour, marker in zip(dict.fromkeys(languages), PALETTE, MARKERS, strict=False):
        mine = points[[one == language for one in languages]]
        look = {"s": area, "c": colour, "marker": marker, "edgecolors": "white", "linewidths": 0.3}
        axes.scatter(mine[:, 0], mine[:, 1], label=language, zorder=2, **look)
    figure.legend(loc="outside lower left", ncols=2, frameon=False, handletextpad=0.2)
    return figure


def _title(layer: int, share: float) -> str:
    return f"{f'Layer {layer}' if layer else 'Embeddings'}: {100 * share:.0f}% of words nearest to a translation"


def _frame(figure: Figure) -> Image.Image:
    """The figure as an image in few colours."""
    figure.set_dpi(110)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(64)


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
