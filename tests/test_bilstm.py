import random
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from babelscope.core.errors import InputError
from babelscope.core.examples import Tagged
from babelscope.encoders.pieces import Batch
from babelscope.tasks.bilstm.backbone import BiLstmBackbone, BiLstmLayer, BiLstmShape, SpellingEncoder, reversal
from babelscope.tasks.bilstm.tag import BiLstmTagger, BiLstmTagging, evaluate_bilstm_ner, evaluate_bilstm_tagger
from babelscope.tasks.bilstm.words import LONGEST_FORM, EncodedWords, TrainingWords, Vocabulary, unknown_rates
from babelscope.tasks.task import Score
from babelscope.tuning.checkpoint import module_weights, read_weights, set_weights, write_weights
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning

LABELS = ("ADJ", "DET", "NOUN", "PUNCT", "VERB")
BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
TINY = BiLstmShape(word=16, character=8, spelling=12, hidden=16)
QUICK = Tuning(learning_rate=1e-2, epochs=2, tokens_per_batch=64)
WORDS = st.text("abcÄяß漢", max_size=5)


class StoppedError(Exception):
    """What stops a run in a test."""


def a_tagger(sentences, output="softmax", labels=LABELS, dropout=0.3):
    torch.manual_seed(0)
    vocabulary = Vocabulary.of([sentence.words for sentence in sentences])
    return BiLstmTagger(BiLstmBackbone(vocabulary, TINY, dropout), labels, output)


def text_of(words, seed):
    chance = random.Random(seed)
    return chance.choices(["cat", "dog", "кот", "carries", "unheard", "CAT", "x" * 50, "."], k=words)


def same_weights(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


# --- words


@given(st.lists(st.lists(WORDS, max_size=6), max_size=6), st.randoms())
def test_vocabulary_equals_counting(sentences, chance):
    vocabulary = Vocabulary.of(sentences)
    counts = Counter(word.lower() for words in sentences for word in words)
    assert list(vocabulary.words) == sorted(word for word in counts if counts[word] > 1)
    assert list(vocabulary.characters) == sorted({letter for words in sentences for word in words for letter in word})
    assert vocabulary.counts(sentences)[1:].tolist() == [counts[word] for word in vocabulary.words]
    assert vocabulary.counts(sentences).sum() == sum(map(len, sentences))
    chance.shuffle(sentences)
    assert Vocabulary.of(sentences) == vocabulary == Vocabulary.model_validate_json(vocabulary.model_dump_json())


@given(st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=6))
def test_encoding_equals_looking_up(sentences):
    vocabulary = Vocabulary(words=("a", "ab", "ä", "ß"), characters=("a", "b", "Ä", "я"))
    batch = EncodedWords.of(vocabulary, sentences).batch(np.arange(len(sentences)))
    assert batch.real.sum(1).tolist() == [len(words) for words in sentences]
    for row, words in enumerate(sentences):
        for column, word in enumerate(words):
            known = word.lower() in vocabulary.words
            assert batch.words[row, column] == (1 + vocabulary.words.index(word.lower()) if known else 0)
            form = batch.forms[row, column]
            letters = batch.spelling.ids[form][batch.spelling.real[form]].tolist()
            numbers = {"a": 2, "b": 3, "Ä": 4, "я": 5}
            assert letters == ([numbers.get(letter, 1) for letter in word] or [1])


