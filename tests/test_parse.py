import copy
import random
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from babelscope.core.errors import InputError
from babelscope.core.examples import DEPREL, Sentence, Word
from babelscope.tasks.biaffine import NONE, SHAPES, Biaffine
from babelscope.tasks.parse import (
    EncodedSentences,
    Parser,
    Parsing,
    evaluate_parser,
    predict_trees,
    read_sentences,
    sentence_batches,
)
from babelscope.tuning.checkpoint import module_weights, read_weights, set_weights, write_weights
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning


def text_of(words, seed):
    chance = random.Random(seed)
    return chance.choices(["cat", "dog", "кот", "carries", "carriesfish", "bigoldtree", "the", "."], k=words)


def sentence_of(id, words, labels):
    """Nouns hang on the first verb, all else on the word after it, and the full stop on the verb."""
    root = labels.index("VERB") + 1
    parsed = []
    for place, (word, label) in enumerate(zip(words, labels, strict=True), start=1):
        head = root if label in ("NOUN", "VERB", "PUNCT") else place + 1
        deprel = {"NOUN": "nsubj" if place < root else "obj", "VERB": "conj", "PUNCT": "punct", "DET": "det"}
        link = (0, "root") if place == root else (head, deprel.get(label, "amod:sub"))
        parsed.append(Word(word, label, *link))
    return Sentence(id, tuple(parsed))


@pytest.fixture(scope="module")
def treebank(tagged):
    return [sentence_of(str(number), *one) for number, one in enumerate(tagged)]


def a_parser(encoder, head=None):
    torch.manual_seed(0)
    return Parser(copy.deepcopy(encoder), head).eval()


def is_tree(heads):
    for word in range(1, len(heads) + 1):
        for _ in heads:
            word = heads[word - 1] if word else 0
        if word:
            return False
    return True


# --- the scorer


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_equal_the_equations(shape):
    """One arc, and one relation, at a time."""
    torch.manual_seed(0)
    scorer = Biaffine(16, shape).eval()
    for parameter in (*scorer.arc.parameters(), *scorer.label.parameters()):
        nn.init.normal_(parameter, std=0.1)
    arc, label = SHAPES[shape].arc, SHAPES[shape].label
    states = torch.randn(2, 3, 16)
    found = scorer(states, torch.tensor([[True, True, True], [True, True, False]]))
    relations = scorer.relations(found.dependents[0, 1:3], found.heads[0, 2:4])
    views = scorer.activation(scorer.layer(torch.cat([scorer.root[None], states[0]])))
    of_dependent, of_head, *labels = views.split([arc, arc, label, label], dim=1)
    for i, j in ((1, 0), (1, 2), (3, 1)):
        expected = of_head[j] @ scorer.arc.weight @ of_dependent[i] + scorer.arc.bias @ of_head[j]
        torch.testing.assert_close(found.scores[0, i, j], expected, atol=1e-4, rtol=1e-4)
    weight, bias = (each.view(len(DEPREL), label + 1, -1) for each in (scorer.label.weight, scorer.label.bias))
    for row, (i, j) in enumerate(((1, 2), (2, 3))):
        head = torch.cat([labels[1][j], torch.ones(1)])
        expected = [head @ weight[k] @ labels[0][i] + head @ bias[k, :, 0] for k in range(len(DEPREL))]
        torch.testing.assert_close(relations[row], torch.stack(expected), atol=1e-4, rtol=1e-4)
    assert found.scores[0, 1:].isneginf().sum() == 3  # a word is not its own head
    assert found.scores[1, :, 3].isneginf().all()  # nor is padding


def test_zero_weights_start_as_a_uniform_choice():
    scorer = Biaffine(16, "align-then-predict").eval()
    real = torch.ones(1, 4, dtype=torch.bool)
    heads, relations = torch.tensor([[0, 1, 1, 1]]), torch.tensor([[0, 1, 2, 3]])
    loss = scorer.loss(torch.randn(1, 4, 16), real, heads, relations)
    assert loss.item() == pytest.approx(np.log(4) + np.log(37))


