"""What of a study's data casts doubt on its scores: sentences that are trained on and tested, labels that are all the
same or never trained on, sentences that come again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, combinations

from babelscope.core.errors import InputError
from babelscope.core.examples import gold_labels, never_trained_on, read_twice, repeated
from babelscope.core.step import Step
from babelscope.core.tasks import LINES, TASKS
from babelscope.corpora.codes import same_language
from babelscope.corpora.datasets import Dataset, FileData, WorldData
from babelscope.corpora.parallel_sentences import ParallelTranslations
from babelscope.encoders.places import tuned_on
from babelscope.measures.similarity import SentenceSimilarity
from babelscope.steps import Adapt, Evaluate, Load, Pretrain, Tune
from babelscope.steps.plan import made_of
from babelscope.steps.translations import translations
from babelscope.tasks.kinds import kind_of

BETTER = "its scores are better than on new ones"
SELECTED = "the best step is selected on what is trained on"
TWICE = "they count twice in every epoch"
SCORED_TWICE = "scores of the two are not of two languages"


def doubts(steps: Iterable[Step]) -> Iterator[str]:
    """A line each, of what is at hand."""
    steps = list(steps)
    of_data = _leaks(steps), _same_in_letters(steps), _uniform(steps), _never_trained_on(steps), _repeated(steps)
    return chain(*of_data, _learned_by(steps), _tuned_before(steps))


def _leaks(steps: list[Step]) -> Iterator[str]:
    """Data of which many sentences are also read for another purpose, from another file or another part of the same."""
    compared = [*(pair for step in steps for pair in _compared(step)), *_tested_twice(steps)]
    for data, other, harm in dict.fromkeys(compared):
        if _may_share(data, other):
            with suppress(InputError):  # which a run says of the file
                yield from _shared(data, other, harm)


def _compared(step: Step) -> Iterator[tuple[Dataset, Dataset, str]]:
    """Two data sets of a step that should have no sentences in common, and what happens where they have."""
    if isinstance(step, Evaluate):
        yield from ((step.data, trained, BETTER) for trained in step.model.train)
        yield from ((step.data, selected, BETTER) for selected in step.model.dev if selected != step.data)
        if step.data.task.reads == LINES:
            made = (each for each in made_of(step.model.encoder) if isinstance(each, Adapt | Pretrain))
            yield from ((step.data, text, BETTER) for each in made for text in each.texts if isinstance(text, FileData))
    if isinstance(step, Tune):
        yield from ((selected, trained, SELECTED) for selected in step.dev for trained in step.train)
        yield from ((second, first, TWICE) for first, second in combinations(step.train, 2))


def _tested_twice(steps: Iterable[Step]) -> Iterator[tuple[Dataset, Dataset, str]]:
    """Test sets of one task that go by different codes, and are the user's own or in other letters."""
    by_task: dict[object, dict[Dataset, None]] = {}
    for step in steps:
        if isinstance(step, Evaluate):
            by_task.setdefault(step.data.task, {})[step.data] = None
    for tested in by_task.values():
        yield from (
            (later, first, SCORED_TWICE)
            for first, later in combinations(tested, 2)
            if first.code != later.code and (later.letters or first.letters or (is_own(first) and is_own(later)))
        )


def _may_share(data: Dataset, other: Dataset) -> bool:
    """Whether they are at hand, and in one language, unless a file of the user's own says so, or letters changed."""
    if isinstance(data, FileData) and isinstance(other, FileData):
        one_language = is_own(data) or is_own(other) or data.language == other.language
        return (one_language or _lettered(data, other)) and data.is_here and other.is_here
    return type(data) is type(other) and _lettered(data, other)


def _same_in_letters(steps: list[Step]) -> Iterator[str]:
    """Languages of the world that in their letters are another one, which is trained on."""
    pairs = dict.fromkeys(
        (step.data, trained)
        for step in steps
        if isinstance(step, Evaluate)
        for trained in step.model.train
        if isinstance(step.data, WorldData) and isinstance(trained, WorldData) and _lettered(step.data, trained)
    )
    for data, trained in pairs:
        same = trained.model_copy(update={"split": data.split, "examples": data.examples})
        if same.code != data.code and read_twice(examples := data.read(), same.read()) == len(examples):
            yield f"{data.name} is {trained.name} to the letter, which is trained on: its scores are not zero-shot"


def _lettered(data: Dataset, other: Dataset) -> bool:
    return data.letters is not None or other.letters is not None


def _shared(data: Dataset, other: Dataset, harm: str) -> Iterator[str]:
    examples = data.read()
    if both := read_twice(examples, other.read()):
        use = "that are trained on" if other.split == "train" else f"of the {other.split} split"
        yield (
            f"{data.name}: {both:,} of {len(examples):,} examples of the {data.split} split are also among those of "
            f"{other.name} {use}, so that {harm}"
        )


