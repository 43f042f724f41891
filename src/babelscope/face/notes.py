"""What is said of a study before it runs: what of its data is left out, hardly translated, divided, trained on and
tested, of two worlds, or named by no code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from babelscope.core.errors import InputError
from babelscope.core.examples import read_twice
from babelscope.core.languages import is_language
from babelscope.core.step import Step
from babelscope.corpora.datasets import FileData, WorldData
from babelscope.corpora.mismatched import mismatches
from babelscope.corpora.parallel import NamedPairs, WorldPairs
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.places import shipped_encoders
from babelscope.steps import Adapt, Align, Evaluate, Load
from babelscope.steps.plan import declared
from babelscope.world import LANGUAGES

SHIPPED_WORLD = 0
"""The seed of the world that the shipped encoders were pre-trained on."""


def notes(steps: Iterable[Step]) -> list[str]:
    """A line each, about data that steps read."""
    steps = list(steps)
    values = list(declared(steps))
    data = [value for value in values if isinstance(value, FileData)]
    told = (_pairs(steps), _divided(data), _read_twice(steps), _strange_codes(data), _worlds(values))
    return list(dict.fromkeys(line for lines in told for line in lines))


def _pairs(steps: Iterable[Step]) -> Iterator[str]:
    """What of the parallel texts that are read by one name is left out, and where sentences have lost their step."""
    texts = dict.fromkeys(text for step in steps if isinstance(step, Adapt | Align) for text in step.parallel)
    kept = {text.name: text.kept() for text in texts if isinstance(text, NamedPairs)}
    for name, pairs in kept.items():
        if pairs.empty or pairs.repeated:
            yield f"{name}: {pairs}"
        yield from (f"{name}: {mismatch}" for mismatch in mismatches(pairs.pairs))


def _divided(data: Iterable[FileData]) -> Iterator[str]:
    """Single files whose last part is the test set."""
    for each in data:
        if each.split == "test" and each.splits_one_file and ":tenths-" not in each.name:
            yield (
                f"{each.name}: one file, divided in its order: eight tenths to train on, one to select on and the "
                "last one to test on, so that its scores compare with no others"
            )


def _read_twice(steps: Iterable[Step]) -> Iterator[str]:
    """Test sets of which many sentences are trained on, too, in another file or in another part of the same one."""
    scored = (step for step in steps if isinstance(step, Evaluate) and isinstance(step.data, FileData))
    pairs = dict.fromkeys((step.data, data) for step in scored for data in step.model.train)
    for tested, trained in pairs:
        if isinstance(tested, FileData) and isinstance(trained, FileData) and tested.language == trained.language:
            with suppress(InputError):  # which a run says of the file
                yield from _known_sentences(tested, trained)


def _known_sentences(tested: FileData, trained: FileData) -> Iterator[str]:
    if tested.is_here and trained.is_here:
        examples = tested.read()
        if both := read_twice(examples, trained.read()):
            yield (
                f"{tested.name}: {both:,} of {len(examples):,} examples of the {tested.split} split are also among "
                f"those of {trained.name} that are trained on, so that its scores are better than on new ones"
            )


def _strange_codes(data: Iterable[FileData]) -> Iterator[str]:
    for each in data:
        if each.language not in LANGUAGES and not is_language(each.language):
            yield f"{each.name}: no language is known by the code {each.language!r}, so that it is a label alone"


def _worlds(values: Iterable[object]) -> Iterator[str]:
    """Several artificial worlds: what was learned of one is of no use in another."""
    seeds = {value.seed for value in values if isinstance(value, WorldData | WorldText | WorldPairs)}
    if any(isinstance(value, Load) and value.name in shipped_encoders() for value in values):
        seeds.add(SHIPPED_WORLD)
    if len(seeds) > 1:
        yield (
            f"artificial worlds of the seeds {', '.join(map(str, sorted(seeds)))} are read, whose languages have no "
            "words in common: see that `world_seed` is the `seed` of all text and pairs; the shipped encoders know "
            f"world {SHIPPED_WORLD}"
        )
