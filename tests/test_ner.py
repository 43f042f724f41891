"""Named-entity recognition: labels, the task of the training loop, and scores over whole sentences."""

import random

import pytest
import torch
from torch import nn

from babelscope.core.errors import InputError
from babelscope.core.examples import Tagged
from babelscope.corpora.bio import entity_types
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.tasks.ner import EntityTagging, bio_labels, evaluate_ner
from babelscope.tasks.spans import count_spans, span_scores
from babelscope.tasks.tag import Tagger, evaluate_tagger
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from conftest import VERBS

NAMES = {"THING": ("tree", "house"), "BEAST": ("cat", "dog", "bird", "fish")}
QUICK = Tuning(learning_rate=3e-3, epochs=12, tokens_per_batch=128, threads=1)


def sentence_with_entities(chance: random.Random) -> Tagged:
    """A sentence in which each run of nouns is an entity: of things, or of beasts."""
    words, labels = [], []
    for _ in range(chance.randint(1, 4)):
        kind = chance.choice(list(NAMES))
        count = chance.randint(1, 4)
        words += ["the", *chance.choices(NAMES[kind], k=count), chance.choice(VERBS)]
        labels += ["O", f"B-{kind}", *[f"I-{kind}"] * (count - 1), "O"]
    return Tagged(words, labels)


@pytest.fixture(scope="module")
def annotated():
    chance = random.Random(1)
    return [sentence_with_entities(chance) for _ in range(80)]


@pytest.fixture
def new_tagger(tokenizer):
    """A function that makes the same untrained tagger each time."""

    def make() -> Tagger:
        shape = Shape(hidden=32, layers=2, heads=2, feed_forward=64, positions=24)
        torch.manual_seed(0)
        return Tagger(new_encoder(shape, tokenizer, seed=0, name="tiny"), bio_labels(("BEAST", "THING")))

    return make


@pytest.fixture
def tagger(encoder):
    torch.manual_seed(0)
    return Tagger(encoder, bio_labels(("BEAST", "THING"))).eval()


def test_labels_follow_from_types(annotated):
    assert entity_types(annotated) == ("BEAST", "THING")
    assert entity_types([Tagged(["a"], ["O"])]) == ()
    assert bio_labels(("B", "A")) == ("O", "B-B", "I-B", "B-A", "I-A")
    with pytest.raises(InputError, match="'NOUN' is not a BIO tag"):
        entity_types([Tagged(["a"], ["NOUN"])])


def test_scores_are_those_of_the_predictions(tagger, annotated):
    """The sentences are up to twenty words long and the model reads 24 pieces: some are read in several windows."""
    words = [sentence.words for sentence in annotated]
    predicted, gold = tagger.predict(words), [sentence.labels for sentence in annotated]
    scores = evaluate_ner(tagger, annotated)
    assert [score.measure for score in scores[:3]] == ["f1", "precision", "recall"]
    assert scores == [*span_scores(predicted, gold), *evaluate_tagger(tagger, annotated)[1:]]
    f1 = EntityTagging(tagger, [], {"dev": annotated}).evaluate(tagger)
    assert f1 == {"dev": scores[0].value} == {"dev": count_spans(predicted, gold).f1}
    assert 0 < scores[0].value < 1


class Fixed(nn.Module):
    """A backbone whose hidden state is one-hot in the piece's id, so that a linear layer can spell out any label."""

    def __init__(self, config, size):
        super().__init__()
        self.config, self.size = config, size

    def forward(self, input_ids, attention_mask=None):
        return type("Output", (), {"last_hidden_state": nn.functional.one_hot(input_ids, self.size).float()})


def test_an_entity_across_windows_is_one(encoder):
    """Forty words, all of one entity: windows of 22 pieces, but a single span."""
    tagger = Tagger(encoder, bio_labels(("X",))).eval()
    size = len(encoder.tokenizer)
    tagger.backbone, tagger.classifier = Fixed(encoder.backbone.config, size), nn.Linear(size, 3, bias=False)
    begins, goes_on = (encoder.tokenizer.convert_tokens_to_ids(word) for word in ("the", "cat"))
    nn.init.zeros_(tagger.classifier.weight)
    with torch.no_grad():
        tagger.classifier.weight[1, begins] = tagger.classifier.weight[2, goes_on] = 1
    gold = Tagged(["the", *["cat"] * 39], ["B-X", *["I-X"] * 39])
    scores = evaluate_ner(tagger, [gold, Tagged(["cat"], ["O"])])
    assert [score.value for score in scores[:3]] == [2 / 3, 1 / 2, 1]


def test_a_type_that_the_tagger_lacks_is_never_found(tagger):
    scores = {score.measure: score.value for score in evaluate_ner(tagger, [Tagged(["cat"], ["B-TOOL"])])}
    assert scores["recall"] == scores["f1.TOOL"] == 0
    assert scores["words"] == 1


def test_bad_data_are_input_errors(tagger):
    with pytest.raises(InputError, match="no word to tag"):
        evaluate_ner(tagger, [Tagged([], [])])
    with pytest.raises(InputError, match="'NOUN' is not a BIO tag"):
        evaluate_ner(tagger, [Tagged(["cat"], ["NOUN"])])
    with pytest.raises(InputError, match=r"label 'B-TOOL' in the training data: the tagger has B-BEAST"):
        _ = EntityTagging(tagger, [Tagged(["cat"], ["B-TOOL"])]).lengths


def test_training_learns_entities_and_repeats(new_tagger, annotated, tmp_path):
    """Whether a noun begins its entity is decided by the word before it."""
    found = []
    for run in range(2):
        tagger = new_tagger()
        task = EntityTagging(tagger, annotated[:60], {"dev": annotated[60:]})
        history = tune(tagger, task, QUICK, 0, tmp_path / str(run))
        dev = [point.value for point in history.points if point.measure == "f1"]
        found.append((dev, evaluate_ner(tagger, annotated[60:])))
    assert found[0] == found[1]
    dev, scores = found[0]
    assert len(dev) == 12 and max(dev) == scores[0].value > 0.9
