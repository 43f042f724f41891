"""Saved, reloaded and loaded by transformers, a model says the same."""

import json
from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    BertConfig,
    pipeline,
)

from babelscope.advise.card import TAG_WORDS
from babelscope.core.errors import InputError
from babelscope.core.examples import Sentence, SentencePair, Tagged, Word
from babelscope.encoders.heads import class_with_head
from babelscope.encoders.load import Encoder, load_encoder
from babelscope.encoders.pooler import read_pooler
from babelscope.tasks.design import Design
from babelscope.tasks.export import load_model, save_model
from babelscope.tasks.models import known_words, recurrent_model, task_model
from closeness import assert_close
from exported import made
from families import DECODERS, FAMILIES, byte_level_tokenizer, family_model

TAGGERS = [family for family in FAMILIES if family != "modernbert"]
ENTITIES = ("LOC", "PER")
LONGEST_SUM, MAGNITUDE = 64, 10
"""Of the families' small models: terms of the sums of their feed-forward layers, and about the size of logits."""


def family_encoder(model_type, tokenizer, sentences, **changes):
    if model_type in DECODERS:
        tokenizer = byte_level_tokenizer(sentences, 300)
        changes = {"vocabulary": 300, **changes}
    return Encoder(family_model(model_type, **changes), tokenizer, model_type)


@torch.no_grad()
def logits(classifier, texts):
    """Of each text read by itself, as pipelines do."""
    pieces = classifier.encode(texts)
    return torch.cat([classifier(pieces.batch(np.array([k]))) for k in range(len(texts))])


@torch.no_grad()
def spread(classifier, texts):
    """Move the logits so that their means are equal, and labels differ."""
    last = [one for one in classifier.modules() if isinstance(one, torch.nn.Linear)][-1]
    if last.bias is not None:
        last.bias -= logits(classifier, texts).mean(0)


@pytest.fixture(scope="session")
def words(tagged):
    return [list(sentence.words) for sentence in tagged]


@pytest.fixture(scope="session")
def trees(tagged):
    return [
        Sentence(
            str(k), tuple(Word(w, t, i, "root" if i == 0 else "dep") for i, (w, t) in enumerate(zip(*one, strict=True)))
        )
        for k, one in enumerate(tagged)
    ]


@pytest.fixture(scope="session")
def entities(tagged):
    return [Tagged(words, [("O", "B-LOC", "I-LOC", "B-PER")[len(w) % 4] for w in words]) for words, _ in tagged]


@pytest.fixture(scope="session")
def pairs(sentences):
    labels = ("entailment", "neutral", "contradiction")
    return [SentencePair(a, b, labels[k % 3]) for k, (a, b) in enumerate(zip(sentences, sentences[::-1], strict=True))]


@pytest.fixture
def examples(trees, entities, pairs):
    return {
        "pos": trees,
        "parsing": trees,
        "ner": entities,
        "xnli": pairs,
        "sst2": [SentencePair(pair.first, None, "01"[k % 2]) for k, pair in enumerate(pairs)],
        "stsb": [pair._replace(label=k % 6 / 1.3) for k, pair in enumerate(pairs)],
    }


def inputs(examples):
    if isinstance(examples[0], SentencePair):
        return [one.first if one.second is None else (one.first, one.second) for one in examples]
    return [list(one.words) if isinstance(one, Tagged) else one.forms for one in examples]