def test_dropout_is_shared_by_the_words_of_a_sentence():
    torch.manual_seed(0)
    scorer = Biaffine(16, "underspecified").train()
    arcs = scorer(torch.randn(3, 5, 16), torch.ones(3, 5, dtype=torch.bool))
    dropped = arcs.heads == 0
    assert (dropped == dropped[:, :1]).all()
    assert not (dropped[0] == dropped[1]).all()
    assert 0.2 < dropped.float().mean() < 0.46


def test_the_shape_follows_the_width():
    assert [Biaffine(hidden).sizes for hidden in (128, 129)] == [SHAPES["small"], SHAPES["underspecified"]]
    with pytest.raises(InputError, match=r"no parser head 'wide'; there are small, underspecified, align"):
        Biaffine(16, "wide")


# --- the parser


def test_every_word_is_attached_and_one_is_the_root(encoder):
    """Words the tokenizer drops, words longer than the model, empty sentences, sentences of many windows."""
    sentences = [["the", "\u200b", "cat"], [], ["漢字"], ["carries" * 14, "cat"], text_of(400, 4)]
    parser = a_parser(encoder)
    assert len(EncodedSentences.of(parser, sentences[4:]).windows.owned) > 50
    for words, (heads, deprels) in zip(sentences, parser.predict(sentences), strict=True):
        assert len(heads) == len(deprels) == len(words)
        assert is_tree(heads)
        assert [head == 0 for head in heads] == [deprel == "root" for deprel in deprels]
        assert deprels.count("root") == bool(words)
        assert set(deprels) <= set(DEPREL)


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


def arc_scores(parser, sentences):
    """[words + 1, words + 1] of each sentence, in float64, read in windows as the parser reads."""
    read = sentence_batches(EncodedSentences.of(parser, sentences), 1)
    scored = {}
    for (index,), words, states in read_sentences(parser, read):
        scored[index] = parser.biaffine(states, words.real).scores[0].double().detach().numpy()
    return [scored[index] for index in range(len(sentences))]


def test_words_of_all_windows_meet(encoder):
    """With context that windows do not cut, they change nothing: words find heads anywhere in the sentence.

    Trees are equally good where they differ: words in the same context tie, and rounding chooses among them.
    """
    parser = a_parser(encoder)
    torch.manual_seed(3)
    parser.backbone = Neighbours(len(encoder.tokenizer), 32)
    nn.init.normal_(parser.biaffine.arc.weight)
    sentences = [text_of(words, words) for words in (1, 7, 60, 151, 400)]
    trees = {}
    for parser.max_length in (64, 4000):
        trees[parser.max_length] = parser.predict(sentences)
    for scores, *found in zip(arc_scores(parser, sentences), trees[64], trees[4000], strict=True):
        one, other = (scores[range(1, len(scores)), tree.heads].sum() for tree in found)
        assert one == pytest.approx(other, rel=1e-6)
    assert max(abs(place - head) for place, head in enumerate(trees[64][-1].heads, start=1)) > 64


def test_prediction_does_not_depend_on_the_company(encoder):
    parser = a_parser(encoder)
    sentences = [text_of(words, words) for words in range(1, 50)]
    alone = [parser.predict([words])[0] for words in sentences]
    assert parser.predict(sentences) == alone == parser.predict(sentences, tokens_per_batch=1)


@pytest.mark.parametrize("head", SHAPES)
def test_loaded_weights_predict_the_same(encoder, tmp_path, head):
    parser = a_parser(encoder, head).train()
    for parameter in parser.parameters():
        nn.init.normal_(parameter, std=0.1)
    write_weights(tmp_path / "parser.safetensors", module_weights(parser))
    torch.manual_seed(9)
    other = Parser(copy.deepcopy(encoder), head)
    sentences = [text_of(words, words) for words in (3, 12, 70)]
    assert other.predict(sentences) != parser.predict(sentences)
    set_weights(other, read_weights(tmp_path / "parser.safetensors"))
    assert other.predict(sentences) == parser.predict(sentences)
    assert parser.training


def test_the_encoder_is_not_copied(encoder):
    assert Parser(encoder).backbone is encoder.backbone


# --- the task


