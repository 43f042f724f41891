"""Hidden Markov models of word alignment by loops over all alignments: what the fast ones are held against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import exp
from typing import NamedTuple

from scipy.special import digamma

from babelscope.corpora.alignment import learning, posteriors

NONE, START = None, -1
"""No maker of a word; and the place before the sentence."""
Pair = tuple[Sequence[int], Sequence[int]]
Posteriors = dict[tuple[int, int], float]
"""(Word of the first, word of the second) -> how likely the one made the other."""


class Model(NamedTuple):
    """One direction; the second sentence's words are made by the first's."""

    words: dict[tuple[int, int], float]
    """(Type that makes, type that is made) -> probability; of those that meet in a pair."""
    empty: dict[int, float]
    """Type -> the probability that no word makes it."""
    jumps: dict[int, float]
    """Words -> weight."""


def turned(pairs: Sequence[Pair]) -> list[Pair]:
    return [(second, first) for first, second in pairs]


def first_model(pairs: Sequence[Pair]) -> Model:
    reach = posteriors.REACH
    jumps = {jump: exp(-abs(jump - 1) / 2) + 0.001 for jump in range(-reach, reach + 1)}
    words = {(one, other): 1.0 for first, second in pairs for one in first for other in second}
    return Model(words, {other: 1.0 for _, second in pairs for other in second}, jumps)


def any_order(model: Model, state: int, maker: int, length: int) -> float:
    """Model 1: how likely a maker is, whichever was the last."""
    return 1 / length


def chain(model: Model, state: int, maker: int, length: int) -> float:
    """The hidden Markov model: how likely a maker is after the last one."""
    weights = [model.jumps[_jump(state, other)] for other in range(length)]
    return weights[maker] / sum(weights)


def _jump(state: int, maker: int) -> int:
    return max(-posteriors.REACH, min(posteriors.REACH, maker - state))


def alignments(model: Model, pair: Pair, likely: Callable[..., float]) -> Iterator[tuple[list[int | None], float]]:
    """Every way to make the second sentence, and its probability."""
    first, second = pair
    for makers in product([NONE, *range(len(first))], repeat=len(second)):
        state, probability = START, 1.0
        for maker, made in zip(makers, second, strict=True):
            if maker is NONE:
                probability *= posteriors.EMPTY * model.empty[made]
            else:
                share = (1 - posteriors.EMPTY) * likely(model, state, maker, len(first))
                probability *= share * model.words[first[maker], made]
                state = maker
        yield list(makers), probability


def expected(model: Model, pair: Pair, likely: Callable[..., float] = chain) -> tuple[Posteriors, dict[int, float]]:
    """The posterior probabilities of links, and how often each jump is expected."""
    links: Posteriors = dict.fromkeys(product(range(len(pair[0])), range(len(pair[1]))), 0.0)
    jumps = dict.fromkeys(model.jumps, 0.0)
    total = sum(probability for _, probability in alignments(model, pair, likely))
    for makers, probability in alignments(model, pair, likely):
        state = START
        for j, maker in enumerate(makers):
            if maker is not NONE:
                links[maker, j] += probability / total
                jumps[_jump(state, maker)] += probability / total
                state = maker
    return links, jumps


def learnt(pairs: Sequence[Pair], alone: int, together: int) -> tuple[Model, Model]:
    """Both directions after so many rounds."""
    there, back = first_model(pairs), first_model(turned(pairs))
    for _ in range(alone):
        there, back = _round_alone(there, pairs), _round_alone(back, turned(pairs))
    for _ in range(together):
        there, back = _round_together(there, back, pairs)
    return there, back


def agreed(there: Model, back: Model, pair: Pair) -> Posteriors:
    forward, _ = expected(there, pair)
    backward, _ = expected(back, (pair[1], pair[0]))
    return {(i, j): weight * backward[j, i] for (i, j), weight in forward.items()}


def _round_alone(model: Model, pairs: Sequence[Pair]) -> Model:
    return _maximised(pairs, [expected(model, pair, any_order)[0] for pair in pairs], model.jumps)


def _round_together(there: Model, back: Model, pairs: Sequence[Pair]) -> tuple[Model, Model]:
    links = [agreed(there, back, pair) for pair in pairs]
    back_links = [{(j, i): weight for (i, j), weight in each.items()} for each in links]
    forward = _maximised(pairs, links, _seen_jumps(there, pairs))
    return forward, _maximised(turned(pairs), back_links, _seen_jumps(back, turned(pairs)))


def _seen_jumps(model: Model, pairs: Sequence[Pair]) -> dict[int, float]:
    seen = dict.fromkeys(model.jumps, learning.UNSEEN_JUMPS)
    for pair in pairs:
        for jump, count in expected(model, pair)[1].items():
            seen[jump] += count
    return seen


def _maximised(pairs: Sequence[Pair], links: Sequence[Posteriors], jumps: dict[int, float]) -> Model:
    words: dict[tuple[int, int], float] = defaultdict(float)
    empty: dict[int, float] = defaultdict(float)
    for (first, second), weights in zip(pairs, links, strict=True):
        for (i, j), weight in weights.items():
            words[first[i], second[j]] += weight
        for j, made in enumerate(second):
            empty[made] += 1 - sum(weights[i, j] for i in range(len(first)))
    return Model(
        {
            key: _weighed(count, [other for (maker, _), other in words.items() if maker == key[0]])
            for key, count in words.items()
        },
        {made: _weighed(count, list(empty.values())) for made, count in empty.items()},
        jumps,
    )


def _weighed(count: float, counts: list[float]) -> float:
    """The expected logarithm of a probability under its Dirichlet posterior (Johnson, 2007), as a probability."""
    return exp(digamma(count + learning.ALPHA) - digamma(sum(counts) + learning.ALPHA * len(counts)))
