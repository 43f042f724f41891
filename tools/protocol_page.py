"""Print docs/protocols.md, what the papers say of their trainings beside what the studies declare: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from published_settings import Line, groups, studies_with_paper
from training_sizes import Size, sizes

from babelscope.studies.published_numbers import origins

INTRODUCTION = """\
# Protocols

How the papers trained, and how the profile `@paper` of each study does. This page is written by the code, from what the
studies declare and from tables in `src/babelscope/studies/published/`: `protocols.csv` and `training_examples.csv` have
what is published, `origins.csv` where the published numbers of reports are from. A test fails where a declared value
differs from a published one without a reason.

*Where* names the paper's section, table or appendix, or its published code. A setting of which nothing is found in
either is *not stated*; then the page says what is taken, and why. Steps are those of the optimizer: an epoch of n
examples has ⌈n / batch⌉, and with batches of one language the sum of these over the languages; without their last
batches, ⌊n / batch⌋. Where a paper has no number of examples, *where* says from what the number is. `babelscope plan
STUDY@paper` counts them from the data themselves; sentences that are read in several windows, each of which counts as
an example, are more. What a *quirk* is, [underspecified.md](underspecified.md) and [evolution.md](evolution.md) say.

How models are compared, and what is measured beside scores (CKA, lines and planes, projections), is not on this page:
the page of each study says it, under *What differs*.

Settings of `align-then-predict` and `unseen-languages`, after two papers of Muller and others (2021), are from the
slides of a talk on both (Muller, 2022), and from the code of the second, *When Being Unseen from mBERT is just the
Beginning*, which trains the same tasks; that of the first compares sentences, and trains nothing. `bring-in` follows no
paper; its column *the paper* is that of these two, whose tunings it takes.
"""
SHOWN = 4
"""Names of trainings before the rest is only counted."""


def page() -> str:
    """The page in Markdown."""
    return "\n".join([INTRODUCTION, *(part for name in studies_with_paper() for part in _study(name))])


def _study(name: str) -> Iterator[str]:
    yield f"## {name}\n"
    for lines, trainings in groups(name).items():
        yield f"Settings of {_names(trainings)}:\n"
        yield _settings(lines)
    known, unknown = sizes(name)
    yield "Training examples and steps:\n"
    yield _sizes(known)
    if unknown:
        yield f"Without a published number of examples: {_names(unknown)}.\n"
    if published := origins(name):
        yield "Published numbers, which stand beside the study's own in its report:\n"
        cells = [(origin.what, f"{origin.how_many}", origin.where) for origin in published]
        yield _table(("numbers", "how many", "where"), cells)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def _settings(lines: Sequence[Line]) -> str:
    cells = [(line.setting, line.published or "not stated", line.where, line.declared, line.verdict) for line in lines]
    return _table(("setting", "the paper", "where", "the study", "verdict"), cells)


def _sizes(known: Sequence[Size]) -> str:
    """Trainings of equal size and settings share a line."""
    trainings: dict[tuple[str, ...], list[str]] = {}
    for size in known:
        batch, epochs = size.tuning.examples_per_batch, size.tuning.epochs
        examples = " + ".join(f"{count:,}" for count in size.examples)
        numbers = (examples, size.where, f"{batch}", f"{size.steps_an_epoch:,}", f"{epochs}", f"{size.steps:,}")
        trainings.setdefault(numbers, []).append(size.training)
    header = ("training", "examples", "where", "batch", "steps an epoch", "epochs", "steps")
    return _table(header, [(_names(names), *numbers) for numbers, names in trainings.items()])


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---"] * len(header)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, rule, *lines))


if __name__ == "__main__":
    print(page(), end="")
