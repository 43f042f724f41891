"""What each kind of task makes of an encoder: a model, what it is trained on, and what scores it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from torch import nn

from babelscope.core.errors import EncoderError
from babelscope.core.examples import UPOS, Sentence, SentencePair, Tagged
from babelscope.core.tasks import TASKS, Kind, TaskName
from babelscope.encoders.load import Encoder
from babelscope.tasks.apart import Apart
from babelscope.tasks.bag_of_words import bag_of_words, majority, score_texts
from babelscope.tasks.baselines import most_frequent_tag, score_predictions, word_majority
from babelscope.tasks.bilstm.backbone import BiLstmBackbone
from babelscope.tasks.bilstm.parse import BiLstmParser, BiLstmParsing
from babelscope.tasks.bilstm.tag import BiLstmTagger, BiLstmTagging, evaluate_bilstm_ner, evaluate_bilstm_tagger
from babelscope.tasks.bilstm.words import Vocabulary
from babelscope.tasks.classify import Classification, Classifier, evaluate_classifier
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tasks.ner import EntityTagging, bio_labels, evaluate_ner
from babelscope.tasks.parse import Parser, Parsing, evaluate_parser
from babelscope.tasks.spans import span_scores
from babelscope.tasks.tag import Tagger, Tagging, evaluate_tagger
from babelscope.tasks.task import Score, Task


@dataclass(frozen=True)
class Design:
    """What a task model is made for: the task and the choices that are left open by it."""

    task: TaskName
    head: str | None = None
    """One of `HEADS`; None: the default of the task's model."""
    entity_types: tuple[str, ...] = ()
    dropout: float = 0.1
    max_length: int | None = None


class TaskModel(Protocol):
    """A model of one task. Examples are what its data sets hold: `Sentence`, `Tagged`, `SentencePair` or text."""

    @property
    def design(self) -> Design:
        """What it was made for."""

    @property
    def module(self) -> nn.Module:
        """What is trained and saved."""

    def training(self, train: Sequence[Any], dev: Mapping[str, Sequence[Any]]) -> Task:
        """What the loop trains on."""

    def scores(self, examples: Sequence[Any]) -> list[Score]:
        """How good the model is on examples, the main measure first."""


@runtime_checkable
class Predictor(Protocol):
    """The module of a task model, unless it is a masked language model, which labels nothing."""

    def predict(self, inputs: Sequence[Any], /) -> list[Any]:
        """Of each sentence of words, the label of every word, or a tree; of each text or pair, its label or number."""


def task_model(encoder: Encoder, design: Design) -> TaskModel:
    """The model of a task; its head is drawn from torch's global generator. It trains the encoder's own weights.

    A study, and `babelscope.Encoder.tune`, draw the head with a seed derived from that of the tuning
    (`steps.Tune.untuned`): after `torch.manual_seed(derive_seed(seed, "head"))` it is the same here.
    """
    return _MODELS[TASKS[design.task].kind](encoder, design)


def recurrent_model(design: Design, vocabulary: Vocabulary) -> TaskModel:
    """A BiLSTM for the task, that knows the words of a vocabulary and is drawn like `task_model`'s head."""
    backbone = BiLstmBackbone(vocabulary, dropout=design.dropout)
    trees = TASKS[design.task].kind == "trees"
    return _RecurrentParsingModel(backbone, design) if trees else _RecurrentTaggingModel(backbone, design)


def known_words(train: Sequence[Any]) -> Vocabulary:
    """What a BiLSTM learns of the words of the training examples."""
    return Vocabulary.of([example.words if isinstance(example, Tagged) else example.forms for example in train])


def fit_baseline(baseline: str, task: TaskName, train: Sequence[Any]) -> Callable[..., Any]:
    """What a baseline learns from training examples, as `score_baseline` takes it."""
    kind = TASKS[task].kind
    fit = _TEXT_BASELINES[baseline] if kind in ("classes", "degrees") else _TAG_BASELINES[baseline]
    return fit(tagged(train) if kind == "tags" else train)


def score_baseline(predict: Callable[..., Any], task: TaskName, test: Sequence[Any]) -> list[Score]:
    """How good a fitted baseline is on examples."""
    info = TASKS[task]
    if info.kind in ("classes", "degrees"):
        return score_texts(predict, test, info.labels, info.measures)
    if info.kind == "tags":
        return score_predictions(predict, tagged(test))
    return span_scores([predict(words) for words, _ in test], [labels for _, labels in test])


def training_task(model: TaskModel, train: Sequence[Sequence[Any]], dev: Mapping[str, Sequence[Any]]) -> Task:
    """Training data by language, whose examples never meet in one batch."""
    return Apart([model.training(part, {} if k else dev) for k, part in enumerate(train)])


class _PartOfSpeechModel:
    def __init__(self, encoder: Encoder, design: Design):
        self.design = design
        self.module = Tagger(encoder, UPOS, design.dropout, design.max_length)

    def training(self, train: Sequence[Sentence], dev: Mapping[str, Sequence[Sentence]]) -> Task:
        return Tagging(self.module, tagged(train), {name: tagged(part) for name, part in dev.items()})

    def scores(self, examples: Sequence[Sentence]) -> list[Score]:
        return evaluate_tagger(self.module, tagged(examples))


