"""What of a study's data casts doubt on its scores: sentences that are trained or selected on and tested, labels that
are all the same or never trained on, sentences that come again, and what encoders have learned before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain

from babelscope.core.errors import InputError
from babelscope.core.examples import bare_texts, gold_labels, many_of, read_twice
from babelscope.core.step import Step
from babelscope.core.tasks import LINES, TASKS
from babelscope.core.words import listed
from babelscope.corpora.cache import nothing_fetched
from babelscope.corpora.codes import same_language
from babelscope.corpora.datasets import Dataset, FileData, WorldData
from babelscope.corpora.doubtful import earlier_ones, labels_that_look_alike, one_label, untrained_labels
from babelscope.corpora.parallel import FilePairs, NamedPairs
from babelscope.corpora.parallel_sentences import ParallelTranslations
from babelscope.corpora.sources import ALL
from babelscope.encoders.folder import TunedOn, tuned_on
from babelscope.face.leaks import BETTER, leaks
from babelscope.measures.similarity import SentenceSimilarity
from babelscope.steps import Evaluate, Load, Tune
from babelscope.steps.duration import examples_of
from babelscope.steps.plan import declared, made_of
from babelscope.steps.translations import translations
from babelscope.tasks.kinds import kind_of


def doubts(steps: Iterable[Step]) -> list[str]:
    """A line each, of what is at hand: nothing is fetched for it."""
    steps = list(steps)
    kinds = (
        leaks, _selected_on_tests, _same_in_letters, _fewer_than_shots, _other_sizes, _of_labels, _repeated,
        _learned_by, _tuned_before,
    )  # fmt: skip
    with nothing_fetched():
        return [*dict.fromkeys(chain.from_iterable(kind(steps) for kind in kinds))]


def _selected_on_tests(steps: list[Step]) -> Iterator[str]:
    """Test sets whose own scores select the best step (`selected_on: test`)."""
    scores = (step for step in steps if isinstance(step, Evaluate))
    names = dict.fromkeys(step.data.name for step in scores if step.data in step.model.dev)
    if names:
        yield f"{listed([*names])}: the best step is selected on the test set itself, so that {BETTER}"


def _same_in_letters(steps: list[Step]) -> Iterator[str]:
    """Languages of the world that in their letters are another one, which is trained on."""
    pairs = dict.fromkeys(
        (step.data, trained)
        for step in steps
        if isinstance(step, Evaluate)
        for trained in step.model.train
        if isinstance(step.data, WorldData) and isinstance(trained, WorldData)
        and (step.data.letters or trained.letters)
    )  # fmt: skip
    for data, trained in pairs:
        same = trained.model_copy(update={"split": data.split, "examples": data.examples})
        if same.code != data.code and read_twice(examples := data.read(), same.read()) == len(examples):
            yield f"{data.name} is {trained.name} to the letter, which is trained on: its scores are not zero-shot"


def _fewer_than_shots(steps: list[Step]) -> Iterator[str]:
    """Data that have fewer examples than are asked for as few, and by which rows call a model."""
    asked = dict.fromkeys(
        (data, shots)
        for step in steps
        if isinstance(step, Tune) and (shots := step.labels.get("shots") or ALL) < ALL
        for data in step.train
        if isinstance(data, FileData) and data.examples == shots
    )
    for data, shots in asked:
        with suppress(InputError):  # which a run says of the file
            if (there := examples_of(data)) < shots:
                yield f"{data.name}: has {there:,} examples to train on; rows with `shots` {shots:,} are of so many"


def _other_sizes(steps: list[Step]) -> Iterator[str]:
    """Models that rows tell apart by their encoders alone, of which some are trained on fewer examples; and data of
    which models are scored on other numbers of examples."""
    models: dict[str, dict[tuple[Dataset, ...], dict[str, None]]] = {}
    tested: dict[str, dict[tuple[Dataset, ...], None]] = {}
    for of_model in _scores_by_model(steps):
        model = of_model[0].model
        trained = f"{model.task}, trained on {model.trained_on} ({', '.join(data.name for data in model.train)})"
        models.setdefault(trained, {}).setdefault(model.train, {})[model.labels["encoder"]] = None
        for step in of_model:
            tested.setdefault(f"{model.task}, scored on {step.data.name}", {})[step.data,] = None
    for told, encoders in models.items():
        if len(sizes := _sizes(encoders)) > 1:
            named = [f"of {listed([*encoders[sets]])} on {size} examples" for sets, size in sizes.items()]
            yield f"{told}: models {listed(named)}, so that differences are not of the encoders alone"
    for told, sets_tested in tested.items():
        if len(sizes := _sizes(sets_tested)) > 1:
            yield f"{told}: on {listed([*sizes.values()])} examples, so that scores are not of the same sentences"


def _scores_by_model(steps: list[Step]) -> Iterable[list[Evaluate]]:
    scores: dict[str, list[Evaluate]] = {}
    for step in (step for step in steps if isinstance(step, Evaluate)):
        scores.setdefault(step.model.key, []).append(step)
    return scores.values()


def _sizes(several: Collection[tuple[Dataset, ...]]) -> dict[tuple[Dataset, ...], str]:
    """Of several data sets that go by one name, those of different sizes, and these sizes in words."""
    sizes: dict[str, tuple[Dataset, ...]] = {}
    with suppress(InputError):  # which a run says of the files
        for sets in several if len(several) > 1 else ():
            sizes.setdefault(" and ".join(f"{examples_of(data):,}" for data in sets), sets)
    return {sets: size for size, sets in sizes.items()}


def _of_labels(steps: list[Step]) -> Iterator[str]:
    """Data that all have one label, or labels that look alike; and test sets of which much is not trained on."""
    labels = dict[Dataset, list[str]]()
    for data in _files(steps):
        with suppress(InputError):  # which a run says of the file
            labels[data] = gold_labels(kind_of(data.task).gold(data.task, data.read()))
            yield from one_label(data.name, data.split, labels[data])
            yield from labels_that_look_alike(data.name, data.split, labels[data])
    pairs = dict.fromkeys((step.data, step.model.train) for step in steps if isinstance(step, Evaluate))
    trained_on = dict[tuple[Dataset, ...], set[str]]()
    for tested, trained in pairs:
        if tested in labels and all(each in labels for each in trained if isinstance(each, FileData)):
            if trained not in trained_on:
                trained_on[trained] = {label for each in trained for label in labels.get(each) or _labels(each)}
            names = listed([each.name for each in trained])
            yield from untrained_labels(tested.name, labels[tested], trained_on[trained], names)


def _labels(data: Dataset) -> list[str]:
    return gold_labels(kind_of(data.task).gold(data.task, data.read()))


def _repeated(steps: list[Step]) -> Iterator[str]:
    """Test sets in which much comes again."""
    for data in _files(steps):
        if data.split == "test":
            with suppress(InputError):
                yield from earlier_ones(data.name, data.read())


def _learned_by(steps: list[Step]) -> Iterator[str]:
    """Translations whose likeness is measured in an encoder that learned by the same ones."""
    told = dict.fromkeys(
        (step.model.encoder if isinstance(step.model, Tune) else step.model, step.texts)
        for step in steps
        if isinstance(step, SentenceSimilarity) and isinstance(step.texts, ParallelTranslations)
    )
    read = _Translations()
    for encoder, texts in told:
        with suppress(InputError):  # which a run says of the files
            known = read.of(translations(encoder))
            for (_, name), sentences in zip(texts.pairs, texts.read()[1:] if known else (), strict=False):
                if both := many_of(sum(text in known for text in bare_texts(sentences)), len(sentences)):
                    yield (
                        f"{name}: {both:,} of {len(sentences):,} sentences whose likeness is measured are among the "
                        f"translations by which {encoder.labels['encoder']} was made, so that they are more alike than "
                        "new ones"
                    )


class _Translations:
    """The sentences of parallel texts, as they tell examples apart; each text is read once, whoever learned by it."""

    def __init__(self) -> None:
        self._read: dict[NamedPairs | FilePairs, frozenset[object]] = {}

    def of(self, texts: Iterable[NamedPairs | FilePairs]) -> frozenset[object]:
        """Of both sides of all."""
        return frozenset[object]().union(*map(self._of_one, texts))

    def _of_one(self, text: NamedPairs | FilePairs) -> frozenset[object]:
        if text not in self._read:
            self._read[text] = frozenset(bare_texts(chain.from_iterable(text.read())))
        return self._read[text]


def _tuned_before(steps: list[Step]) -> Iterator[str]:
    """Encoders that are models of a task, which knew a language that is tested before they were tuned here."""
    places = dict.fromkeys(value for value in declared(steps) if isinstance(value, Load))
    known = {load: trainings for load in places if (trainings := tuned_on(load.place))}
    told: dict[tuple[str, str, bool], dict[str, None]] = {}
    for step in (step for step in steps if known and isinstance(step, Evaluate)):
        loads = (each for each in made_of(step.model.encoder) if isinstance(each, Load) and each in known)
        for load, before in ((each, before) for each in loads for before in known[each]):
            if (zero_shot := _spoilt(step, before)) is not None:
                names = told.setdefault((load.name, step.data.language, zero_shot), {})
                names[f"{before.data} ({before.task})"] = None
    for (name, language, zero_shot), data in told.items():
        what = "not zero-shot, and " if zero_shot else ""
        yield (
            f"{name} was tuned before, on {', '.join(data)}: its scores in {language} are {what}too good where what is "
            "tested was trained on then"
        )


def _spoilt(step: Evaluate, before: TunedOn) -> bool | None:
    """Whether scores seem to be zero-shot that are not; None where an earlier training takes nothing from them."""
    if not same_language(before.language, step.data.language):
        return None
    with_labels = before.task not in TASKS or TASKS[before.task].reads != LINES
    is_trained_on = any(same_language(data.language, step.data.language) for data in step.model.train)
    seems_zero_shot = with_labels and not is_trained_on
    return seems_zero_shot if seems_zero_shot or before.task == step.data.task.name else None


def _files(steps: list[Step]) -> list[FileData]:
    """What models are trained, selected and scored on, as far as it is at hand."""
    tuned = (data for step in steps if isinstance(step, Tune) for data in (*step.train, *step.dev))
    data = dict.fromkeys([*tuned, *(step.data for step in steps if isinstance(step, Evaluate))])
    return [each for each in data if isinstance(each, FileData) and each.is_here]
