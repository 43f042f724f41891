import random
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy

from babelscope.core.errors import InputError
from babelscope.core.examples import Tagged
from babelscope.core.intervals import bca_interval
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.encoders.windows import encode_words, spans
from babelscope.tasks.baselines.most_frequent_tag import MostFrequentTag
from babelscope.tasks.baselines.word_majority import WordMajority
from babelscope.tasks.kinds.tagging import score_labels
from babelscope.tasks.tag import Tagger, Tagging, evaluate_tagger

LABELS = ("ADJ", "DET", "NOUN", "PUNCT", "VERB")


@pytest.fixture
def tagger(encoder):
    torch.manual_seed(0)
    return Tagger(encoder, LABELS).eval()


def text_of(words, seed):
    chance = random.Random(seed)
    return chance.choices(["cat", "dog", "кот", "carries", "carriesfish", "bigoldtree", "the", "."], k=words)


class Neighbours(nn.Module):
    """A backbone that sees two pieces to the left and two to the right, and has no positions."""

    def __init__(self, vocabulary, hidden):
        super().__init__()
        self.config = SimpleNamespace(hidden_size=hidden)
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.mix = nn.Conv1d(hidden, hidden, kernel_size=5, padding=2)

    def forward(self, input_ids, attention_mask=None):
        states = self.embedding(input_ids)
        if attention_mask is not None:
            states = states * attention_mask[..., None]
        return SimpleNamespace(last_hidden_state=self.mix(states.mT).mT)


def with_neighbours(encoder, max_length):
    torch.manual_seed(3)
    tagger = Tagger(encoder, LABELS)
    tagger.backbone = Neighbours(len(encoder.tokenizer), 32)
    tagger.max_length = max_length
    nn.init.normal_(tagger.classifier.weight)
    return tagger


def test_windows_equal_one_long_model_where_context_is_near(encoder):
    """Every word is at least two pieces from the edge of the window that owns it, so windows change nothing."""
    sentences = [text_of(words, words) for words in (1, 7, 23, 60, 151, 400)]
    assert with_neighbours(encoder, 64).predict(sentences) == with_neighbours(encoder, 4000).predict(sentences)


def test_windows_equal_one_long_model_without_context(tokenizer):
    """The same for BERT without layers and without position embeddings."""
    taggers = []
    for positions in (12, 700):
        encoder = new_encoder(Shape(hidden=32, layers=1, feed_forward=64, positions=positions), tokenizer, 0, "wide")
        backbone = encoder.backbone
        backbone.encoder.layer = nn.ModuleList()
        backbone.embeddings.position_embeddings.weight.data.zero_()
        torch.manual_seed(1)
        taggers.append(Tagger(replace(encoder, model=backbone), LABELS))
    for name in ("word_embeddings", "token_type_embeddings"):
        short, long = (tagger.backbone.embeddings.get_submodule(name) for tagger in taggers)
        long.load_state_dict(short.state_dict())
    sentences = [text_of(words, words) for words in (3, 40, 130)]
    short, long = (tagger.predict(sentences) for tagger in taggers)
    assert short == long
    assert len({label for labels in short for label in labels}) > 1


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 30).flatmap(lambda room: st.tuples(st.lists(st.integers(1, room), min_size=1), st.just(room))))
def test_every_word_is_owned_once_by_a_window_that_reads_it(case):
    widths, room = case
    windows = spans(np.array(widths), room)
    assert [word for w in windows for word in range(w.own_start, w.own_end)] == list(range(len(widths)))
    for window in windows:
        assert window.start <= window.own_start < window.own_end <= window.end
        assert sum(widths[window.start : window.end]) <= room
        assert window.end == len(widths) or sum(widths[window.start : window.end + 1]) > room


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 400), st.integers(4, 64))
def test_words_are_far_from_the_edges_of_their_window(count, room):
    """One piece a word: a quarter of the window is between a word and an edge that is not the sentence's."""
    windows = spans(np.ones(count, dtype=int), room)
    for window in windows:
        assert window.start == 0 or window.own_start - window.start >= (room - 1) // 4
        assert window.end == count or window.end - window.own_end >= (room - 1) // 4
    assert len(windows) <= 1 + 2 * count / room + 1


def test_first_piece_stands_for_the_word(encoder):
    tokenizer = encoder.tokenizer
    words = text_of(12, 0)
    windows = encode_words(tokenizer, [words], 200)
    first = [tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in words]
    assert windows.pieces.ids[windows.places[0]].tolist() == first
    assert windows.pieces.ids.tolist() == tokenizer(" ".join(words))["input_ids"]


