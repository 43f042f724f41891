import copy
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers.processors import TemplateProcessing
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForMaskedLM,
    BertConfig,
    BertForPreTraining,
    BertModel,
    DistilBertConfig,
    GPT2Config,
    RobertaConfig,
    XLMRobertaConfig,
    XLMRobertaModel,
)

from babelscope.core.errors import InputError
from babelscope.core.examples import SentencePair
from babelscope.encoders.load import load_encoder, save_encoder, untrained_model
from babelscope.tasks.classify import Classification, Classifier, evaluate_classifier
from babelscope.tasks.texts import encode_texts

LABELS = ("entailment", "neutral", "contradiction")
SIZES = {
    "vocab_size": 90, "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8,
    "max_position_embeddings": 50, "pad_token_id": 0,
}  # fmt: skip
WORDS = ["cat", "dog", "кот", "carries", "bigoldtree", "the", "."]


def text(words, seed):
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def pairs(count=40):
    return [SentencePair(text(1 + i % 8, i), text(1 + i % 3, -i), LABELS[i % 3]) for i in range(count)]


def texts(examples):
    return [(example.first, example.second) for example in examples]


@pytest.fixture
def classifier(encoder):
    torch.manual_seed(0)
    return spread(Classifier(encoder, LABELS).eval())


def spread(classifier):
    """Weights so large that predictions differ."""
    torch.nn.init.normal_(classifier.classifier.weight)
    return classifier


def with_types(encoder):
    """The encoder with an embedding of two sentence types."""
    config = copy.deepcopy(encoder.model.config)
    config.type_vocab_size = 2
    torch.manual_seed(5)
    return replace(encoder, model=untrained_model(config))


def longest_first(first, second, room):
    """Drop the last piece of the longer one until both fit."""
    first, second = list(first), list(second)
    while len(first) + len(second) > room:
        (first if len(first) > len(second) else second).pop()
    return first, second


# Encoding


@pytest.mark.parametrize("max_length", [5, 6, 9, 24])
def test_pairs_are_joined_by_the_template_and_cut_from_the_longer(tokenizer, max_length):
    bare = lambda sentence: tokenizer(sentence, add_special_tokens=False)["input_ids"]  # noqa: E731
    examples = [(text(a, a), text(b, 100 + b)) for a in range(8) for b in range(8)]
    pieces = encode_texts(tokenizer, examples, max_length, types=True)
    start, stop = tokenizer.cls_token_id, tokenizer.sep_token_id
    for (a, b), ids, end in zip(examples, pieces, pieces.starts[1:].tolist(), strict=True):
        both = bare(a), bare(b)
        if abs(len(both[0]) - len(both[1])) <= 1 and sum(map(len, both)) > max_length - 3:
            continue  # of equally long ones, which gives way first is the tokenizer's choice
        first, second = longest_first(*both, max_length - 3)
        if len(first) + len(second) == sum(map(len, both)) or abs(len(first) - len(second)) > 1:
            assert ids.tolist() == [start, *first, stop, *second, stop]
            kinds = [0] * (len(first) + 2) + [1] * (len(second) + 1)
            assert pieces.types[end - len(ids) : end].tolist() == kinds
        assert len(ids) <= max_length


def test_single_sentences_are_cut_at_the_end(tokenizer):
    whole, cut = (encode_texts(tokenizer, [text(20, 1), ""], length) for length in (500, 8))
    first, empty = list(cut)
    assert first.tolist() == [*next(iter(whole))[:7].tolist(), tokenizer.sep_token_id]
    assert empty.tolist() == [tokenizer.cls_token_id, tokenizer.sep_token_id]
    assert cut.types is None


def test_what_cannot_be_encoded_is_refused(tokenizer):
    with pytest.raises(InputError, match="1 of 2 texts are pairs"):
        encode_texts(tokenizer, ["cat", ("cat", "dog")], 20)
    with pytest.raises(InputError, match="max_length=4 leaves no room for text beside 3 special pieces"):
        encode_texts(tokenizer, [("cat", "dog")], 4)


def test_types_reach_a_model_that_has_them_and_no_other(encoder, classifier):
    assert classifier.encode(texts(pairs())).types is None
    typed = spread(Classifier(with_types(encoder), LABELS).eval())
    pieces = typed.encode([("cat", "dog .")])
    batch = pieces.batch(np.array([0]))
    assert batch.types.tolist() == [[0, 0, 0, 1, 1, 1]]
    given = typed.backbone(input_ids=batch.ids, token_type_ids=batch.types).last_hidden_state[:, 0]
    torch.testing.assert_close(typed(batch), typed.classifier(given))
    assert not torch.allclose(typed(batch), typed(batch._replace(types=None)))


