"""CKA by Gram matrices that are written out in full: the slow way."""

from __future__ import annotations

import itertools

import numpy as np


def linear_gram(x):
    return x @ x.T


def gaussian_gram(x):
    squared = np.array([[((a - b) ** 2).sum() for b in x] for a in x])
    return np.exp(-squared / (2 * np.median(squared[squared > 0])))


def hsic_by_centring(k, l):  # noqa: E741
    """Gretton et al. (2005): tr(K H L H), with the centring matrix written out."""
    centring = np.eye(len(k)) - np.ones_like(k) / len(k)
    return np.trace(k @ centring @ l @ centring) / (len(k) - 1) ** 2


def hsic_by_quadruples(k, l):  # noqa: E741
    """Song et al. (2012): the mean of K_st (L_st + L_uv - 2 L_su) over all four different samples."""
    quadruples = itertools.permutations(range(len(k)), 4)
    return np.mean([k[s, t] * (l[s, t] + l[u, v] - 2 * l[s, u]) for s, t, u, v in quadruples])


def cka_by_grams(k, l, hsic):  # noqa: E741
    return hsic(k, l) / np.sqrt(hsic(k, k) * hsic(l, l))