def test_of_a_very_long_form_both_ends_are_read():
    vocabulary = Vocabulary(words=(), characters=("a", "b", "c"))
    encoded = EncodedWords.of(vocabulary, [["a" * 50 + "b" * 500 + "c" * 50], ["a" * LONGEST_FORM]])
    assert encoded.spelling.ids[:LONGEST_FORM].tolist() == [2] * (LONGEST_FORM // 2) + [4] * (LONGEST_FORM // 2)
    assert encoded.spelling.lengths.tolist() == [LONGEST_FORM, LONGEST_FORM]


def test_rare_words_are_made_unknown_at_their_rate():
    vocabulary = Vocabulary(words=("often", "seldom"), characters=())
    counts = vocabulary.counts([["often"] * 99 + ["Seldom"] * 2 + ["never"]])
    assert counts.tolist() == [1, 99, 2]
    rates = unknown_rates(counts)
    words = TrainingWords(EncodedWords.of(vocabulary, [["often", "seldom"] * 20000]), rates)
    words, again = (words.batch(np.array([0]), torch.Generator().manual_seed(0)).words[0].view(-1, 2) for _ in range(2))
    assert (words[:, 0] == 0).double().mean().item() == pytest.approx(0.25 / 99.25, abs=0.001)
    assert (words[:, 1] == 0).double().mean().item() == pytest.approx(0.25 / 2.25, abs=0.01)
    assert set(words.flatten().tolist()) == {0, 1, 2}
    assert torch.equal(words, again)


# --- the backbone


def test_a_layer_equals_a_packed_bidirectional_lstm():
    torch.manual_seed(0)
    layer, packed = BiLstmLayer(5, 7), nn.LSTM(5, 7, bidirectional=True, batch_first=True)
    for name, tensor in layer.right.named_parameters():
        packed.get_parameter(name).data.copy_(tensor)
        packed.get_parameter(f"{name}_reverse").data.copy_(layer.left.get_parameter(name))
    lengths = torch.tensor([4, 9, 1, 6])
    real = torch.arange(9) < lengths[:, None]
    states = torch.randn(4, 9, 5)
    found = layer(states, reversal(real))
    expected, _ = packed(pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False))
    expected, _ = pad_packed_sequence(expected, batch_first=True)
    torch.testing.assert_close(found[real], expected[real])


def test_spelling_equals_one_form_at_a_time():
    torch.manual_seed(0)
    encoder = SpellingEncoder(9, TINY)
    forms = [torch.randint(1, 11, (length,)) for length in (1, 2, 5, 12)]
    real = torch.arange(12) < torch.tensor([1, 2, 5, 12])[:, None]
    ids = nn.utils.rnn.pad_sequence(forms, batch_first=True)
    found = encoder(Batch(ids, real))
    weight, bias = encoder.convolution.weight, encoder.convolution.bias
    for row, form in zip(found, forms, strict=True):
        letters = [torch.zeros(8), *encoder.embedding(form), torch.zeros(8)]
        seen = [
            bias + sum(weight[:, :, offset] @ letters[place + offset] for offset in range(3))
            for place in range(len(form))
        ]
        torch.testing.assert_close(row, torch.stack(seen).amax(0))


# --- tagging


@pytest.mark.parametrize("output", ["softmax", "crf"])
def test_every_word_gets_a_label_whatever_the_company(tagged, output):
    """Words and characters never seen, long words, empty forms, empty sentences."""
    tagger = a_tagger(tagged, output).eval()
    nn.init.normal_(tagger.classifier.weight)
    sentences = [["the", "\u200b", ""], [], ["漢字"], *(text_of(words, words) for words in range(1, 30)), []]
    together = tagger.predict(sentences)
    assert [len(labels) for labels in together] == [len(words) for words in sentences]
    assert together == [tagger.predict([words])[0] for words in sentences] == tagger.predict(sentences, 1)
    assert len({label for labels in together for label in labels}) > 1
    assert tagger.predict([]) == []
    assert tagger.predict([[]]) == [[]]


def test_a_crf_predicts_bio_alone(tagged):
    tagger = a_tagger(tagged, "crf", BIO)
    nn.init.normal_(tagger.crf.transitions)
    nn.init.normal_(tagger.classifier.weight)
    labels = tagger.predict([text_of(words, words) for words in range(1, 40)])
    pairs = [pair for row in labels for pair in zip(["O", *row], row, strict=False) if pair[1][0] == "I"]
    assert len(pairs) > 20
    assert all(before in (f"B{label[1:]}", label) for before, label in pairs)


def test_loss_equals_one_word_at_a_time(tagged):
    tagger = a_tagger(tagged).eval()
    task = BiLstmTagging(tagger, [*tagged[:8], Tagged([], [])])
    assert task.lengths.tolist() == [len(sentence.words) for sentence in tagged[:8]]
    batch = task.batch(np.arange(8), torch.Generator())
    examples = task.examples.encoded
    batch = batch._replace(words=examples.batch(np.arange(8)))  # with no word made unknown
    each = []
    for number, sentence in enumerate(tagged[:8]):
        logits = tagger(examples.batch(np.array([number])))[0]
        assert tagger.predict([sentence.words])[0] == [LABELS[best] for best in logits.argmax(1)]
        gold = [LABELS.index(label) for label in sentence.labels]
        each += [cross_entropy(row[None], torch.tensor([label])) for row, label in zip(logits, gold, strict=True)]
    torch.testing.assert_close(task.loss(tagger, batch), torch.stack(each).mean())


