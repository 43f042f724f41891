"""What of labelled data makes scores on them mean less than they seem to, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from unicodedata import category, normalize

from babelscope.core.examples import never_trained_on, repeated
from babelscope.core.words import listed
from babelscope.corpora.sources import Split

JOINERS = "\u200c\u200d"
"""They have no width, but are seen by the shapes of letters beside them."""


def one_label(data: str, split: Split, labels: Collection[str]) -> Iterator[str]:
    """That all that is labelled in a split of data has one label."""
    if len(different := set(labels)) == 1:
        yield (
            f"{data}: all that is labelled in the {split} split is {different.pop()!r}, so that there is nothing to "
            f"{'learn' if split == 'train' else 'tell apart'}"
        )


def labels_that_look_alike(data: str, split: Split, labels: Collection[str]) -> Iterator[str]:
    """That labels differ in what is not seen alone: zero-width characters, odd spaces, accents put together."""
    looks: dict[str, set[str]] = {}
    for label in set(labels):
        seen = "".join(letter for letter in normalize("NFC", label) if category(letter) != "Cf" or letter in JOINERS)
        looks.setdefault(" ".join(seen.split()), set()).add(label)
    if alike := [" and ".join(map(ascii, sorted(each))) for _, each in sorted(looks.items()) if len(each) > 1]:
        yield f"{data}: labels of the {split} split look alike, and count as different ones: {listed(alike, 3)}"


def untrained_labels(data: str, labels: Sequence[str], trained: Collection[str], trained_on: str) -> Iterator[str]:
    """That much of the test split has labels that are not among those which are trained on."""
    if trained and (missed := never_trained_on(labels, trained)):
        yield (
            f"{data}: {len(missed):,} of {len(labels):,} labels of the test split are never trained on in {trained_on} "
            f"({listed(sorted(set(missed)))}), so that models of it get none of them right"
        )


def earlier_ones(data: str, examples: Collection[object]) -> Iterator[str]:
    """That much of the test split comes again in it."""
    if found := repeated(examples):
        yield (
            f"{data}: {found:,} of {len(examples):,} examples of the test split repeat earlier ones; intervals over "
            "sentences count each as a new one, which makes the intervals too narrow"
        )