class _EntityModel:
    def __init__(self, encoder: Encoder, design: Design):
        self.design = design
        self.module = Tagger(encoder, bio_labels(design.entity_types), design.dropout, design.max_length)

    def training(self, train: Sequence[Tagged], dev: Mapping[str, Sequence[Tagged]]) -> Task:
        return EntityTagging(self.module, train, dev)

    def scores(self, examples: Sequence[Tagged]) -> list[Score]:
        return evaluate_ner(self.module, examples)


class _ParsingModel:
    def __init__(self, encoder: Encoder, design: Design):
        self.design = design
        self.module = Parser(encoder, design.head, design.dropout, design.max_length)

    def training(self, train: Sequence[Sentence], dev: Mapping[str, Sequence[Sentence]]) -> Task:
        return Parsing(self.module, train, dev)

    def scores(self, examples: Sequence[Sentence]) -> list[Score]:
        return evaluate_parser(self.module, examples)


class _TextModel:
    def __init__(self, encoder: Encoder, design: Design):
        self.design = design
        info = TASKS[design.task]
        self.measures = info.measures
        self.module = Classifier(
            encoder,
            info.labels,
            design.dropout,
            design.max_length,
            head=design.head or "first",
            scale=info.scale,
        )

    def training(self, train: Sequence[SentencePair], dev: Mapping[str, Sequence[SentencePair]]) -> Task:
        return Classification(self.module, train, dev, self.measures[0])

    def scores(self, examples: Sequence[SentencePair]) -> list[Score]:
        return [*evaluate_classifier(self.module, examples, self.measures), Score("examples", len(examples), "texts")]


class LanguageModel:
    """An encoder with its masked language model head."""

    def __init__(self, encoder: Encoder, design: Design):
        self.design = design
        if not encoder.has_mlm_head:
            raise EncoderError(f"{encoder.name} has no masked language model head, so task mlm cannot use it")
        self.encoder, self.module = encoder, encoder.model
        self.max_length = min(encoder.max_length, design.max_length or encoder.max_length)

    def training(self, train: Sequence[str], dev: Mapping[str, Sequence[str]]) -> Task:
        """What the loop trains on."""
        held_out = {name: self.held_out(part) for name, part in dev.items()}
        return MaskedLanguageModelling(self.encoder.tokenizer, train, self.max_length, dev=held_out)

    def scores(self, examples: Sequence[str]) -> list[Score]:
        """Perplexity on fixed masked pieces."""
        return [Score("perplexity", self.held_out(examples).perplexity(self.module), "")]

    def held_out(self, sentences: Sequence[str]) -> HeldOut:
        """Sentences with fixed masks."""
        return HeldOut.of(self.encoder.tokenizer, sentences, self.max_length)


class _RecurrentTaggingModel:
    """Of parts of speech, or of entities with a CRF."""

    def __init__(self, backbone: BiLstmBackbone, design: Design):
        self.design = design
        self.entities = TASKS[design.task].kind == "entities"
        labels = bio_labels(design.entity_types) if self.entities else UPOS
        self.module = BiLstmTagger(backbone, labels, "crf" if self.entities else "softmax")

    def training(self, train: Sequence[Any], dev: Mapping[str, Sequence[Any]]) -> Task:
        held_out = {name: self._tagged(part) for name, part in dev.items()}
        return BiLstmTagging(self.module, self._tagged(train), held_out, "f1" if self.entities else "accuracy")

    def scores(self, examples: Sequence[Any]) -> list[Score]:
        evaluate = evaluate_bilstm_ner if self.entities else evaluate_bilstm_tagger
        return evaluate(self.module, self._tagged(examples))

    def _tagged(self, examples: Sequence[Any]) -> Sequence[Tagged]:
        return examples if self.entities else tagged(examples)


class _RecurrentParsingModel:
    def __init__(self, backbone: BiLstmBackbone, design: Design):
        self.design = design
        self.module = BiLstmParser(backbone)

    def training(self, train: Sequence[Sentence], dev: Mapping[str, Sequence[Sentence]]) -> Task:
        return BiLstmParsing(self.module, train, dev)

    def scores(self, examples: Sequence[Sentence]) -> list[Score]:
        return evaluate_parser(self.module, examples)


def tagged(sentences: Iterable[Sentence]) -> list[Tagged]:
    """Words with their parts of speech."""
    return [Tagged(sentence.forms, sentence.upos) for sentence in sentences]


_TAG_BASELINES: dict[str, Callable[..., Any]] = {"most-frequent-tag": most_frequent_tag, "word-majority": word_majority}
_TEXT_BASELINES: dict[str, Callable[..., Any]] = {"majority": majority, "bag-of-words": bag_of_words}
_MODELS: dict[Kind, Callable[[Encoder, Design], TaskModel]] = {
    "language model": LanguageModel,
    "tags": _PartOfSpeechModel,
    "entities": _EntityModel,
    "trees": _ParsingModel,
    "classes": _TextModel,
    "degrees": _TextModel,
}
