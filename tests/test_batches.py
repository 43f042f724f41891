"""Batches: every example once an epoch, within the budget, the parts of one together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from babelscope.core.errors import InputError
from babelscope.core.examples import Tagged
from babelscope.tasks.apart import Apart
from babelscope.tasks.mlm import MaskedLanguageModelling
from babelscope.tasks.tag import Tagging
from babelscope.tuning.batches import BATCHES_PER_POOL, Order, epoch_batches
from babelscope.tuning.settings import Tuning
from taggers import a_tagger

LENGTHS = st.lists(st.integers(1, 70), min_size=1, max_size=300).map(lambda values: np.array(values, dtype=np.int64))


@settings(max_examples=100, deadline=None)
@given(LENGTHS, st.integers(8, 256), st.integers(0, 9), st.integers(0, 5))
def test_every_example_once_an_epoch_within_the_budget(lengths, budget, seed, epoch):
    batches = epoch_batches(lengths, budget, seed, epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert all(len(batch) == 1 or lengths[batch].max() * len(batch) <= budget for batch in batches)
    again = epoch_batches(lengths, budget, seed, epoch)
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in again]


def test_batches_have_little_padding_and_much_chance():
    lengths = np.random.default_rng(0).integers(5, 40, 3000)
    batches = epoch_batches(lengths, 512, 0, 0)
    padded = sum(int(lengths[batch].max()) * len(batch) for batch in batches)
    assert padded < 1.05 * lengths.sum()
    assert len(batches) > BATCHES_PER_POOL
    other = epoch_batches(lengths, 512, 0, 1)
    assert not {tuple(sorted(batch)) for batch in batches} & {tuple(sorted(batch)) for batch in other}
    means = [lengths[batch].mean() for batch in batches]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.2


@settings(max_examples=30, deadline=None)
@given(LENGTHS, st.integers(1, 40))
def test_a_run_has_as_many_steps_as_it_says(lengths, steps):
    by_steps, by_epochs = Tuning(steps=steps, tokens_per_batch=64), Tuning(epochs=3, tokens_per_batch=64)
    order = Order(lengths, by_steps, 0)
    assert len(list(order.turns())) == order.count_steps() == steps
    order = Order(lengths, by_epochs, 0)
    run = list(order.turns())
    assert len(run) == order.count_steps()
    assert sum(turn.ends_epoch for turn in run) == 3
    assert run[-1].ends_epoch
    assert np.bincount(np.concatenate([turn.batch for turn in run])).tolist() == [3] * len(lengths)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 4), st.integers(0, 9))
def test_batches_of_examples_are_full_and_the_last_is_the_rest(examples, size, epochs, seed):
    tuning = Tuning(epochs=epochs, examples_per_batch=size)
    lengths = np.arange(1, examples + 1)
    order = Order(lengths, tuning, seed)
    run = list(order.turns())
    an_epoch = -(-examples // size)
    assert len(run) == order.count_steps() == epochs * an_epoch
    for first in range(0, len(run), an_epoch):
        turns = run[first : first + an_epoch]
        assert sorted(np.concatenate([turn.batch for turn in turns])) == list(range(examples))
        assert [len(turn.batch) for turn in turns[:-1]] == [size] * (an_epoch - 1)
        assert [turn.ends_epoch for turn in turns] == [False] * (an_epoch - 1) + [True]
    again = [turn.batch.tolist() for turn in order.turns()]
    assert [turn.batch.tolist() for turn in run] == again


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 90), min_size=1, max_size=4), st.integers(1, 40), st.integers(0, 9),
    st.sampled_from(["one-language", "mixed"]),
)  # fmt: skip
def test_batches_of_examples_of_one_language(sizes, size, seed, batches):
    """Every language's every example once an epoch; steps are those of each language, one after the other.

    Also where tokenizers of their own keep languages apart: such runs went on after their last step, at rates below 0.
    """
    tuning = Tuning(epochs=2, examples_per_batch=size, batches=batches)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    order = Order(np.ones(len(groups)), tuning, seed, groups)
    run = list(order.turns())
    assert len(run) == order.count_steps() == 2 * sum(-(-n // size) for n in sizes)
    assert all(len(set(groups[turn.batch])) == 1 for turn in run)
    epoch = run[: len(run) // 2]
    assert sorted(np.concatenate([turn.batch for turn in epoch])) == list(range(len(groups)))
    for language, count in enumerate(sizes):
        counted = sorted((len(turn.batch) for turn in epoch if groups[turn.batch[0]] == language), reverse=True)
        assert counted == [size] * (count // size) + [count % size] * (count % size > 0)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 90), min_size=1, max_size=4), st.integers(1, 20), st.integers(0, 9))
def test_batches_of_drawn_languages_are_full(sizes, size, seed):
    """What is left of a language is left out of an epoch; of a single language it is the last batch."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    order = Order(np.ones(len(groups)), Tuning(epochs=2, examples_per_batch=size, batches="drawn"), seed, groups)
    if len(sizes) > 1 and min(sizes) < size:
        with pytest.raises(InputError, match=f"there are {min(sizes)} examples, fewer than {size}, so that none"):
            list(order.turns())
        return
    run = list(order.turns())
    an_epoch = -(-sizes[0] // size) if len(sizes) == 1 else sum(n // size for n in sizes)
    assert len(run) == order.count_steps() == 2 * an_epoch
    for epoch in (run[:an_epoch], run[an_epoch:]):
        read = np.concatenate([turn.batch for turn in epoch])
        assert len(set(read)) == len(read)
        for language, count in enumerate(sizes):
            counted = [len(turn.batch) for turn in epoch if groups[turn.batch[0]] == language]
            assert counted == [size] * (count // size) + [count % size] * (len(sizes) == 1 and count % size > 0)
        assert all(len(set(groups[turn.batch])) == 1 for turn in epoch)


def test_languages_are_drawn_by_their_sizes_until_one_is_used_up():
    """As of a loaded coin: of 300 and 100 examples three of four; then the rest of the one that is left."""
    groups = np.repeat([0, 1], [300, 100])
    tuning = Tuning(epochs=400, examples_per_batch=10, batches="drawn")
    languages = [int(groups[turn.batch[0]]) for turn in Order(np.ones(400), tuning, 0, groups).turns()]
    epochs = np.reshape(languages, (400, 40))
    assert epochs[:, :5].mean() == pytest.approx(0.25, abs=0.03)
    assert (epochs[:, :5].sum(axis=1) == 0).mean() == pytest.approx(0.75**5, abs=0.06)
    at_the_end = [int(np.argmin(epoch[::-1] == epoch[-1])) for epoch in epochs]
    shuffled = np.random.default_rng(0).permuted(epochs, axis=1)
    by_chance = [int(np.argmin(epoch[::-1] == epoch[-1])) for epoch in shuffled]
    assert np.mean(at_the_end) > 1.5 * np.mean(by_chance), "an epoch ends with batches of one language"


def test_drawn_batches_are_of_examples():
    with pytest.raises(ValidationError, match="batches: drawn has full batches of examples: give examples_per_batch"):
        Tuning(batches="drawn")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=90), st.integers(1, 20), st.booleans())
