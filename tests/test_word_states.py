"""States of words against one sentence, and one word, at a time."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from babelscope.encoders import tap
from babelscope.encoders.load import Encoder
from babelscope.encoders.tap import word_states
from babelscope.encoders.windows import encode_words
from families import byte_level_tokenizer, family_model

SENTENCES = [["the", "cat", "sees", "the", "dog", "."], [], ["кот"], ["green", "birds", "", "likes", "tree-houses"]]
LONG = [*SENTENCES, ["the", "cat", "sees", "a", "small", "dogged", "bird"] * 6, ["x" * 60]]


@torch.no_grad()
def one_by_one(encoder, sentences) -> torch.Tensor:
    """Every window alone, and in it every owned word by a slice of its own."""
    windows = encode_words(encoder.tokenizer, sentences, encoder.max_length)
    found = {}
    for ids, owned, places in zip(windows.pieces, windows.owned, windows.places, strict=True):
        states = encoder.backbone(input_ids=torch.tensor(np.array([ids])), output_hidden_states=True).hidden_states
        for word, place in zip(owned.tolist(), places.tolist(), strict=True):
            found[word] = torch.stack([layer[0, place : place + windows.widths[word]].mean(dim=0) for layer in states])
    return torch.stack([found[word] for word in sorted(found)], dim=1)


@pytest.mark.parametrize("tokens_per_batch", [1, 4096])
def test_word_states_equal_one_word_at_a_time(encoder, tokens_per_batch, monkeypatch):
    monkeypatch.setattr(tap, "evaluation_tokens", lambda device: tokens_per_batch)
    states = word_states(encoder, LONG)
    assert states.shape == (3, sum(map(len, LONG)), 32)
    assert states.dtype == torch.float32
    torch.testing.assert_close(states, one_by_one(encoder, LONG), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_the_pieces_of_a_word_are_those_of_its_text(encoder):
    """The mean over the pieces whose characters lie in the word."""
    words = ["green", "birds", "likes", "tree-houses"]
    encoded = encoder.tokenizer(" ".join(words), return_offsets_mapping=True)
    layers = encoder.backbone(input_ids=torch.tensor([encoded["input_ids"]]), output_hidden_states=True).hidden_states
    spaces = np.cumsum([0, *(len(word) + 1 for word in words)])
    states = word_states(encoder, [words])
    for word, (first, last) in enumerate(pairwise(spaces)):
        mine = [k for k, (start, end) in enumerate(encoded["offset_mapping"]) if first <= start < end < last]
        assert mine
        expected = torch.stack([layer[0, mine].mean(dim=0) for layer in layers])
        torch.testing.assert_close(states[:, word], expected, atol=1e-5, rtol=1e-5)


def test_a_decoder_has_no_special_pieces(sentences):
    tokenizer = byte_level_tokenizer(sentences, 300)
    decoder = Encoder(family_model("gpt2", vocabulary=len(tokenizer)), tokenizer, "decoder")
    words = [["the", "cat", "sees"], ["small", "dogs", "green"] * 5]
    torch.testing.assert_close(word_states(decoder, words), one_by_one(decoder, words), atol=1e-5, rtol=1e-5)


def test_no_words_have_no_states(encoder):
    assert word_states(encoder, [[], []]).shape == (3, 0, 32)


def test_reading_leaves_the_mode_of_the_model_alone(encoder):
    encoder.model.train()
    try:
        noiseless = word_states(encoder, SENTENCES)
        assert encoder.model.training
    finally:
        encoder.model.eval()
    assert torch.equal(noiseless, word_states(encoder, SENTENCES))
