import random

import numpy as np
import pytest
import torch

from babelscope.core.errors import InputError
from babelscope.core.examples import DEPREL, Sentence, Word
from babelscope.tasks.bilstm.backbone import BiLstmBackbone, BiLstmShape
from babelscope.tasks.bilstm.parse import BiLstmParser, BiLstmParsing
from babelscope.tasks.bilstm.words import EncodedWords, Vocabulary
from babelscope.tasks.parse import evaluate_parser
from babelscope.tuning.checkpoint import module_weights, read_weights, set_weights, write_weights
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from babelscope.world import World

TINY = BiLstmShape(word=16, character=8, spelling=12, hidden=16)
QUICK = Tuning(learning_rate=1e-2, epochs=2, tokens_per_batch=64)


def text_of(words):
    return random.Random(words).choices(["cat", "dog", "кот", "unheard", "CAT", "x" * 50, "."], k=words)


@pytest.fixture(scope="module")
def treebank():
    return World().treebank("qaa", "train", 120)


def a_parser(sentences):
    torch.manual_seed(0)
    vocabulary = Vocabulary.of([sentence.forms for sentence in sentences])
    return BiLstmParser(BiLstmBackbone(vocabulary, TINY, dropout=0.2))


def test_every_word_gets_a_head_whatever_the_company(treebank):
    parser = a_parser(treebank)
    sentences = [["\u200b", ""], [], ["漢字"], *(text_of(words) for words in range(1, 30))]
    together = parser.predict(sentences)
    assert together == [parser.predict([words])[0] for words in sentences] == parser.predict(sentences, 1)
    for words, tree in zip(sentences, together, strict=True):
        assert len(tree.heads) == len(tree.deprels) == len(words)
        assert list(tree.heads).count(0) == list(tree.deprels).count("root") == bool(words)


def test_loss_of_a_parser_equals_one_sentence_at_a_time(treebank):
    parser = a_parser(treebank).eval()
    task = BiLstmParsing(parser, [*treebank[:6], Sentence("empty", ())])
    assert task.lengths.tolist() == [len(sentence.words) for sentence in treebank[:6]]
    batch = task.batch(np.arange(6), torch.Generator())._replace(words=task.examples.encoded.batch(np.arange(6)))
    total = 0.0
    for sentence in treebank[:6]:
        words = EncodedWords.of(parser.backbone.vocabulary, [sentence.forms]).batch(np.array([0]))
        heads = torch.tensor([[word.head for word in sentence.words]])
        relations = torch.tensor([[DEPREL.index(word.deprel.split(":")[0]) for word in sentence.words]])
        total += parser.biaffine.loss(parser(words), words.real, heads, relations) * len(sentence.words)
    torch.testing.assert_close(task.loss(parser, batch), total / int(task.lengths.sum()))


def test_parsing_is_learned(treebank, tmp_path):
    parser = a_parser(treebank)
    task = BiLstmParsing(parser, treebank[:100], {"qaa": treebank[100:]})
    before = evaluate_parser(parser, treebank[100:])
    tune(parser, task, QUICK.model_copy(update={"epochs": 10}), 0, tmp_path)
    after = evaluate_parser(parser, treebank[100:])
    assert [score.measure for score in after] == ["las", "uas", "las.nopunct", "uas.nopunct"]
    assert task.evaluate(parser) == {"qaa": after[0].value}
    assert after[0].value > before[0].value + 0.3


def test_a_relation_that_is_not_universal_is_refused(treebank):
    strange = Sentence("s", (Word("a", "X", 0, "boss"),))
    with pytest.raises(InputError, match="sentence 's': relation 'boss' of word 1"):
        _ = BiLstmParsing(a_parser(treebank), [strange]).gold


def test_no_word_to_parse_is_an_input_error(treebank):
    with pytest.raises(InputError, match="no word to parse"):
        evaluate_parser(a_parser(treebank), [Sentence("empty", ())])


def test_the_same_seed_gives_the_same_weights_and_they_are_the_whole_model(treebank, tmp_path):
    results = []
    for run in range(2):
        parser = a_parser(treebank)
        task = BiLstmParsing(parser, treebank[:40], {"qaa": treebank[100:]})
        results.append((tune(parser, task, QUICK, 1, tmp_path / str(run)), module_weights(parser)))
        write_weights(tmp_path / f"{run}.safetensors", module_weights(parser))
    (history, weights), (history_again, weights_again) = results
    assert history == history_again
    assert all(torch.equal(weights[name], weights_again[name]) for name in weights)

    torch.manual_seed(9)
    vocabulary = Vocabulary.model_validate_json(parser.backbone.vocabulary.model_dump_json())
    loaded = BiLstmParser(BiLstmBackbone(vocabulary, TINY))
    set_weights(loaded, read_weights(tmp_path / "0.safetensors"))
    sentences = [sentence.forms for sentence in treebank]
    assert loaded.predict(sentences) == parser.predict(sentences)
