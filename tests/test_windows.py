"""Words become the pieces that the tokenizer makes of running text, whatever kind of tokenizer it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, trainers
from tokenizers.pre_tokenizers import ByteLevel, Metaspace, Sequence, Split
from transformers import PreTrainedTokenizerFast

from babelscope.encoders.windows import encode_words
from conftest import ADJECTIVES, NOUNS, VERBS

SPECIAL = {"pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"}
WORDS = st.sampled_from(
    [*NOUNS, *VERBS, *ADJECTIVES, "the", ".", ",", "don't", "x1y2", "1 000", "œuvre", "語", "ﬁsh", "🐟"]
)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=4)


def byte_level(sentences, pre_tokenizer):
    """Byte-level BPE, as RoBERTa's and ModernBERT's; the other pre-tokenizers are those of Llama 3 and of GPT-2."""
    pipeline = Tokenizer(models.BPE())
    pipeline.pre_tokenizer = pre_tokenizer
    trainer = trainers.BpeTrainer(
        vocab_size=330, special_tokens=[*SPECIAL.values()], initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    pipeline.train_from_iterator(sentences, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=pipeline, **SPECIAL)


def unigram(sentences, scheme):
    """Pieces of a unigram model after a metaspace, as XLM-R's."""
    pipeline = Tokenizer(models.Unigram())
    pipeline.pre_tokenizer = Metaspace(prepend_scheme=scheme)
    trainer = trainers.UnigramTrainer(
        vocab_size=80, special_tokens=[*SPECIAL.values()], unk_token=SPECIAL["unk_token"], show_progress=False
    )
    pipeline.train_from_iterator(sentences, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=pipeline, **SPECIAL)


MAKERS = {
    "wordpiece": lambda sentences, wordpiece: wordpiece,
    "byte-level": lambda sentences, _: byte_level(sentences, ByteLevel(add_prefix_space=False)),
    "byte-level, space before all": lambda sentences, _: byte_level(sentences, ByteLevel(add_prefix_space=True)),
    "byte-level after a split": lambda sentences, _: byte_level(
        sentences,
        Sequence([Split(Regex(r" ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+"), "isolated"), ByteLevel(False, use_regex=False)]),
    ),
    "unigram": lambda sentences, _: unigram(sentences, "always"),
    "unigram, first only": lambda sentences, _: unigram(sentences, "first"),
}


@pytest.fixture(scope="module", params=MAKERS)
def any_tokenizer(request, sentences, tokenizer):
    return MAKERS[request.param](sentences, tokenizer)


@settings(max_examples=40, deadline=None)
@given(sentences_of_words=SENTENCES)
def test_pieces_of_words_are_pieces_of_the_text(any_tokenizer, sentences_of_words):
    windows = encode_words(any_tokenizer, sentences_of_words, max_length=1000)
    texts = [any_tokenizer(" ".join(words))["input_ids"] for words in sentences_of_words]
    assert [ids.tolist() for ids in windows.pieces] == texts


@settings(max_examples=40, deadline=None)
@given(words=st.lists(WORDS, min_size=1, max_size=12))
def test_first_pieces_begin_their_words(any_tokenizer, words):
    """Between two first pieces lies exactly the text of one word."""
    windows = encode_words(any_tokenizer, [words], max_length=1000)
    text = " ".join(words)
    offsets = any_tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    places = windows.places[0].tolist()
    bounds = [offsets[place][0] for place in places[1:]]
    cut = [text[start:end].strip() for start, end in zip([0, *bounds], [*bounds, len(text)], strict=True)]
    assert windows.owned[0].tolist() == list(range(len(words)))
    assert cut == words


def test_words_have_their_space_mark(sentences):
    tokenizer = byte_level(sentences, ByteLevel(add_prefix_space=False))
    windows = encode_words(tokenizer, [["the", "cat", "sees"]], max_length=50)
    firsts = [tokenizer.convert_ids_to_tokens(int(windows.pieces.ids[place])) for place in windows.places[0]]
    assert [piece[0] for piece in firsts] == ["t", "Ġ", "Ġ"]


def test_empty_words_are_read_too(any_tokenizer):
    windows = encode_words(any_tokenizer, [["cat", "", "dog", ""]], max_length=50)
    assert windows.owned[0].tolist() == [0, 1, 2, 3]
    assert len(set(windows.places[0].tolist())) == 4