def test_every_word_gets_a_label(tagger):
    """Words the tokenizer drops, words it does not know, words longer than the model, and empty sentences."""
    sentences = [["the", "\u200b", "cat"], [], ["漢字"], ["carries" * 14, "cat"], ["\u00ad"], text_of(90, 4)]
    labels = tagger.predict(sentences)
    assert [len(given) for given in labels] == [3, 0, 1, 2, 1, 90]
    assert {label for given in labels for label in given} <= set(LABELS)
    assert len(tagger.tokenizer(sentences[3][0])["input_ids"]) > tagger.max_length
    scores = evaluate_tagger(tagger, [Tagged(words, given) for words, given in zip(sentences, labels, strict=True)])
    assert [score.measure for score in scores] == ["accuracy", "coverage", "unknown", "words"]
    assert [score.value for score in scores] == [1.0, 1.0, pytest.approx(3 / 97), 97]


def test_prediction_does_not_depend_on_the_company(tagger):
    sentences = [text_of(words, words) for words in range(1, 30)]
    alone = [tagger.predict([words])[0] for words in sentences]
    assert tagger.predict(sentences) == alone == tagger.predict(sentences, tokens_per_batch=1)


def test_scores_equal_counting(tagger, tagged):
    accuracy = evaluate_tagger(tagger, tagged)[0]
    predicted = tagger.predict([sentence.words for sentence in tagged])
    pairs = [list(zip(given, sentence.labels, strict=True)) for given, sentence in zip(predicted, tagged, strict=True)]
    right = [sum(given == gold for given, gold in sentence) for sentence in pairs]
    words = [len(sentence) for sentence in pairs]
    interval = bca_interval(right, words)
    assert accuracy == ("accuracy", interval.mean, "share", interval.low, interval.high, tuple(right), tuple(words))
    assert 0 < sum(right) == round(accuracy.value * sum(map(len, pairs))) < sum(map(len, pairs))
    assert Tagging(tagger, [], {"dev": tagged}).evaluate(tagger) == {"dev": accuracy.value}


def test_a_gold_label_that_the_tagger_lacks_is_never_right(tagger):
    assert evaluate_tagger(tagger, [Tagged(["cat"], ["X"])])[0].value == 0.0


def test_training_on_a_strange_label_is_refused(tagger):
    with pytest.raises(InputError, match=r"label 'X' in the training data.*ADJ, DET"):
        _ = Tagging(tagger, [Tagged(["cat"], ["X"])]).lengths


def test_no_word_is_an_input_error(tagger):
    for nothing in ([], [Tagged([], [])]):
        with pytest.raises(InputError, match="no word to tag"):
            evaluate_tagger(tagger, nothing)


def test_loss_equals_one_word_at_a_time(tagger, tagged):
    task = Tagging(tagger, tagged[:8])
    loss = task.loss(tagger, task.batch(np.arange(8), torch.Generator()))
    each = []
    for sentence in tagged[:8]:
        ids = torch.tensor([tagger.tokenizer(" ".join(sentence.words))["input_ids"]])
        states = tagger.backbone(input_ids=ids).last_hidden_state[0]
        place = 1
        for word, label in zip(sentence.words, sentence.labels, strict=True):
            logits = tagger.classifier(states[place])
            each.append(cross_entropy(logits[None], torch.tensor([LABELS.index(label)])))
            place += len(tagger.tokenizer(word, add_special_tokens=False)["input_ids"])
    torch.testing.assert_close(loss, torch.stack(each).mean(), atol=1e-5, rtol=1e-5)


def test_the_encoder_is_not_copied(encoder):
    assert Tagger(encoder, LABELS).backbone is encoder.backbone


def test_most_frequent_tag_equals_counting(tagged):
    predict = MostFrequentTag().fit(tagged)
    best = Counter(label for sentence in tagged for label in sentence.labels).most_common(1)[0][0]
    assert predict([["any", "words"], ["one"]]) == [[best, best], [best]]
    assert MostFrequentTag().fit([Tagged("ab", ["B", "A"])])([["x"]]) == [["A"]]


def test_word_majority_looks_words_up():
    train = [Tagged(["run", "run", "run", "dog", "a"], ["NOUN", "VERB", "VERB", "NOUN", "NOUN"])]
    predict, test = WordMajority().fit(train), [*train, Tagged(["dog"], ["VERB"])]
    assert predict([["run", "dog", "new"]]) == [["VERB", "NOUN", "NOUN"]]
    scores = score_labels(predict([words for words, _ in test]), test)
    assert [score[:3] for score in scores] == [("accuracy", 4 / 6, "share"), ("words", 6, "words")]


def test_baselines_need_data():
    for rule in (MostFrequentTag(), WordMajority()):
        with pytest.raises(InputError, match="training data is empty"):
            rule.fit([])
