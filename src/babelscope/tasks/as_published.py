"""Quirks of tasks: what published code (Wu et al. 2022, Muller et al. 2021, Hussain and Dudev) did otherwise, by names.

A study names those that it repeats (`tasks.NAME.quirks`), of those that the kind of its task has (`TaskKind.quirks`).
Those of what is measured while language modelling is trained are in `tuning.probes`.
"""

from __future__ import annotations

from typing import Literal

PublishedQuirk = Literal[
    "sentence-dropout", "repeating-windows", "cut-spans", "cut-sentences", "published-scorer", "cls-root", "self-arcs",
    "unscored-root", "short-mean", "summed-probabilities", "reversed-relations",
]  # fmt: skip
LanguageQuirk = Literal["padding-as-text", "drawn-test-masks"]

OF_LANGUAGE: dict[LanguageQuirk, str] = {
    "padding-as-text": "padding is attended to, in training and in test sets, which are read in batches of 16",
    "drawn-test-masks": "test sets are masked as training is: tokens are drawn at random, of which a tenth becomes a "
    "random token and a tenth stays",
}
OF_WORDS: dict[str, str] = {
    "sentence-dropout": "dropout before the head drops the same units of all words of a sentence, or of a window",
}
OF_TAGS: dict[str, str] = OF_WORDS | {
    "repeating-windows": "a sentence that is too long is read in windows, each of which begins with the last half of "
    "the one before, whose words it does not label; a window counts as an example; the longest is one token short of "
    "`max_length`, special ones not counted",
}
OF_ENTITIES: dict[str, str] = OF_TAGS | {
    "cut-spans": "entities are scored window by window, so that one that goes on in the next window counts as two",
}
OF_TREES: dict[str, str] = OF_WORDS | {
    "cut-sentences": "training sentences are cut one token short of `max_length`, special ones not counted, dev and "
    "test sentences after as many words; the rest is neither trained on nor scored",
    "published-scorer": "the scorer starts as that of the study which its head is named after: `underspecified` with "
    "the weights of arcs a tenth as large as they are else, and it scores a relation from both words of its arc "
    "together, without terms of one of them alone; `align-then-predict` with orthogonal layers, all dropout after them "
    "and none before",
    "cls-root": "the root is the state of `[CLS]`, with which a sentence begins, and no learned vector",
    "self-arcs": "a word as its own head shares in the probability of its heads, though no tree has such an arc",
    "unscored-root": "arcs from the root have no score and count in no loss of heads: the tree hangs on it where the "
    "other arcs are best",
    "short-mean": "losses are summed over the words, and divided by the words less the sentences",
    "summed-probabilities": "a tree has the largest sum, over its arcs, of an arc's probability times that of its "
    "likeliest relation; with `unscored-root` the relation of the word under the root is never right",
    "reversed-relations": "an arc's probability is multiplied by that of the likeliest relation of the arc the other "
    "way round (with `summed-probabilities` alone); arcs from the root, though trained, are worth nothing in a tree",
}
