"""Sentences that published code cut before it parsed them, and dropout of whole sentences."""

import copy

import numpy as np
import pytest
import torch

from babelscope.core.examples import DEPREL, Tree
from babelscope.encoders.load import Encoder
from babelscope.encoders.windows import pieces_of_words
from babelscope.tasks.biaffine import NONE
from babelscope.tasks.design import Design
from babelscope.tasks.models import task_model
from babelscope.tasks.parse import Parser, Parsing
from treebank import chain


@pytest.fixture(scope="module")
def encoder(encoder):
    """A copy, since models leave it in training."""
    return Encoder(copy.deepcopy(encoder.model), encoder.tokenizer, encoder.name)


@pytest.mark.parametrize("shared", [False, True])
def test_dropout_of_trees_is_of_all_words_of_a_sentence(encoder, shared):
    torch.manual_seed(0)
    parser = Parser(copy.deepcopy(encoder), None, 0.5, quirks=("sentence-dropout",) if shared else ())
    task = Parsing(parser, [chain(5), chain(5)])
    batch = task.batch(np.arange(2), torch.Generator())
    found = parser(batch.words) == 0
    assert bool((found == found[:, :1]).all()) == shared
    assert (found[0, 0] != found[1, 0]).any()


def cut(sentences, encoder, max_length=12):
    model = task_model(encoder, Design("parsing", max_length=max_length, quirks=("cut-sentences",)))
    return model, model.training(sentences, {"dev": sentences})


def test_training_sentences_end_at_pieces_and_others_at_words(encoder):
    """As the published loop: a word is added while it has room, and none after the first that has not."""
    sentences = [chain(words) for words in (2, 5, 9, 30)]
    model, task = cut(sentences, encoder)
    for sentence, shorter in zip(sentences, task.sentences, strict=True):
        (pieces,), read = pieces_of_words(encoder.tokenizer, [sentence.forms]), []
        for word, its in zip(sentence.words, pieces, strict=True):
            if len([piece for each in pieces[: len(read)] for piece in each]) + len(its) >= 12:
                break
            read.append(word)
        assert shorter.words == tuple(read)
    assert [len(sentence.words) for sentence in task.dev["dev"]] == [2, 5, 9, 12]
    assert model.module.max_length == encoder.max_length, "what is scored is read whole"
    las = {score.measure: score for score in model.scores(sentences)}["las"]
    assert las.denominators == (2, 5, 9, 12)


def test_what_hangs_on_a_word_that_is_cut_off_counts_in_no_loss(encoder):
    _, task = cut([chain(30)], encoder)
    batch = task.batch(np.array([0]), torch.Generator())
    words = len(task.sentences[0].words)
    assert batch.heads[0].tolist() == [*range(2, words + 1), NONE]
    assert batch.relations[0].tolist() == [DEPREL.index("dep")] * (words - 1) + [NONE]


class Finds:
    """A parser that finds every head that is in the sentence, and the last word for others."""

    def predict(self, sentences):
        return [
            Tree([min(place + 1, len(words)) for place in range(1, len(words) + 1)], ["dep"] * len(words))
            for words in sentences
        ]


def test_what_hangs_on_a_word_that_is_cut_off_is_never_right(encoder):
    model, _ = cut([chain(30)], encoder)
    model.module = Finds()
    scores = {score.measure: score for score in model.scores([chain(30), chain(5)])}
    assert scores["uas"].denominators == (12, 5)
    assert scores["uas"].numerators == (11, 4), "and what hangs on the root is not found by this one"


def test_sentences_of_which_no_word_has_a_head_have_no_loss(encoder):
    """They were cut to their first words, whose heads are gone."""
    ((cat,),) = pieces_of_words(encoder.tokenizer, [["cat"]])
    _, task = cut([chain(30), chain(20)], encoder, max_length=max(4, len(cat) + 1))
    assert [len(sentence.words) for sentence in task.sentences] == [1, 1]
    assert task.loss(task.parser, task.batch(np.arange(2), torch.Generator())) == 0