# Prediction and scores


def test_every_text_gets_a_label(classifier):
    assert classifier.predict([]) == []
    labels = classifier.predict([("", ""), ("\u200b", "漢字"), (text(90, 1), text(90, 2))])
    assert len(labels) == 3
    assert set(labels) <= set(LABELS)


def test_prediction_does_not_depend_on_the_company(classifier):
    given = texts(pairs())
    alone = [classifier.predict([one])[0] for one in given]
    assert classifier.predict(given) == alone == classifier.predict(given, tokens_per_batch=1)


def test_scores_equal_counting(classifier):
    examples = pairs()
    (score,) = evaluate_classifier(classifier, examples, ["accuracy"])
    right = sum(a == example.label for a, example in zip(classifier.predict(texts(examples)), examples, strict=True))
    assert score.value == right / len(examples)
    assert 0 < score.low < score.value < score.high < 1


def test_loss_equals_one_text_at_a_time(classifier):
    examples = pairs(6)
    task = Classification(classifier, examples)
    loss = task.loss(classifier, task.batch(np.arange(6), torch.Generator()))
    each = []
    for example in examples:
        ids = torch.tensor(
            [classifier.tokenizer(example.first, example.second, max_length=24, truncation=True).input_ids]
        )
        logits = classifier.classifier(classifier.backbone(input_ids=ids).last_hidden_state[:, 0])
        each.append(cross_entropy(logits, torch.tensor([LABELS.index(example.label)])))
    torch.testing.assert_close(loss, torch.stack(each).mean(), atol=1e-5, rtol=1e-5)


def test_regression_is_on_the_scale(encoder):
    torch.manual_seed(0)
    model = Classifier(encoder, (), scale=(1.0, 5.0)).eval()
    examples = [SentencePair(text(i % 9, i), None, 1 + i % 5) for i in range(20)]
    task = Classification(model, examples, {"dev": examples}, measure="pearson")
    batch = task.batch(np.arange(20), torch.Generator())
    numbers = model.predict([example.first for example in examples])
    assert numbers == pytest.approx([1 + 4 * share for share in model(batch.batch).tolist()], rel=1e-5)
    assert numbers == pytest.approx([3.0] * 20, abs=1.5)
    expected = np.mean([((number - example.label) / 4) ** 2 for number, example in zip(numbers, examples, strict=True)])
    assert task.loss(model, batch).item() == pytest.approx(expected, rel=1e-5)
    correlation = np.corrcoef(numbers, [example.label for example in examples])[0, 1]
    assert task.evaluate(model)["dev"] == pytest.approx(correlation)
    assert evaluate_classifier(model, examples, ["pearson"])[0].value == pytest.approx(correlation)


# Heads


def test_the_first_state_is_raw(classifier):
    batch = classifier.encode(["cat"]).batch(np.array([0]))
    state = classifier.backbone(input_ids=batch.ids).last_hidden_state[0, 0]
    torch.testing.assert_close(classifier(batch)[0], classifier.classifier(state))


def test_a_pooler_that_the_checkpoint_lacks_is_drawn_from_the_seed(encoder):
    models = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        models.append(Classifier(encoder, LABELS, head="pooler").eval())
    same, again, other = (model.pooler.dense.weight for model in models)
    assert torch.equal(same, again)
    assert not torch.equal(same, other)
    batch = models[0].encode(["cat"]).batch(np.array([0]))
    state = models[0].backbone(input_ids=batch.ids).last_hidden_state[0, 0]
    pooled = torch.tanh(same @ state)
    torch.testing.assert_close(models[0](batch)[0], models[0].classifier(pooled))


