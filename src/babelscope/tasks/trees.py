"""Maximum spanning trees: the best dependency tree of each sentence, with exactly one root.

Chu-Liu/Edmonds in the path-growing form of Gabow, Galil, Spencer and Tarjan (1986): follow each word to its best
head; where that closes a cycle, contract it to one node; go on until all words are one node. Then the root's best arc
enters it, and each contracted cycle opens at the word that an arc from outside has entered. Arcs from the root take
no part before that, so there is one of them, without any constant added to the scores (Gabow and Tarjan 1984).
All sentences of a chunk take their steps at the same time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelscope.core.errors import InputError

CELLS_PER_CHUNK = 2**18
"""Scores worked on at once: 2 MiB, which the processor's cache still holds."""


def single_root_trees(scores: NDArray[np.floating], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """The tree with the largest sum of scores, of all trees in which one word hangs on the root.

    Computed in float64. Of equally good trees, the same one is always found.

    Args:
        scores: [sentences, words + 1, words + 1], of arcs: dependent x head, both counted from 1; head 0 is the root.
            Row 0, the diagonal and what is past a sentence's end are not read. -inf: an arc that is forbidden.
        lengths: [sentences], words of each.

    Returns:
        [sentences, words]: the head of each word; -1 past a sentence's end.

    Raises:
        InputError: a score is NaN or +inf, or the arcs that are allowed make no tree.
    """
    words = scores.shape[1] - 1
    heads = np.full((len(scores), words), -1, dtype=np.int64)
    size = max(1, CELLS_PER_CHUNK // (words + 1) ** 2)
    for start in range(0, len(scores), size):
        chunk = slice(start, start + size)
        possible = _possible(words, lengths[chunk])
        candidates = np.where(possible, scores[chunk], -np.inf).astype(np.float64, copy=False)
        _check_scores(candidates, start)
        trees = _decode(_in_reach(candidates, possible), lengths[chunk])
        _check_allowed(trees, candidates, start)
        heads[chunk] = trees[:, 1:]
    return heads


def _possible(words: int, lengths: NDArray[np.integer]) -> NDArray[np.bool_]:
    """[sentences, words + 1, words + 1]: where there is an arc."""
    place = np.arange(words + 1)
    inside = place <= lengths[:, None]
    possible = inside[:, :, None] & inside[:, None, :] & (place[:, None] != place)
    possible[:, 0] = False
    return possible


def _check_scores(candidates: NDArray[np.float64], start: int) -> None:
    if (candidates < np.inf).all():  # False for NaN too
        return
    sentence, dependent, head = np.argwhere(~(candidates < np.inf))[0].tolist()
    raise InputError(
        f"sentence {start + sentence}: the score of head {head} for word {dependent} is "
        f"{candidates[sentence, dependent, head]}; scores are finite numbers, or -inf for arcs that are forbidden"
    )


def _in_reach(candidates: NDArray[np.float64], possible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Forbidden arcs made finite, but so low that a tree without them wins; -inf stays where there is no arc."""
    forbidden = possible & np.isneginf(candidates)
    if not forbidden.any():
        return candidates
    finite = np.isfinite(candidates)
    lowest, highest = (reduce(candidates, axis=(1, 2), where=finite, initial=0.0) for reduce in (np.min, np.max))
    penalties = lowest - (highest - lowest + 1) * candidates.shape[1]
    return np.where(forbidden, penalties[:, None, None], candidates)


def _check_allowed(heads: NDArray[np.int64], candidates: NDArray[np.float64], start: int) -> None:
    """Refuse trees with forbidden arcs. `heads` is as of `_decode`."""
    chosen = np.take_along_axis(candidates, heads.clip(min=0)[:, :, None], axis=2)[:, :, 0]
    stuck = ((heads >= 0) & np.isneginf(chosen))[:, 1:].any(axis=1)
    if stuck.any():
        sentence = start + int(stuck.argmax())
        raise InputError(f"sentence {sentence}: so many arcs are forbidden (-inf) that no tree is left; allow more")


def _decode(scores: NDArray[np.float64], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """[sentences, words + 1]: heads, -1 past the end; what column 0 holds means nothing.

    Most sentences of a trained parser are done when every word has taken its best head.
    """
    heads = scores.argmax(axis=2)
    rest = np.flatnonzero(~_are_trees(heads, lengths))
    if len(rest):
        heads[rest] = _Contraction(scores[rest], lengths[rest]).heads()
    return np.where(np.arange(heads.shape[1]) <= lengths[:, None], heads, -1)


def _are_trees(heads: NDArray[np.int64], lengths: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether one word hangs on the root, and every other under that. `heads`: [sentences, words + 1]."""
    inside = np.arange(1, heads.shape[1]) <= lengths[:, None]
    roots = ((heads[:, 1:] == 0) & inside).sum(axis=1)
    ancestors = heads
    for _ in range(int(lengths.max()).bit_length()):  # as far up as twice the last time
        ancestors = np.take_along_axis(ancestors, ancestors, axis=1)
    return (roots == np.minimum(lengths, 1)) & ((ancestors[:, 1:] == 0) | ~inside).all(axis=1)


class _Choice(NamedTuple):
    """Nodes, one in each of some sentences, and the arcs chosen to enter them."""

    sentences: NDArray[np.int64]
    heads: NDArray[np.int64]
    dependents: NDArray[np.int64]
    members: NDArray[np.bool_]
    """[sentences, words + 1]: the words that are contracted to the node."""


class _Contraction:
    """Sentences on the way to one node each. A node bears the number of one of its words.

    The nodes that were visited and are not yet contracted form a path, each the head of the one before it.
    """

    def __init__(self, scores: NDArray[np.float64], lengths: NDArray[np.integer]):
        sentences, width, _ = scores.shape
        self.scores = scores
        """[sentences, nodes, words + 1]: the best arc from each word into a node; a node's chosen arc becomes 0."""
        self.dependents = np.broadcast_to(np.arange(width, dtype=np.int32)[:, None], scores.shape).copy()
        """The same shape: the word of the node where that arc ends."""
        self.node = np.tile(np.arange(width), (sentences, 1))
        """[sentences, words + 1]: the node of each word."""
        self.path = np.ones((sentences, width), dtype=np.int64)
        self.end = np.zeros(sentences, dtype=np.int64)
        """[sentences]: where the path ends."""
        self.place = np.full((sentences, width), -1)
        """[sentences, nodes]: each node's place on the path; -1 if not visited."""
        self.place[:, 1] = 0
        self.goal = self.end.copy()
        """[sentences]: where the path will end when the cycle at its end is contracted."""
        self.nodes = lengths.astype(np.int64)
        """[sentences]: how many nodes there are."""
        self.choices: list[_Choice] = []

    def heads(self) -> NDArray[np.int64]:
        """[sentences, words + 1]: the head of each word."""
        while len(open_ := np.flatnonzero(self.nodes > 1)):
            self._follow(open_[self.end[open_] == self.goal[open_]])
            self._merge(open_[self.end[open_] > self.goal[open_]])
        everything = np.arange(len(self.nodes))
        last = self.path[:, 0]
        entry = self.dependents[everything, last, 0].astype(np.int64)
        self.choices.append(_Choice(everything, np.zeros_like(entry), entry, self.node == last[:, None]))
        return self._expanded()

    def _follow(self, sentences: NDArray[np.int64]) -> None:
        """Choose the best arc into the last node of the path; go on to its head, or find a cycle to contract."""
        last = self.path[sentences, self.end[sentences]]
        rows = self.scores[sentences, last]
        heads = rows[:, 1:].argmax(axis=1) + 1
        every = np.arange(len(sentences))
        self.scores[sentences, last] = rows - rows[every, heads][:, None]
        arcs = heads, self.dependents[sentences, last, heads].astype(np.int64)
        self.choices.append(_Choice(sentences, *arcs, self.node[sentences] == last[:, None]))
        following = self.node[sentences, heads]
        place = self.place[sentences, following]
        new = place < 0
        ends = self.end[sentences] + 1
        self.goal[sentences] = np.where(new, ends, place)
        sentences, following, ends = sentences[new], following[new], ends[new]
        self.end[sentences] = ends
        self.path[sentences, ends] = following
        self.place[sentences, following] = ends

    def _merge(self, sentences: NDArray[np.int64]) -> None:
        """Make one node of the last two of the path."""
        end = self.end[sentences]
        kept, gone = self.path[sentences, end - 1], self.path[sentences, end]
        ours, theirs = self.scores[sentences, kept], self.scores[sentences, gone]
        better = theirs > ours
        node = self.node[sentences]
        node = np.where(node == gone[:, None], kept[:, None], node)
        self.node[sentences] = node
        merged = np.where(better, theirs, ours)
        merged[node == kept[:, None]] = -np.inf  # no arc from a node into itself
        self.scores[sentences, kept] = merged
        self.dependents[sentences, kept] = np.where(
            better, self.dependents[sentences, gone], self.dependents[sentences, kept]
        )
        self.end[sentences] = end - 1
        self.nodes[sentences] -= 1

    def _expanded(self) -> NDArray[np.int64]:
        """From the last choice to the first: an arc counts unless a later one has entered its node already."""
        heads = np.full(self.node.shape, -1)
        for choice in reversed(self.choices):
            free = ~(choice.members & (heads[choice.sentences] >= 0)).any(axis=1)
            heads[choice.sentences[free], choice.dependents[free]] = choice.heads[free]
        return heads
