"""Words of parallel sentences in the plane, layer by layer, and how many are nearest to a translation of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from torch import Tensor

from babelscope.core.errors import InputError
from babelscope.core.examples import Parallel
from babelscope.encoders.distance import layer_states

FEWEST = 4
"""Points that a projection needs: a point's neighbourhood is at most a third of the others."""

SAME = 1e-12
"""Directions that differ by less than this in every dimension are taken for the same; it is far above rounding."""


class Projection(NamedTuple):
    """Points in the plane, layer by layer."""

    coordinates: NDArray[np.float64]
    """[layers, points, 2]. A layer's points have mean 0 and a root mean square of 1 (t-SNE has no unit), and are
    turned and mirrored as a whole to lie near where they were in the layer before."""
    library: str
    """Which library computed it, a name in `LIBRARIES`: their pictures of the same states differ."""
    perplexity: float
    """That was used."""


def project(states: Tensor, seed: int, perplexity: float = 30.0, library: str | None = None) -> Projection:
    """t-SNE (van der Maaten and Hinton, 2008) of each layer by itself: near points have states of similar direction.

    States are first brought to length 1, so that what is near is near by cosine, as `translation_share` counts it.
    Every layer starts from its first two principal components. The same states and seed give the same points.

    Args:
        states: [layers, points, hidden].
        seed: of the library's generator.
        perplexity: about how many neighbours a point has; lowered to a third of the other points where they are few.
        library: a name in `LIBRARIES`; without one, openTSNE where it is installed, else scikit-learn.

    Raises:
        InputError: fewer than 4 points, a perplexity below 1, a library that is not there, or a layer whose states are
            not finite, zeros, or all the same.
    """
    library = library or ("openTSNE" if find_spec("openTSNE") else "scikit-learn")
    if library not in LIBRARIES:
        raise InputError(f"no library {library!r} to project with; there are {', '.join(LIBRARIES)}")
    if states.ndim != 3 or states.shape[1] < FEWEST or states.shape[2] < 2:
        raise InputError(
            f"the states have shape {tuple(states.shape)}; a projection needs [layers, points, hidden] with"
            f" {FEWEST} points or more, of 2 dimensions or more"
        )
    if not perplexity >= 1:
        raise InputError(f"perplexity={perplexity:g}; it is a number of neighbours, 1 or more")
    perplexity = min(perplexity, (states.shape[1] - 1) / 3)
    embed = LIBRARIES[library]
    layers = [embed(_distinct(_directions(layer, k), k), seed % 2**32, perplexity) for k, layer in enumerate(states)]
    return Projection(_placed(np.array(layers, dtype=np.float64)), library, perplexity)


def _scikit_learn(points: NDArray[np.float64], seed: int, perplexity: float) -> NDArray[np.float32]:
    from sklearn.manifold import TSNE  # not at the top: a second

    projected: NDArray[np.float32] = TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(points)
    return projected


def _open_tsne(points: NDArray[np.float64], seed: int, perplexity: float) -> NDArray[np.float64]:
    try:
        from openTSNE import TSNE
    except ImportError:
        raise InputError("openTSNE is not installed", "Install it: pip install 'babelscope[tsne]'") from None
    # Exact neighbours: the approximate ones that it takes for many points depend on how it was compiled.
    return np.asarray(TSNE(perplexity=perplexity, neighbors="exact", random_state=seed).fit(points))


LIBRARIES: dict[str, Callable[[NDArray[np.float64], int, float], NDArray[np.floating]]] = {
    "openTSNE": _open_tsne,
    "scikit-learn": _scikit_learn,
}
"""What can compute t-SNE: points [points, hidden], seed, perplexity -> [points, 2]."""


class Translated(NamedTuple):
    """Which words have a translation for their nearest neighbour, layer by layer."""

    words: NDArray[np.int64]
    """[counted]: the first language's words that are aligned, in order."""
    hits: NDArray[np.bool_]
    """[layers, counted]: whether the nearest word of the second language is a translation."""


def translation_hits(first: Tensor, second: Tensor, pairs: NDArray[np.int64]) -> Translated:
    """Whether the nearest word of the second language is a translation, of each aligned word of the first.

    Nearest is by cosine; of words equally near, the first counts. A word aligned to several is right with any of them.
    Words without alignment are not counted, but may be found, wrongly.

    Args:
        first: [layers, words, hidden], states of the first language's words.
        second: [layers, other words, hidden], of the second's; layers and hidden are the first's.
        pairs: [pairs, 2], indices of aligned words, as from `aligned_words`.

    Raises:
        InputError: shapes that do not fit, pairs that are none or outside of the words, states not finite or zeros.
    """
    _check_pairs(first, second, pairs)
    aligned = np.zeros((first.shape[1], second.shape[1]), dtype=bool)
    aligned[pairs[:, 0], pairs[:, 1]] = True
    counted = np.unique(pairs[:, 0])
    hits = []
    for k, layers in enumerate(zip(first, second, strict=True)):
        own, other = (_directions(layer, k) for layer in layers)
        nearest = (own[counted] @ other.T).argmax(axis=1)
        hits.append(aligned[counted, nearest])
    return Translated(counted, np.array(hits, dtype=bool))


def translation_share(first: Tensor, second: Tensor, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """[layers]: share of the first language's words whose nearest word of the second is a translation of theirs.

    Args and errors are those of `translation_hits`.
    """
    shares: NDArray[np.float64] = translation_hits(first, second, pairs).hits.mean(axis=1)
    return shares


def aligned_words(sentences: Sequence[Parallel], first: str, second: str) -> NDArray[np.int64]:
    """[pairs, 2]: aligned words of two languages, counted from 0 through all sentences as `word_states` does."""
    pairs, starts = [], np.zeros(2, dtype=np.int64)
    for sentence in sentences:
        pairs.append(np.array(sentence.alignment(first, second), dtype=np.int64).reshape(-1, 2) + starts)
        starts += [len(sentence.sentences[language].words) for language in (first, second)]
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)


def _placed(layers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre, scale and turn each layer's points, [layers, points, 2]."""
    layers = layers - layers.mean(axis=1, keepdims=True)
    layers /= np.sqrt(np.square(layers).sum(axis=2).mean(axis=1))[:, None, None]
    for before, layer in pairwise(layers):
        layer[:] = layer @ orthogonal_procrustes(layer, before)[0]
    return layers


def _directions(states: Tensor, layer: int) -> NDArray[np.float64]:
    """[words, hidden]: the states at length 1."""
    array = layer_states(states, layer)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def _distinct(points: NDArray[np.float64], layer: int) -> NDArray[np.float64]:
    """The points, if they are not all the same."""
    if np.ptp(points, axis=0).max() < SAME:
        raise InputError(f"layer {layer}: all states point the same way, so there is nothing to project")
    return points


def _check_pairs(first: Tensor, second: Tensor, pairs: NDArray[np.int64]) -> None:
    if not first.ndim == second.ndim == 3 or first.shape[::2] != second.shape[::2]:
        raise InputError(
            f"states of shapes {tuple(first.shape)} and {tuple(second.shape)}; both are [layers, words, hidden],"
            " equal in layers and hidden"
        )
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise InputError(f"pairs of shape {pairs.shape}; give one aligned pair of word indices or more, [pairs, 2]")
    if pairs.min() < 0 or (pairs.max(axis=0) >= (first.shape[1], second.shape[1])).any():
        raise InputError(
            f"pairs reach from {pairs.min()} to {tuple(pairs.max(axis=0).tolist())}; there are"
            f" {first.shape[1]} and {second.shape[1]} words, counted from 0"
        )