@pytest.mark.parametrize(
    "checkpoint, config",
    [
        (BertForPreTraining, BertConfig(**SIZES, type_vocab_size=2)),
        (BertModel, BertConfig(**SIZES)),
        (XLMRobertaModel, XLMRobertaConfig(**SIZES, type_vocab_size=1)),
    ],
)
def test_the_pooler_of_a_checkpoint_is_loaded_and_saved(encoder, tmp_path, checkpoint, config):
    """The classifier then equals the library's own model of the checkpoint."""
    torch.manual_seed(7)
    model = checkpoint(config).eval()
    torch.nn.init.normal_(model.base_model.pooler.dense.bias)
    model.save_pretrained(tmp_path / "once")
    encoder.tokenizer.save_pretrained(tmp_path / "once")
    save_encoder(load_encoder(tmp_path / "once"), tmp_path / "twice")
    for folder in ("once", "twice"):
        loaded = load_encoder(tmp_path / folder)
        assert "pooler" not in "".join(loaded.model.state_dict())
        classifier = Classifier(loaded, LABELS, head="pooler").eval()
        assert classifier.pooler is loaded.pooler
        batch = classifier.encode(texts(pairs(1))).batch(np.array([0]))
        pooled = model.base_model(input_ids=batch.ids, token_type_ids=batch.types).pooler_output
        torch.testing.assert_close(classifier(batch), classifier.classifier(pooled))


@pytest.mark.parametrize("head", ["pooler", "last"])
def test_a_head_that_there_is_not_is_refused(encoder, head):
    config = DistilBertConfig(vocab_size=90, dim=8, n_heads=2, n_layers=1, hidden_dim=8)
    other = replace(encoder, model=AutoModelForMaskedLM.from_config(config))
    with pytest.raises(
        InputError, match="distilbert, which has no pooler; use head 'first'" if head == "pooler" else "'last'; a"
    ):
        Classifier(other, LABELS, head=head)


@pytest.mark.parametrize(
    "config",
    [
        DistilBertConfig(vocab_size=90, dim=8, n_heads=2, n_layers=1, hidden_dim=8, max_position_embeddings=24),
        RobertaConfig(**SIZES, type_vocab_size=1),
    ],
    ids=lambda config: config.model_type,
)  # fmt: skip
def test_other_families_classify_pairs(encoder, config):
    model = Classifier(replace(encoder, model=AutoModelForMaskedLM.from_config(config)), LABELS)
    assert set(model.predict(texts(pairs()))) <= set(LABELS)


def test_a_decoder_classifies_by_its_last_piece(encoder):
    """Which alone has read the whole text; padding changes nothing, and an empty text is not nothing."""
    config = GPT2Config(vocab_size=90, n_embd=8, n_head=2, n_layer=1, n_positions=24)
    tokenizer = copy.deepcopy(encoder.tokenizer)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A $B", special_tokens=[])
    tokenizer.eos_token = "[SEP]"  # noqa: S105
    torch.manual_seed(0)
    decoder = replace(encoder, model=untrained_model(config), tokenizer=tokenizer)
    model = spread(Classifier(decoder, LABELS).eval())
    given = ["", "cat", "the dog carries ."]
    batch = model.encode(given).batch(np.arange(3))
    for text, logits in zip(given, model(batch), strict=True):
        ids = torch.tensor([tokenizer(text)["input_ids"] or [tokenizer.eos_token_id]])
        last = model.backbone(input_ids=ids).last_hidden_state[0, -1]
        torch.testing.assert_close(logits, model.classifier(last), atol=1e-5, rtol=1e-5)
    with pytest.raises(InputError, match="gpt2, which has no pooler"):
        Classifier(decoder, LABELS, head="pooler")


# Refusals


def test_a_strange_label_is_refused_by_name(classifier, encoder):
    strange = [SentencePair("cat", "dog", "maybe")]
    for attempt in (
        lambda: Classification(classifier, strange).lengths,
        lambda: evaluate_classifier(classifier, strange, ["accuracy"]),
    ):
        with pytest.raises(
            InputError, match="label 'maybe' in the data: the task has entailment, neutral, contradiction"
        ):
            attempt()
    for label in ("3", float("nan")):
        with pytest.raises(InputError, match="regression needs finite numbers"):
            evaluate_classifier(Classifier(encoder, ()), [SentencePair("cat", None, label)], ["pearson"])


def test_what_does_not_fit_is_refused(classifier, encoder):
    with pytest.raises(InputError, match="measure 'pearson' does not score 3 classes; these do: accuracy"):
        evaluate_classifier(classifier, pairs(), ["pearson"])
    with pytest.raises(InputError, match="measure 'f1' does not score 3 classes"):
        Classification(classifier, pairs(), measure="f1")
    with pytest.raises(InputError, match="evaluation data is empty"):
        evaluate_classifier(classifier, [], ["accuracy"])
    with pytest.raises(InputError, match="one label, 'a'"):
        Classifier(encoder, ("a",))
    with pytest.raises(InputError, match="the lowest and the highest"):
        Classifier(encoder, (), scale=(5.0, 5.0))
