"""Quirks of tasks on words: what published code (of Wu et al. 2022) did otherwise than it should, each under a name.

A study names those that it repeats (`tasks.NAME.quirks`), of those that the kind of its task has (`TaskKind.quirks`).
Those of language modelling are in `tuning.probes`.
"""

from __future__ import annotations

from typing import Literal

PublishedQuirk = Literal[
    "sentence-dropout", "repeating-windows", "cut-spans", "cut-sentences", "unscored-root", "short-mean",
    "summed-probabilities",
]  # fmt: skip

OF_WORDS: dict[str, str] = {
    "sentence-dropout": "dropout before the head drops the same units of all words of a sentence, or of a window",
}
OF_TAGS: dict[str, str] = OF_WORDS | {
    "repeating-windows": "a sentence that is too long is read in windows that begin with the last half of the one "
    "before; a word belongs to the first that reads it, and a window counts as an example",
}
OF_ENTITIES: dict[str, str] = OF_TAGS | {
    "cut-spans": "entities are scored window by window, so that one that goes over an end counts as two",
}
OF_TREES: dict[str, str] = OF_WORDS | {
    "cut-sentences": "training sentences end where the longest sequence does, the others after as many words; what "
    "follows is not scored",
    "unscored-root": "arcs from the root have no score and count in no loss: the tree hangs on it where the other arcs "
    "are best",
    "short-mean": "losses are summed over the words, and divided by the words less the sentences",
    "summed-probabilities": "a tree is the best by the sum of its arcs' probabilities, each times that of the arc's "
    "likeliest relation, which it is given even if that is `root`",
}