def test_loss_equals_one_word_at_a_time(encoder, treebank):
    parser = a_parser(encoder)
    task = Parsing(parser, [*treebank[:5], Sentence("empty", ()), sentence_of("long", ["cat"] * 30, ["VERB"] * 30)])
    loss = task.loss(parser, task.batch(np.arange(6), torch.Generator()))
    of_heads, of_relations = [], []
    for sentence in task.sentences:
        if sentence.words:
            encoded = EncodedSentences.of(parser, [sentence.forms]).batch(np.array([0]))
            arcs = parser.biaffine(parser(encoded), encoded.real)
            for place, word in enumerate(sentence.words, start=1):
                of_heads.append(cross_entropy(arcs.scores[0, place], torch.tensor(word.head)))
                pair = arcs.dependents[0, place][None], arcs.heads[0, word.head][None]
                relation = torch.tensor([DEPREL.index(word.deprel.split(":")[0])])
                of_relations.append(cross_entropy(parser.biaffine.relations(*pair), relation))
    expected = torch.stack(of_heads).mean() + torch.stack(of_relations).mean()
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-5)


def test_trees_and_loss_together_are_those_apart(encoder, treebank):
    """To the last bit, of a batch with padding."""
    parser = a_parser(encoder)
    batch = Parsing(parser, treebank).batch(np.arange(12), torch.Generator())
    given = parser(batch.words), batch.words.real
    trees, loss = parser.biaffine.trees_and_loss(*given, batch.heads, batch.relations)
    assert not batch.words.real.all()
    assert trees == parser.biaffine.trees(*given)
    assert torch.equal(loss, parser.biaffine.loss(*given, batch.heads, batch.relations))


def test_nothing_is_cut_in_training(encoder, treebank):
    """A batch holds all words of its sentences with their trees; lengths count all windows of a sentence."""
    sentences = [*treebank[:3], sentence_of("long", ["carriesfish"] * 40, ["VERB"] * 40)]
    task = Parsing(a_parser(encoder), sentences)
    batch = task.batch(np.array([3, 1]), torch.Generator())
    for row, sentence in enumerate((sentences[3], sentences[1])):
        words = len(sentence.words)
        assert batch.heads[row].tolist()[:words] == [word.head for word in sentence.words]
        assert Counter(batch.heads[row].tolist())[NONE] == 40 - words
        assert batch.words.real[row].sum() == words
    windows = task.examples.windows.pieces.lengths
    assert task.lengths.tolist() == [*windows[:3], windows[3:].sum()]
    ids = batch.words.batch.ids.flatten()[batch.words.firsts[1, : len(sentences[1].words)]]
    tokenizer = task.parser.tokenizer
    assert ids.tolist() == [tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in sentences[1].forms]


def test_parsing_is_learned(encoder, treebank, tmp_path):
    parser = a_parser(encoder)
    task = Parsing(parser, treebank[:45], {"held out": treebank[45:]})
    before = evaluate_parser(parser, treebank[45:])
    settings = Tuning(learning_rate=3e-3, epochs=12, tokens_per_batch=128)
    history = tune(parser, task, settings, 0, tmp_path)
    after = evaluate_parser(parser, treebank[45:])
    assert [score.measure for score in after] == ["las", "uas", "las.nopunct", "uas.nopunct"]
    assert {point.measure for point in history.points} == {"loss", "las"}
    assert task.evaluate(parser) == {"held out": after[0].value}
    assert before[0].value < 0.3 < 0.8 < after[0].value


def test_a_batch_makes_no_difference_to_the_trees_of_an_evaluation(encoder, treebank):
    parser = a_parser(encoder)
    encoded = EncodedSentences.of(parser, [sentence.forms for sentence in treebank])
    usual, small = (predict_trees(parser, len(treebank), sentence_batches(encoded, tokens)) for tokens in (1024, 64))
    assert usual == small


def test_training_on_a_strange_relation_is_refused(encoder):
    with pytest.raises(InputError, match=r"sentence 'x': relation 'subject:x' of word 1.*acl, advcl"):
        Parsing(a_parser(encoder), [Sentence("x", (Word("cat", "NOUN", 0, "subject:x"),))])


def test_no_word_is_an_input_error(encoder):
    for nothing in ([], [Sentence("empty", ())]):
        with pytest.raises(InputError, match="no word to parse"):
            evaluate_parser(a_parser(encoder), nothing)