def test_the_parts_of_an_example_are_in_one_batch(parts, size, apart):
    """An example that is read in several windows counts once, and comes as a whole."""
    examples = len(parts)
    owners = np.repeat(np.arange(examples), parts)
    groups = np.repeat(np.arange(examples) >= examples // 2, parts).astype(int) if apart else None
    tuning = Tuning(epochs=1, examples_per_batch=size, batches="one-language" if apart else "mixed")
    order = Order(np.ones(len(owners)), tuning, 0, groups, owners)
    run = [turn.batch for turn in order.turns()]
    sizes = [examples // 2, examples - examples // 2] if apart else [examples]
    expected = sum(-(-count // size) for count in sizes)
    assert len(run) == order.count_steps() == expected
    assert sorted(np.concatenate(run)) == list(range(len(owners)))
    assert sum(len(set(owners[batch])) for batch in run) == examples


def test_examples_are_sentences_for_every_objective(encoder, tokenizer, tagged, sentences):
    """Sentences of more windows than one, for two languages and for language modelling, unusable ones left out."""
    long = Tagged(tagged[0].words * 5, tagged[0].labels * 5)
    given = [tagged[1], Tagged([], []), long, tagged[2]]
    task = Apart(
        [
            Tagging(a_tagger(encoder), given),
            Tagging(a_tagger(encoder), [long, tagged[3]]),
        ]
    )
    windows = len(Tagging(a_tagger(encoder), [long]).lengths)
    assert windows > 1
    assert task.owners.tolist() == [0, *[2] * windows, 3, *[4] * windows, 5]
    lines = [sentences[0], "\u2603", " ".join(sentences[:4]), sentences[1]]
    language = MaskedLanguageModelling(tokenizer, lines, 24, pairs=[(sentences[0], sentences[1])])
    assert language.owners.tolist() == [0, *[2] * (len(language.lengths) - 3), 3, 4]
    assert len(language.lengths) > 4


def test_batches_of_examples_have_no_order_of_length_or_language():
    lengths, groups = np.tile(np.arange(500), 2), np.repeat([0, 1], 500)
    tuning = Tuning(epochs=2, examples_per_batch=10, batches="one-language")
    run = list(Order(lengths, tuning, 0, groups).turns())
    first, second = run[:100], run[100:]
    assert abs(np.corrcoef([groups[turn.batch[0]] for turn in first], np.arange(100))[0, 1]) < 0.3
    assert np.mean([np.std(lengths[turn.batch]) for turn in first]) > 100  # 144 in all of them; sorted it would be 3
    assert not {tuple(sorted(turn.batch)) for turn in first} & {tuple(sorted(turn.batch)) for turn in second}


@pytest.mark.parametrize(
    ("examples", "parts", "after"), [(80, 4, [2, 4, 6, 8]), (95, 4, [3, 5, 8, 10]), (25, 4, [1, 2, 3])]
)
def test_validations_in_equal_parts_of_an_epoch(examples, parts, after):
    tuning = Tuning(epochs=2, examples_per_batch=10, validations_per_epoch=parts)
    turns = list(enumerate(Order(np.ones(examples), tuning, 0).turns(), 1))
    due = [step for step, turn in turns if turn.is_validated(step, tuning)]
    assert due == [*after, *(after[-1] + step for step in after)]
