"""The labelled sentences as they were given: what makes scores on them mean less than they seem to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from babelscope.advise.data import forms_of, labelled_data, read_split, source_data, text_data
from babelscope.advise.request import Request
from babelscope.advise.translated import translated
from babelscope.core.examples import gold_labels, read_twice
from babelscope.corpora.bio import OUTSIDE
from babelscope.corpora.doubtful import earlier_ones, one_label, untrained_labels
from babelscope.corpora.sources import SPLITS, Split
from babelscope.report.cautions import FEWEST_SENTENCES
from babelscope.tasks.kinds import kind_of

LABELLED = "labelled sentences"

Splits = Mapping[Split, Sequence[Any]]


def labelled_notes(request: Request) -> list[str]:
    """Warnings where the sentences are read for another purpose, too, or their labels tell little."""
    if request.labelled_name is None:
        return []
    splits = {split: read_split(request, split) for split in SPLITS}
    task = request.asked_task
    labels = {split: gold_labels(kind_of(task).gold(task, splits[split])) for split in SPLITS}
    of_labels = (line for split, given in labels.items() for line in one_label(LABELLED, split, given))
    untrained = _untrained(request, labels)
    told = [*of_labels, *untrained, *earlier_ones(LABELLED, splits["test"])]
    return [*_few(request, splits), *_seen(request, splits), *(f"{line}." for line in told)]


def _few(request: Request, splits: Splits) -> Iterator[str]:
    """That too few sentences select or test for a score to say much."""
    uses: dict[Split, str] = {"dev": "select", "test": "test"}
    few = [f"{len(splits[split]):,} {use}" for split, use in uses.items() if len(splits[split]) < FEWEST_SENTENCES]
    if few:
        data = labelled_data(request, "test")
        larger = ". A folder can have larger files of these splits" if data.splits_one_file and data.is_own else ""
        yield (
            f"Of the {LABELLED} {' and '.join(few)}: with fewer than {FEWEST_SENTENCES} each, others could give quite "
            f"another score{larger}."
        )


def _untrained(request: Request, labels: Mapping[Split, Sequence[str]]) -> Iterator[str]:
    """Labels of the test sentences that are not trained on, in the language or in what translations are from.

    That a word is in no entity is no label here: most are, so that it would hide what is missed.
    """
    tested = [label for label in labels["test"] if request.is_conllu or label != OUTSIDE]
    yield from untrained_labels(LABELLED, tested, labels["train"], "these")
    if request.source_labelled:
        task = request.asked_task
        trained = gold_labels(kind_of(task).gold(task, source_data(request, "train").read()))
        yield from untrained_labels(LABELLED, tested, trained, "those of the source")


def _seen(request: Request, splits: Splits) -> Iterator[str]:
    train, dev, test = (splits[split] for split in SPLITS)
    found = (
        (test, train, "that test are also trained on, so that all scores are too high"),
        (test, dev, "that test are also among those that select, so that the scores of what is best are too high"),
        (dev, train, "that select are also trained on, so that the best is selected on what is trained on"),
    )
    for seen, other, harm in found:
        if both := read_twice(seen, other):
            yield (f"{both:,} of {len(seen):,} {LABELLED} {harm}. Remove sentences that come again from the file.")
    unspaced = ["".join(words) for words in forms_of(request, "test")]  # a text's signs are not set apart from words
    for lines, where, readers in _unlabelled(request):
        if both := read_twice(unspaced, ("".join(line.split()) for line in lines)):
            yield (
                f"{both:,} of {len(test):,} {LABELLED} that test are also in the {where}, so that {readers} read them, "
                "without labels."
            )


def _unlabelled(request: Request) -> Iterator[tuple[Iterable[str], str, str]]:
    """What is read of the language without labels, where it is, and what reads it."""
    yield text_data(request).read(), "text", "what is adapted to it has"
    if request.parallel:
        translations = (translation for _, translation in translated(request).pairs)
        yield translations, "translated sentences", "what the language is brought into has"
