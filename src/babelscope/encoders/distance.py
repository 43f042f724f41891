"""How far an encoder's states are from another's, layer by layer, word by word."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from torch import Tensor

from babelscope.core.errors import InputError


class Distances(NamedTuple):
    """Distances of one stack of states to a reference; each is an array [layers], float64."""

    euclidean: NDArray[np.float64]
    """Mean over words of the Euclidean distance, in the units of the states."""
    relative: NDArray[np.float64]
    """The same, divided by the mean Euclidean norm of the reference's states of the layer."""
    cosine: NDArray[np.float64]
    """Mean over words of the cosine distance, between 0 and 2."""
    aligned: NDArray[np.float64]
    """Mean Euclidean distance that is left after the orthogonal map (rotation, reflection) of the states that brings
    them nearest to the reference in least squares (Schönemann, 1966). What a rotation explains is gone from it; the
    fewer words there are to a dimension, the more a rotation explains by chance."""


def distances(states: Tensor, reference: Tensor) -> Distances:
    """Distances between states of the same words in two encoders, or in one at two moments.

    Args:
        states: [layers, words, hidden], of any floating-point type; all sums are in float64.
        reference: the same shape; its type may be another, such as a 16-bit one.

    Raises:
        InputError: the shapes differ, there are fewer than 2 words, or a state is not finite or all zeros.
    """
    _check_shapes(states, reference)
    pairs = zip(states, reference, strict=True)
    rows = [_layer_distances(layer_states(layer, k), layer_states(other, k)) for k, (layer, other) in enumerate(pairs)]
    return Distances(*np.array(rows).reshape(-1, 4).T)


def _layer_distances(states: NDArray[np.float64], reference: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """The four distances of one layer, states [words, hidden]."""
    rotation, _ = orthogonal_procrustes(states, reference)
    euclidean = _norms(states - reference).mean()
    # Half the square of the chord between unit vectors: unlike 1 - cosine, it keeps its digits where that is small.
    chords = states / _norms(states)[:, None] - reference / _norms(reference)[:, None]
    cosine = np.square(chords).sum(axis=1).mean() / 2
    return euclidean, euclidean / _norms(reference).mean(), cosine, _norms(states @ rotation - reference).mean()


def _norms(states: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.linalg.norm(states, axis=1)


def _check_shapes(states: Tensor, reference: Tensor) -> None:
    for name, tensor in (("the states", states), ("the reference", reference)):
        if tensor.ndim != 3:
            raise InputError(f"{name} have shape {tuple(tensor.shape)}; a distance needs [layers, words, hidden]")
    for name, own, other in zip(("layers", "words", "dimensions"), states.shape, reference.shape, strict=True):
        if own != other:
            raise InputError(
                f"the states have {own} {name}, the reference {other}: distances need the same words in encoders of"
                " equal depth and width; centred kernel alignment (CKA) compares encoders of different widths"
            )
    if states.shape[1] < 2:
        raise InputError(f"distances are means over words and need 2 or more; given {states.shape[1]}")


def layer_states(states: Tensor, layer: int) -> NDArray[np.float64]:
    """One layer's states, [words, hidden], in float64; an `InputError` where one is not finite or all zeros."""
    array: NDArray[np.float64] = states.detach().double().cpu().numpy()
    if not np.isfinite(array).all():
        raise InputError(f"layer {layer} has states that are not finite: the encoder has diverged, or overflows")
    if not array.any(axis=1).all():
        raise InputError(f"layer {layer} has a state that is all zeros, which has no direction to compare")
    return array
