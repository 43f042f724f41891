"""The aligner's models against loops over all alignments: posteriors, jumps, and rounds of learning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slow_alignment as slow
from babelscope.corpora.alignment import align, layout, learning, posteriors
from babelscope.corpora.alignment.align import soft_links
from babelscope.corpora.alignment.layout import Layout, lay_out, side_of
from babelscope.corpora.alignment.links import hard_links

TYPES = st.integers(-1, 3)
SENTENCES = st.lists(TYPES, min_size=1, max_size=4)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=4)
LONG = st.lists(TYPES, min_size=1, max_size=20)
SHORT = st.lists(TYPES, min_size=1, max_size=3)
CLOSE = {"rel": 1e-9, "abs": 1e-12}


def laid_out(pairs: list) -> Layout:
    first, second = zip(*pairs, strict=True)
    return lay_out(side_of(first, "first"), side_of(second, "second"))


def of_sentences(pairs: list, blocks: list[np.ndarray], layout: Layout) -> list[dict]:
    """What is in blocks [pairs, m, n], by sentence pair; nothing is behind an end."""
    links: list[dict] = [{} for _ in pairs]
    for block, values in zip(layout.blocks, blocks, strict=True):
        for pair, array in zip(block.pairs.tolist(), values, strict=True):
            m, n = map(len, pairs[pair])
            assert not array[m:, :].any()
            links[pair] = {(i, j): array[i, j] for i in range(m) for j in range(n)}
    return links


def random_direction(layout: Layout, seed: int) -> learning.Direction:
    random = np.random.default_rng(seed)
    words = np.append(0, random.random(len(layout.types[0]) - 1))
    return learning.Direction(
        words, np.append(random.random(layout.counts[1]), 1), random.random(1 + 2 * posteriors.REACH)
    )


def as_model(pairs: list, direction: learning.Direction, layout: Layout) -> slow.Model:
    names = [sorted({word for pair in pairs for word in pair[side]}) for side in (0, 1)]
    entries = list(zip(*(types[1:].tolist() for types in layout.types), direction.words[1:].tolist(), strict=True))
    assert direction.words[0] == 0 and direction.empty[-1] == 1
    return slow.Model(
        {(names[0][one], names[1][other]): value for one, other, value in entries},
        dict(zip(names[1], direction.empty[:-1].tolist(), strict=True)),
        dict(enumerate(direction.jumps.tolist(), -posteriors.REACH)),
    )


@pytest.mark.parametrize("reach", [1, 2, 50])
@settings(max_examples=25)
@given(pairs=PAIRS, seed=st.integers(0, 2**32 - 1))
def test_posteriors_and_jumps_are_those_of_all_alignments(reach, pairs, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(posteriors, "REACH", reach)
        laid = laid_out(pairs)
        direction = random_direction(laid, seed)
        model = as_model(pairs, direction, laid)
        chains = [direction.in_chain(block) for block in laid.blocks]
        links = [slow.expected(model, pair) for pair in pairs]
        any_order = [slow.expected(model, pair, slow.any_order)[0] for pair in pairs]
    for found, (expected, _) in zip(of_sentences(pairs, [each for each, _ in chains], laid), links, strict=True):
        assert found == pytest.approx(expected, **CLOSE)
    jumps = dict(enumerate(sum(steps for _, steps in chains).tolist(), -reach))
    assert jumps == pytest.approx({jump: sum(each[jump] for _, each in links) for jump in jumps}, **CLOSE)
    alone = of_sentences(pairs, [direction.alone(block) for block in laid.blocks], laid)
    for found, expected in zip(alone, any_order, strict=True):
        assert found == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize(("alone", "together"), [(1, 0), (0, 1), (2, 4)])
@settings(max_examples=30)
@given(pairs=st.lists(st.tuples(SHORT, SHORT), min_size=1, max_size=4))
def test_what_is_learnt_in_some_rounds_is_what_loops_learn(alone, together, pairs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "ROUNDS_ALONE", alone)
        patch.setattr(learning, "ROUNDS_TOGETHER", together)
        patch.setattr(align, "LIGHTEST", 0)
        laid = laid_out(pairs)
        directions = learning.learn(laid)
        links = soft_links(pairs)
    there, back = slow.learnt(pairs, alone, together)
    for expected, sides, found, of in (
        (there, pairs, directions[0], laid),
        (back, slow.turned(pairs), directions[1], laid.turned),
    ):
        for part, slow_part in zip(as_model(sides, found, of), expected, strict=True):
            assert part == pytest.approx(slow_part, **CLOSE)
    weights = {(pair, i, j): weight for pair, i, j, weight in zip(*links, strict=True)}
    expected_weights = {
        (k, i, j): weight for k, pair in enumerate(pairs) for (i, j), weight in slow.agreed(there, back, pair).items()
    }
    assert weights == pytest.approx(expected_weights, **CLOSE)


def test_what_is_behind_an_end_has_no_effect():
    """A pair beside longer ones, and alone."""
    random = np.random.default_rng(0)
    m, n, lengths = 7, 6, (np.array([7, 2, 4]), np.array([3, 6, 1]))
    inside = (np.arange(m) < lengths[0][:, None])[:, :, None] & (np.arange(n) < lengths[1][:, None])[:, None]
    emissions = random.random((3, m, n)) * inside
    empty = np.where(inside.any(axis=1), random.random((3, n)), 1)
    jumps = random.random(1 + 2 * posteriors.REACH)
    together, steps = posteriors.in_a_chain(emissions, empty, lengths, jumps)
    any_order = posteriors.in_any_order(emissions, empty, lengths)
    alone_steps = 0
    for k, (own_m, own_n) in enumerate(zip(*lengths, strict=True)):
        own = (
            emissions[k : k + 1, :own_m, :own_n],
            empty[k : k + 1, :own_n],
            (lengths[0][k : k + 1], lengths[1][k : k + 1]),
        )
        links, own_steps = posteriors.in_a_chain(*own, jumps)
        alone_steps += own_steps
        np.testing.assert_allclose(together[k, :own_m, :own_n], links[0], rtol=1e-12)
        np.testing.assert_allclose(any_order[k, :own_m, :own_n], posteriors.in_any_order(*own)[0], rtol=1e-12)
    assert not together[~inside].any() and not any_order[~inside].any()
    np.testing.assert_allclose(steps, alone_steps, rtol=1e-12)


def test_long_sentences_do_not_grow_small():
    """Their probability is far below the smallest number."""
    words = list(range(300))
    links = soft_links([(words, words), *(([k], [k]) for k in words)])
    assert hard_links(links, 301)[0] == [(k, k) for k in words]


@settings(max_examples=30)
@given(st.lists(st.tuples(LONG, LONG), min_size=1, max_size=5), st.integers(1, 60), st.integers(1, 800))
def test_a_layout_holds_every_word_and_what_meets(pairs, batch, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "BATCH", batch)
        patch.setattr(layout, "BLOCK", block)
        laid = laid_out(pairs)
    names = [sorted({word for pair in pairs for word in pair[side]}) for side in (0, 1)]
    assert sorted(np.concatenate([each.pairs for each in laid.blocks]).tolist()) == list(range(len(pairs)))
    assert laid.counts == tuple(map(len, names))
    types = list(zip(*(side.tolist() for side in laid.types), strict=True))[1:]
    assert len(set(types)) == len(types)
    for each in laid.blocks:
        assert len(each.pairs) == 1 or each.entries.size <= block
        for k, pair in enumerate(each.pairs.tolist()):
            m, n = map(len, pairs[pair])
            assert each.entries.shape[1] <= 1.25 * m and each.entries.shape[2] <= 1.25 * n
            assert [names[0][given] for given in each.given[k, :m]] == list(pairs[pair][0])
            assert [names[1][made] for made in each.made[k, :n]] == list(pairs[pair][1])
            assert set(each.given[k, m:]) <= {laid.counts[0]} and set(each.made[k, n:]) <= {laid.counts[1]}
            assert not each.entries[k, m:].any() and not each.entries[k, :, n:].any()
            for i in range(m):
                for j in range(n):
                    assert types[each.entries[k, i, j] - 1] == (each.given[k, i], each.made[k, j])
