"""The labelled sentences as they were given: what makes scores on them mean less than they seem to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from babelscope.advise.request import Request, read_split
from babelscope.core.examples import Sentence, gold_labels, never_trained_on, read_twice, repeated
from babelscope.core.tasks import task_of
from babelscope.corpora.datasets import find_file
from babelscope.corpora.sources import SPLITS, Split
from babelscope.report.words import listed
from babelscope.tasks.kinds import kind_of

USE = {"train": "are trained on", "dev": "select", "test": "test"}

Splits = Mapping[Split, Sequence[Sentence]]


def labelled_notes(request: Request) -> list[str]:
    """Warnings where the sentences are read for another purpose, too, or their labels tell little."""
    if request.treebank_name is None:
        return []
    splits = {split: read_split(request, split) for split in SPLITS}
    return [*_seen(request, splits), *_labels(request, splits), *_repeated(splits["test"])]


def _seen(request: Request, splits: Splits) -> list[str]:
    train, dev, test = (splits[split] for split in SPLITS)
    found = (
        (test, train, "that test are also trained on, so that all scores are too high"),
        (test, dev, "that test are also among those that select, so that the scores of what is best are too high"),
        (dev, train, "that select are also trained on, so that the best is selected on what is trained on"),
    )
    notes = [
        f"{both:,} of {len(seen):,} labelled sentences {harm}. Remove sentences that come again from the treebank."
        for seen, other, harm in found
        if (both := read_twice(seen, other))
    ]
    text = find_file("mlm", request.text_name, "train").read()
    unspaced = (["".join(each.forms) for each in test], ("".join(line.split()) for line in text))
    if both := read_twice(*unspaced):  # a text's signs are not set apart from its words
        notes.append(
            f"{both:,} of {len(test):,} labelled sentences that test are also in the text, so that what is adapted to "
            "it has read them, without labels."
        )
    return notes


def _labels(request: Request, splits: Splits) -> Iterator[str]:
    """Of words that all have one label, and of labels that are never trained on."""
    task = task_of(request.task)
    labels = {split: gold_labels(kind_of(task).gold(task, splits[split])) for split in SPLITS}
    for split, given in labels.items():
        if len(set(given)) == 1:
            what = "learn" if split == "train" else "tell apart"
            yield f"All words of the labelled sentences that {USE[split]} are {given[0]!r}: there is nothing to {what}."
    if missed := never_trained_on(labels["test"], labels["train"]):
        yield (
            f"{len(missed):,} of {len(labels['test']):,} words that test have a label that is never trained on "
            f"({listed(sorted(set(missed)))}): no model gets them right."
        )


def _repeated(tested: Sequence[Sentence]) -> Iterator[str]:
    if found := repeated(tested):
        yield (
            f"{found:,} of {len(tested):,} labelled sentences that test are earlier ones again; intervals take each "
            "for another."
        )
