"""A small model of each kind, with its task."""

from copy import deepcopy

import torch

from babelscope.core.examples import Sentence, SentencePair, Word
from babelscope.tasks.bilstm.backbone import BiLstmBackbone, BiLstmShape
from babelscope.tasks.bilstm.parse import BiLstmParser, BiLstmParsing
from babelscope.tasks.bilstm.tag import BiLstmTagger, BiLstmTagging
from babelscope.tasks.bilstm.words import Vocabulary
from babelscope.tasks.classify import Classification, Classifier
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tasks.parse import Parser, Parsing
from babelscope.tasks.tag import Tagging
from taggers import a_tagger

LABELS = ("yes", "no")


def a_sentence(number, tagged):
    words = zip(tagged.words, tagged.labels, strict=True)
    return Sentence(str(number), tuple(Word(*word, place, "dep") for place, word in enumerate(words)))


def tasks(encoder, tagged, sentences):
    """Models of each kind and their tasks, whose dev sets `here` and `there` have batches that differ."""
    torch.manual_seed(0)
    tagger, parser = a_tagger(encoder), Parser(deepcopy(encoder))
    yield tagger, Tagging(tagger, tagged, dev(tagged))
    trees = [a_sentence(*numbered) for numbered in enumerate(tagged)]
    yield parser, Parsing(parser, trees, dev(trees))
    classifier = Classifier(deepcopy(encoder), LABELS)
    pairs = [SentencePair(text, text, LABELS[len(text) % 2]) for text in sentences]
    yield classifier, Classification(classifier, pairs, dev(pairs))
    held_out = {name: HeldOut.of(encoder.tokenizer, texts, 24) for name, texts in dev(sentences).items()}
    yield deepcopy(encoder).model, MaskedLanguageModelling(encoder.tokenizer, sentences, 24, dev=held_out)


def dev(examples):
    return {"here": list(examples) * 3, "there": list(examples[::2]) * 4}


def bilstm_tasks(tagged):
    trees = [a_sentence(*numbered) for numbered in enumerate(tagged)]
    backbone = BiLstmBackbone(
        Vocabulary.of([words for words, _ in tagged]), BiLstmShape(word=16, character=8, spelling=12, hidden=16)
    )
    tagger, parser = BiLstmTagger(backbone, sorted({tag for _, tags in tagged for tag in tags})), BiLstmParser(backbone)
    yield tagger, BiLstmTagging(tagger, tagged, dev(tagged))
    yield parser, BiLstmParsing(parser, trees, dev(trees))
