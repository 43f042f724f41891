"""Attachment scores: the share of words with the gold head (UAS), and with the gold relation to it too (LAS).

As in the CoNLL 2018 shared task (Zeman et al. 2018, section 5), with gold words: all words count, punctuation too,
and relations are compared without their subtypes. With gold words, F1, precision and recall are one number.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelscope.core.errors import InputError
from babelscope.core.examples import Tree, Word
from babelscope.tasks.task import Score, ratio_score

NO_PUNCTUATION = ("PUNCT", "SYM")
"""The parts of speech that do not count in the scores that end in `.nopunct` (of gold tags)."""


class Attachment(NamedTuple):
    """How many words were attached right."""

    words: NDArray[np.int64]
    """[sentences]: words that count."""
    heads: NDArray[np.int64]
    """[sentences]: those with the gold head."""
    labelled: NDArray[np.int64]
    """[sentences]: those with the gold head and the gold universal relation."""


def universal(deprel: str) -> str:
    """The relation without its subtype: `nsubj` of `nsubj:pass`."""
    return deprel.partition(":")[0]


def count_attachments(
    gold: Sequence[Sequence[Word]], predicted: Sequence[Tree], leave_out: Collection[str] = ()
) -> Attachment:
    """Compare predicted trees with gold ones.

    Args:
        gold: the syntactic words of each sentence.
        predicted: a tree over the same words for each; subtypes do not count.
        leave_out: gold parts of speech whose words do not count. Their dependents do.

    Raises:
        ValueError: as many trees as sentences, and heads and relations as words, are needed.
    """
    counts = np.zeros((len(gold), 3), dtype=np.int64)
    for row, words, tree in zip(counts, gold, predicted, strict=True):
        for word, head, deprel in zip(words, *tree, strict=True):
            if word.upos not in leave_out:
                attached = word.head == head
                row += (1, attached, attached and universal(word.deprel) == universal(deprel))
    return Attachment(*counts.T)


ATTACHMENTS = {
    "las": ("labelled", ()), "uas": ("heads", ()),
    "las.nopunct": ("labelled", NO_PUNCTUATION), "uas.nopunct": ("heads", NO_PUNCTUATION),
}  # fmt: skip
"""Measure -> which words are right, and the parts of speech that do not count."""


def attachment_shares(
    measures: Sequence[str], gold: Sequence[Sequence[Word]], predicted: Sequence[Tree]
) -> dict[str, float]:
    """Measures by name, without intervals.

    Raises:
        InputError: no word counts.
    """
    shares = {}
    for measure in measures:
        right, leave_out = ATTACHMENTS[measure]
        counted = count_attachments(gold, predicted, leave_out)
        if not counted.words.any():
            kinds = " and ".join(leave_out)
            without = f": all of them are tagged {kinds}, which {measure} leaves out" if leave_out else ""
            raise InputError(f"no word to score among those of {len(gold)} sentences{without}; give other data")
        shares[measure] = float(getattr(counted, right).sum() / counted.words.sum())
    return shares


def attachment_scores(gold: Sequence[Sequence[Word]], predicted: Sequence[Tree]) -> list[Score]:
    """LAS and UAS over all words, then over those that are neither punctuation nor symbols, with BCa intervals.

    The latter two, `las.nopunct` and `uas.nopunct`, are missing where no such word is.
    """
    scores = []
    for suffix, leave_out in (("", ()), (".nopunct", NO_PUNCTUATION)):
        counted = count_attachments(gold, predicted, leave_out)
        some = counted.words > 0
        for measure, right in (("las", counted.labelled), ("uas", counted.heads)) if some.any() else ():
            scores.append(ratio_score(measure + suffix, right[some], counted.words[some]))
    return scores
