"""What is said of a study before it runs: what of its data is left out, hardly translated, divided, not in
Unicode NFC, trained on and tested, of two worlds, or named by no code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations

from babelscope.core.errors import InputError
from babelscope.core.examples import not_composed, read_twice
from babelscope.core.languages import is_language
from babelscope.core.step import Step
from babelscope.corpora.datasets import Dataset, FileData, WorldData
from babelscope.corpora.letters import split_name
from babelscope.corpora.mismatched import mismatches
from babelscope.corpora.parallel import NamedPairs, WorldPairs
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.places import shipped_encoders
from babelscope.steps import Adapt, Align, Evaluate, Load, Tune
from babelscope.steps.plan import declared
from babelscope.world import LANGUAGES

BETTER = "its scores are better than on new ones"
SELECTED = "the best step is selected on what is trained on"
TWICE = "they count twice in every epoch"
SCORED_TWICE = "scores of the two are not of two languages"
NOT_COMPOSED = (
    "not in Unicode NFC, as most texts and vocabularies are (an é may be e and an accent), so that their words may not "
    "be taken for the same words; convert the file to NFC"
)
SHIPPED_WORLD = 0
"""The seed of the world that the shipped encoders were pre-trained on."""


def notes(steps: Iterable[Step]) -> list[str]:
    """A line each, about data that steps read."""
    steps = list(steps)
    values = list(declared(steps))
    data = [value for value in values if isinstance(value, FileData)]
    of_each = _divided(data), _not_composed(data), _same_letters(data), _strange_codes(data)
    told = (_pairs(steps), *of_each, leaks(steps), _worlds(values), _same_encoders(values))
    return list(dict.fromkeys(line for lines in told for line in lines))


def _pairs(steps: Iterable[Step]) -> Iterator[str]:
    """What of the parallel texts that are read by one name is left out, and where sentences have lost their step."""
    texts = dict.fromkeys(text for step in steps if isinstance(step, Adapt | Align) for text in step.parallel)
    for text in {text.name: text for text in texts if isinstance(text, NamedPairs)}.values():
        kept = text.kept()
        if kept.empty or kept.repeated:
            yield f"{text.name}: {kept}"
        if not text.collection and (found := not_composed(kept.pairs)):
            yield f"{text.name}: {found:,} of {len(kept.pairs):,} pairs are {NOT_COMPOSED}"
        yield from (f"{text.name}: {mismatch}" for mismatch in mismatches(kept.pairs))


def _divided(data: Iterable[FileData]) -> Iterator[str]:
    """Single files whose last part is the test set."""
    for each in data:
        if each.split == "test" and each.splits_one_file and ":tenths-" not in each.name:
            yield (
                f"{each.name}: one file, divided in its order: eight tenths to train on, one to select on and the "
                "last one to test on, so that its scores compare with no others"
            )


def _not_composed(data: Iterable[FileData]) -> Iterator[str]:
    """The user's own files in which the same words are other characters than in most texts."""
    for each in data:
        if _is_own(each) and each.is_here and not split_name(each.name)[1]:
            with suppress(InputError):  # which a run says of the file
                examples = each.read()
                if found := not_composed(examples):
                    yield (
                        f"{each.name}: {found:,} of {len(examples):,} examples of the {each.split} split are "
                        f"{NOT_COMPOSED}"
                    )


def _same_letters(data: Iterable[FileData]) -> Iterator[str]:
    """Data that are read in other letters, none of which the rules change."""
    for each in data:
        if each.letters and each.is_here:
            with suppress(InputError):  # which a run says of the file
                if each.read() == each.model_copy(update={"letters": None, "rules": None}).read():
                    yield f"{each.name}: {each.letters} changes no letter of the {each.split} split"


def leaks(steps: Iterable[Step]) -> Iterator[str]:
    """Data of which many sentences are also read for another purpose, from another file or another part of the same."""
    steps = list(steps)
    compared = [*(pair for step in steps for pair in _compared(step)), *_tested_twice(steps)]
    for data, other, harm in dict.fromkeys(compared):
        if isinstance(data, FileData) and isinstance(other, FileData) and _may_share(data, other):
            with suppress(InputError):  # which a run says of the file
                yield from _shared(data, other, harm)


def _compared(step: Step) -> Iterator[tuple[Dataset, Dataset, str]]:
    """Two data sets of a step that should have no sentences in common, and what happens where they have."""
    if isinstance(step, Evaluate):
        yield from ((step.data, trained, BETTER) for trained in step.model.train)
        yield from ((step.data, selected, BETTER) for selected in step.model.dev if selected != step.data)
    if isinstance(step, Tune):
        yield from ((selected, trained, SELECTED) for selected in step.dev for trained in step.train)
        yield from ((second, first, TWICE) for first, second in combinations(step.train, 2))


def _tested_twice(steps: Iterable[Step]) -> Iterator[tuple[Dataset, Dataset, str]]:
    """Test sets of one task that are the user's own, and go by different codes."""
    by_task: dict[object, dict[FileData, None]] = {}
    for step in steps:
        if isinstance(step, Evaluate) and isinstance(step.data, FileData) and _is_own(step.data):
            by_task.setdefault(step.data.task, {})[step.data] = None
    for tested in by_task.values():
        yield from (
            (later, first, SCORED_TWICE) for first, later in combinations(tested, 2) if first.code != later.code
        )


def _may_share(data: FileData, other: FileData) -> bool:
    """Whether they are at hand, and in one language, unless it is a file of the user's own that says so."""
    return (_is_own(data) or _is_own(other) or data.language == other.language) and data.is_here and other.is_here


def _is_own(data: FileData) -> bool:
    return data.name.count(":") > 1


def _shared(data: FileData, other: FileData, harm: str) -> Iterator[str]:
    examples = data.read()
    if both := read_twice(examples, other.read()):
        use = "that are trained on" if other.split == "train" else f"of the {other.split} split"
        yield (
            f"{data.name}: {both:,} of {len(examples):,} examples of the {data.split} split are also among those of "
            f"{other.name} {use}, so that {harm}"
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


def _same_encoders(values: Iterable[object]) -> Iterator[str]:
    """Encoders of several names whose files are the same."""
    names: dict[str, dict[str, None]] = {}
    for value in values:
        if isinstance(value, Load):
            names.setdefault(value.content, {})[value.name] = None
    for same in names.values():
        if len(same) > 1:
            yield f"{' and '.join(same)} are one encoder, file by file, so that their numbers differ in nothing"