@pytest.mark.parametrize("output", ["softmax", "crf"])
def test_tagging_is_learned(tagged, output, tmp_path):
    tagger = a_tagger(tagged[:40], output)
    task = BiLstmTagging(tagger, tagged[:40], {"qaa": tagged[40:]})
    tune(tagger, task, QUICK.model_copy(update={"epochs": 10, "learning_rate": 2e-2}), 0, tmp_path)
    assert task.evaluate(tagger)["qaa"] > 0.95


def test_training_on_a_strange_label_is_refused(tagged):
    with pytest.raises(InputError, match=r"label 'X' in the training data.*ADJ, DET"):
        _ = BiLstmTagging(a_tagger(tagged), [Tagged(["cat"], ["X"])]).lengths


def test_scores_equal_counting(tagged):
    tagger = a_tagger(tagged)
    sentences = [Tagged([], []), *tagged]
    predicted = tagger.predict([sentence.words for sentence in sentences])
    right = [
        given == gold
        for labels, sentence in zip(predicted, sentences, strict=True)
        for given, gold in zip(labels, sentence.labels, strict=True)
    ]
    accuracy, words = evaluate_bilstm_tagger(tagger, sentences)
    assert (accuracy.measure, accuracy.value) == ("accuracy", sum(right) / len(right))
    assert accuracy.low < accuracy.value < accuracy.high
    assert words == Score("words", len(right), "words")
    assert BiLstmTagging(tagger, tagged, {"a": sentences}).evaluate(tagger) == {"a": accuracy.value}


def test_entities_are_scored_by_spans(tagged):
    tagger = a_tagger(tagged, "crf", BIO)
    nn.init.normal_(tagger.classifier.weight)
    words = [sentence.words for sentence in tagged]
    own = [Tagged(*pair) for pair in zip(words, tagger.predict(words), strict=True)]
    assert evaluate_bilstm_ner(tagger, own)[0].value == 1.0
    other = [*own[:30], *(Tagged(words, ["O"] * len(words)) for words, _ in own[30:])]
    f1 = evaluate_bilstm_ner(tagger, other)[0]
    assert f1.measure == "f1"
    assert 0 < f1.value < 1
    assert BiLstmTagging(tagger, tagged, {"a": other}, "f1").evaluate(tagger) == {"a": f1.value}


def test_no_word_is_an_input_error(tagged):
    for evaluate in (evaluate_bilstm_tagger, evaluate_bilstm_ner):
        with pytest.raises(InputError, match="no word to tag"):
            evaluate(a_tagger(tagged), [Tagged([], [])])


# --- laws of training


@pytest.mark.parametrize("output", ["softmax", "crf"])
def test_a_resumed_run_equals_an_uninterrupted_one(tagged, tmp_path, output):
    def run(folder, stop=None):
        def progress(done, total, loss):
            if done == stop:
                raise StoppedError

        tagger = a_tagger(tagged, output)
        task = BiLstmTagging(tagger, tagged[:40], {"qaa": tagged[40:]})
        history = tune(tagger, task, QUICK, 1, folder, progress, checkpoint_seconds=0.0)
        return module_weights(tagger), history

    for stop in (2, 5):
        with pytest.raises(StoppedError):
            run(tmp_path / "stopped", stop)
    resumed, whole = run(tmp_path / "stopped"), run(tmp_path / "whole")
    assert same_weights(resumed[0], whole[0])
    assert resumed[1] == whole[1]


@pytest.mark.parametrize("output", ["softmax", "crf"])
def test_weights_and_vocabulary_are_the_whole_model(tagged, tmp_path, output):
    tagger = a_tagger(tagged, output)
    tune(tagger, BiLstmTagging(tagger, tagged), QUICK, 0, tmp_path)
    write_weights(tmp_path / "model.safetensors", module_weights(tagger))
    (tmp_path / "vocabulary.json").write_text(tagger.backbone.vocabulary.model_dump_json())
    torch.manual_seed(9)
    vocabulary = Vocabulary.model_validate_json((tmp_path / "vocabulary.json").read_text())
    loaded = BiLstmTagger(BiLstmBackbone(vocabulary, TINY), LABELS, output)
    set_weights(loaded, read_weights(tmp_path / "model.safetensors"))
    sentences = [text_of(words, words) for words in range(20)] + [sentence.words for sentence in tagged]
    assert loaded.predict(sentences) == tagger.predict(sentences)