MODELS = [
    ("pos", {}), ("ner", {"entity_types": ENTITIES}), ("parsing", {}), ("parsing", {"head": "underspecified"}),
    ("xnli", {"head": "family"}), ("xnli", {"head": "pooler"}), ("sst2", {"head": "family"}),
    ("stsb", {"head": "family"}), ("stsb", {"head": "pooler"}), ("pos", {"max_length": 8}), ("xnli", {}), ("stsb", {}),
]  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("task", "choices"), MODELS)
def test_a_model_read_back_scores_the_same_to_the_last_digit(
    family, task, choices, tokenizer, sentences, examples, tmp_path
):
    encoder = family_encoder(family, tokenizer, sentences)
    try:
        model = made(encoder, task, **choices)
        save_model(model, tmp_path / "model")
    except InputError as error:
        assert choices.get("head") == "pooler", error
        assert not (tmp_path / "model").exists()
        return
    again = load_model(tmp_path / "model")
    assert again.design == model.design
    assert again.scores(examples[task]) == model.scores(examples[task])
    assert again.module.predict(inputs(examples[task])) == model.module.predict(inputs(examples[task]))
    save_model(again, tmp_path / "again")
    for name in ("model.safetensors", "babelscope.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes(), name


@pytest.mark.parametrize("task", ["pos", "ner", "parsing"])
def test_a_bilstm_read_back_scores_the_same_to_the_last_digit(task, examples, tmp_path):
    torch.manual_seed(0)
    design = Design(task, entity_types=ENTITIES if task == "ner" else ())
    model = recurrent_model(design, known_words(examples[task]))
    model.module.eval()
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.scores(examples[task]) == model.scores(examples[task])
    assert again.module.predict([["unseen", "слово", ""]]) == model.module.predict([["unseen", "слово", ""]])
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["babelscope.json", "model.safetensors"]


def test_a_masked_language_model_is_saved_as_the_encoder_it_is(encoder, trees, tmp_path):
    model = task_model(encoder, Design("mlm"))
    save_model(model, tmp_path / "model")
    again = task_model(load_encoder(tmp_path / "model"), Design("mlm"))
    lines = [" ".join(sentence.forms) for sentence in trees]
    assert again.scores(lines) == model.scores(lines)


@pytest.mark.parametrize("family", TAGGERS)
@pytest.mark.parametrize("task", ["pos", "ner"])
def test_the_library_makes_the_same_logits_of_words(family, task, tokenizer, sentences, tmp_path):
    model = made(family_encoder(family, tokenizer, sentences), task, entity_types=ENTITIES if task == "ner" else ())
    save_model(model, tmp_path / "model")
    theirs, report = AutoModelForTokenClassification.from_pretrained(tmp_path / "model", output_loading_info=True)
    assert not any(report.values()), report
    assert tuple(theirs.config.id2label.values()) == model.module.labels
    assert theirs.config.label2id["B-PER" if task == "ner" else "NOUN"] == model.module.labels.index(
        "B-PER" if task == "ner" else "NOUN"
    )
    pieces = model.module.tokenizer(sentences[:8], padding=True, return_tensors="pt")
    ids, mask = pieces["input_ids"], pieces["attention_mask"]
    with torch.no_grad():
        ours = model.module.classifier(model.module.backbone(input_ids=ids, attention_mask=mask).last_hidden_state)
        assert torch.equal(theirs(input_ids=ids, attention_mask=mask).logits, ours)


@pytest.mark.parametrize(("family", "task"), [*((family, "pos") for family in TAGGERS), ("bert", "ner")])
def test_a_pipeline_tags_words_as_the_tagger_does(family, task, tokenizer, sentences, words, tmp_path):
    model = made(family_encoder(family, tokenizer, sentences), task, entity_types=ENTITIES if task == "ner" else ())
    save_model(model, tmp_path / "model")
    found = {}
    exec(TAG_WORDS.replace('model="."', f"model={str(tmp_path / 'model')!r}"), found)  # noqa: S102 (our own text)
    predicted = model.module.predict(words)
    assert len({label for labels in predicted for label in labels}) > (3 if task == "pos" else 1)
    assert [found["tag"](one) for one in words] == predicted


def test_a_pipeline_finds_the_entities_that_the_tagger_finds(encoder, words, tmp_path):
    model = made(encoder, "ner", entity_types=ENTITIES)
    save_model(model, tmp_path / "model")
    find = pipeline("token-classification", model=str(tmp_path / "model"), aggregation_strategy="first")
    found = 0
    for one, labels in zip(words, model.module.predict(words), strict=True):
        theirs = [None] * len(one)
        starts = [0, *accumulate(len(word) + 1 for word in one)]
        for group in find(" ".join(one)):
            for k in range(starts.index(group["start"]), len(one)):
                theirs[k] = group["entity_group"] if starts[k] < group["end"] else theirs[k]
        assert theirs == [None if label == "O" else label[2:] for label in labels]
        found += sum(one is not None for one in theirs)
    assert found > 20


@pytest.mark.parametrize(
    ("family", "task", "head"),
    [(family, task, "family") for family in FAMILIES for task in ("xnli", "sst2")]
    + [(family, "xnli", "pooler") for family in ("bert", "roberta", "xlm-roberta")],
)
def test_a_pipeline_classifies_as_the_classifier_does(family, task, head, tokenizer, sentences, examples, tmp_path):
    types = {"type_vocab_size": 2} if family in ("bert", "electra") else {}
    model = made(family_encoder(family, tokenizer, sentences, **types), task, head=head)
    texts = inputs(examples[task])
    spread(model.module, texts)
    save_model(model, tmp_path / "model")
    classify = pipeline("text-classification", model=str(tmp_path / "model"), truncation=True)
    given = [{"text": text[0], "text_pair": text[1]} for text in texts] if task == "xnli" else texts
    theirs = classify(given)
    assert [answer["label"] for answer in theirs] == model.module.predict(texts)
    assert len({answer["label"] for answer in theirs}) > 1 or family in DECODERS  # whose head has no bias to spread by
    ours = logits(model.module, texts).softmax(1).amax(1)
    assert_close([answer["score"] for answer in theirs], ours, terms=LONGEST_SUM, magnitude=MAGNITUDE)


@pytest.mark.parametrize("family", FAMILIES)
def test_regression_has_one_output_a_share_of_the_scale(family, tokenizer, sentences, examples, tmp_path):
    model = made(family_encoder(family, tokenizer, sentences), "stsb", head="family")
    save_model(model, tmp_path / "model")
    theirs, report = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model", output_loading_info=True)
    assert not any(report.values()), report
    assert (theirs.config.num_labels, theirs.config.problem_type) == (1, "regression")
    texts = inputs(examples["stsb"])
    classify = pipeline("text-classification", model=str(tmp_path / "model"), truncation=True)
    shares = [answer["score"] for answer in classify([{"text": a, "text_pair": b} for a, b in texts])]
    assert_close([5 * share for share in shares], model.module.predict(texts), terms=LONGEST_SUM, magnitude=MAGNITUDE)


def test_the_family_head_trains_the_encoder_itself(encoder, tokenizer, sentences):
    own = family_encoder("bert", tokenizer, sentences)
    model = made(own, "sst2", head="family")
    assert model.module.family.bert is own.backbone
    names = [name for name, _ in model.module.named_parameters()]
    assert len(names) == len(set(names)) and "family.classifier.weight" in names


def test_the_family_head_keeps_a_pooler_that_was_trained(tokenizer, sentences):
    from babelscope.encoders.pooler import Pooler

    own = family_encoder("bert", tokenizer, sentences)
    own = replace(own, pooler=Pooler(own.backbone.config))
    trained = own.pooler.dense.weight.clone()
    model = task_model(own, Design("sst2", head="family"))
    assert torch.equal(model.module.family.bert.pooler.dense.weight, trained)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_family_head_has_the_dropout_that_was_asked_for(family, tokenizer, sentences):
    model = task_model(family_encoder(family, tokenizer, sentences), Design("sst2", head="family", dropout=0.375))
    config = model.module.family.config
    backbone = set(model.module.backbone.modules())
    heads = [one for one in model.module.family.modules() if one not in backbone]
    dropouts = [one.p for one in heads if isinstance(one, torch.nn.Dropout) or hasattr(one, "drop_prob")]
    assert 0.375 in dropouts or family in DECODERS, (config, dropouts)


@pytest.mark.parametrize(
    ("family", "task"), [("bert", "sst2"), ("gpt2", "sst2"), ("modernbert", "pos"), ("bert", "parsing")]
)
def test_the_library_loads_the_encoder_beside_a_head_that_it_lacks(family, task, tokenizer, sentences, tmp_path):
    model = made(family_encoder(family, tokenizer, sentences), task)
    save_model(model, tmp_path / "model")
    theirs, report = AutoModel.from_pretrained(tmp_path / "model", output_loading_info=True)
    own = {name.split(".")[0] for name in report.pop("unexpected_keys")}
    assert own == {"biaffine" if task == "parsing" else "babelscope"}
    assert all(name.startswith("pooler.") for names in report.values() for name in names), report
    pieces = model.module.tokenizer(sentences[:8], padding=True, return_tensors="pt")
    given = {"input_ids": pieces["input_ids"], "attention_mask": pieces["attention_mask"]}
    with torch.no_grad():
        assert torch.equal(theirs(**given).last_hidden_state, model.module.backbone(**given).last_hidden_state)
    assert not class_with_head(str(tmp_path / "model"))


def test_labels_of_an_earlier_task_are_no_longer_there(tokenizer, sentences, tmp_path):
    """A pipeline would answer with them, where there is no head for the later task."""
    tagger = made(family_encoder("bert", tokenizer, sentences), "pos")
    save_model(tagger, tmp_path / "tagger")
    assert class_with_head(str(tmp_path / "tagger")) == "BertForTokenClassification"
    for task in ("sst2", "parsing"):
        save_model(made(load_encoder(tmp_path / "tagger"), task), tmp_path / task)
        config = BertConfig.from_pretrained(tmp_path / task)
        assert (config.num_labels, config.id2label[0], config.problem_type) == (2, "LABEL_0", None)


def test_a_head_of_ours_is_no_pooler_of_the_encoder(encoder):
    assert read_pooler("nowhere", ["babelscope.pooler.dense.weight"], encoder.backbone) is None


def test_what_an_older_version_exported_is_read(encoder, examples, tmp_path):
    model = made(encoder, "ner", entity_types=ENTITIES)
    save_model(model, tmp_path / "model")
    design = {"task": "ner", "entity_types": list(ENTITIES), "dropout": 0.1}
    record = {"format": 1, "babelscope": "0.1.0", "design": design}
    assert json.loads((tmp_path / "model" / "babelscope.json").read_text()).keys() == record.keys() | {"training_data"}
    (tmp_path / "model" / "babelscope.json").write_text(json.dumps(record))
    assert load_model(tmp_path / "model").scores(examples["ner"]) == model.scores(examples["ner"])