def is_own(data: Dataset) -> bool:
    """Whether it is a file of the user's own, by how it is named."""
    return data.name.count(":") > 1


def _uniform(steps: list[Step]) -> Iterator[str]:
    """Data whose examples, or words, all have one label."""
    for data in _files(steps):
        with suppress(InputError):  # which a run says of the file
            labels = set(_labels(data))
            if len(labels) == 1:
                yield (
                    f"{data.name}: all that is labelled in the {data.split} split is {labels.pop()!r}, so that there "
                    f"is nothing to {'learn' if data.split == 'train' else 'tell apart'}"
                )


def _never_trained_on(steps: list[Step]) -> Iterator[str]:
    """Test sets of which much has a label that the training data lack."""
    from babelscope.report.words import listed  # which brings pandas

    pairs = dict.fromkeys((step.data, step.model.train) for step in steps if isinstance(step, Evaluate))
    for data, trained in pairs:
        if isinstance(data, FileData) and all(each.is_here for each in (data, *trained) if isinstance(each, FileData)):
            with suppress(InputError):
                labels = _labels(data)
                trained_on = [label for each in trained for label in _labels(each)]
                if trained_on and (missed := never_trained_on(labels, trained_on)):
                    yield (
                        f"{data.name}: {len(missed):,} of {len(labels):,} labels of the {data.split} split are never "
                        f"trained on ({listed(sorted(set(missed)))}), so that no model gets them right"
                    )


def _repeated(steps: list[Step]) -> Iterator[str]:
    """Test sets in which much comes again."""
    for data in _files(steps):
        if data.split == "test":
            with suppress(InputError):
                if found := repeated(examples := data.read()):
                    yield (
                        f"{data.name}: {found:,} of {len(examples):,} examples of the test split are earlier ones "
                        "again, each of which intervals over sentences take for another"
                    )


def _learned_by(steps: list[Step]) -> Iterator[str]:
    """Translations whose likeness is measured in an encoder that learned by the same ones."""
    told = dict.fromkeys(
        (step.model.encoder if isinstance(step.model, Tune) else step.model, step.texts)
        for step in steps
        if isinstance(step, SentenceSimilarity) and isinstance(step.texts, ParallelTranslations)
    )
    for encoder, texts in told:
        with suppress(InputError):  # which a run says of the files
            known = [sentence for text in translations(encoder) for pair in text.read() for sentence in pair]
            for (_, name), sentences in zip(texts.pairs, texts.read()[1:] if known else (), strict=False):
                if both := read_twice(sentences, known):
                    yield (
                        f"{name}: {both:,} of {len(sentences):,} sentences whose likeness is measured are among the "
                        f"translations by which {encoder.labels['encoder']} was made, so that they are more alike than "
                        "new ones"
                    )


def _tuned_before(steps: list[Step]) -> Iterator[str]:
    """Encoders that are models of a task, which knew a language that is tested before they were tuned here."""
    tested = dict.fromkeys(
        (step.model.encoder, step.data.task.name, step.data.language, _is_trained_on(step.data.language, step.model))
        for step in steps if isinstance(step, Evaluate)
    )  # fmt: skip
    told: dict[tuple[str, str, bool], list[str]] = {}
    for encoder, task, language, is_trained_on in tested:
        for place in (each for each in made_of(encoder) if isinstance(each, Load)):
            for before in tuned_on(place.place):
                with_labels = before.task not in TASKS or TASKS[before.task].reads != LINES
                if same_language(before.language, language) and (
                    before.task == task or (with_labels and not is_trained_on)
                ):
                    data = told.setdefault((place.name, language, with_labels and not is_trained_on), [])
                    data.append(f"{before.data} ({before.task})")
    for (name, language, not_zero_shot), data in told.items():
        what = "not zero-shot, and " if not_zero_shot else ""
        yield (
            f"{name} was tuned before, on {', '.join(dict.fromkeys(data))}: its scores in {language} are {what}too "
            "good where what is tested was trained on then"
        )


def _is_trained_on(language: str, model: Tune) -> bool:
    return any(same_language(data.language, language) for data in model.train)


def _files(steps: list[Step]) -> list[FileData]:
    """What models are trained, selected and scored on, as far as it is at hand."""
    tuned = (data for step in steps if isinstance(step, Tune) for data in (*step.train, *step.dev))
    data = dict.fromkeys([*tuned, *(step.data for step in steps if isinstance(step, Evaluate))])
    return [each for each in data if isinstance(each, FileData) and each.is_here]


def _labels(data: Dataset) -> list[str]:
    return gold_labels(kind_of(data.task).gold(data.task, data.read()))
