"""What tasks are trained on and where they are scored: a part of a study's declaration."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    FiniteFloat,
    PositiveInt,
    Tag,
    field_validator,
    model_validator,
)

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError, did_you_mean
from babelscope.core.registry import import_plugins
from babelscope.core.tasks import ENTITIES, TASKS, Task
from babelscope.measures.probing import Probing
from babelscope.study.sizes import Sizes, one_or_several
from babelscope.tasks.baselines import BaselineRule
from babelscope.tasks.kinds import BILSTM, TaskKind, kind_of
from babelscope.tuning.settings import RECURRENT, RecurrentTuning, Tuning


def _known(baseline: str) -> str:
    import_plugins()
    names = (*BaselineRule.kinds, BILSTM)
    if baseline not in names:
        raise ValueError(f"there is no such baseline{did_you_mean(baseline, names)}; there are {', '.join(names)}")
    return baseline


BaselineName = Annotated[str, AfterValidator(_known)]
OF_ONES_OWN = ("label", "text", "scale")
"""What a transfer says of a task of one's own."""


class Transfer(Declaration):
    """What a task is trained on, and where it is scored.

    Data sets have these names:

    | name | data |
    | --- | --- |
    | `world:CODE` | the artificial world: data for every task but the real benchmarks |
    | `UD_LANGUAGE-NAME` | a treebank |
    | `treebank:CODE:FILE` | a treebank of your own, in CoNLL-U |
    | `masakhaner2:CODE`, `wikiann:CODE` | named entities |
    | `entities:CODE:FILE` | named entities of your own, in BIO |
    | `glue:NAME`, `xnli:NAME` | sentence tasks |
    | `tsv:CODE:FILE` | sentence tasks, from a table of your own |

    For language modelling there are also `ntrex:CODE`, `wikipedia:CODE` and `xnli:CODE`, and `text:CODE:FILE` for a
    text of your own with a sentence a line. A transliteration stands after `>`: `UD_Uyghur-UDT>uyghur` is in another
    script.
    """

    task: str | None = None
    """A task that `babelscope list tasks` names; None: the name of the transfer.

    For a task of your own it is a kind of task: `tagging`, `classification` or `regression`. The task then has the name
    of the transfer. Other transfers can give that name as their `task`.
    """
    label: str = ""
    """Of a task of your own: where the labels stand.

    Labels of words stand in a column of CoNLL-U, such as `upos`, `xpos` or `feats:Number`. Labels of texts stand in a
    column of the table. The classes are those of the training data.
    """
    text: Annotated[
        Annotated[str, Tag("<one>")] | Annotated[tuple[str, str], Tag("<several>")], Discriminator(one_or_several)
    ] = "first"
    """Of a task of your own on tables: the column of the text, or the two columns of pairs of sentences."""
    scale: tuple[FiniteFloat, FiniteFloat] | None = None
    """Of a regression of your own: the lowest and the highest number; None: 0 and 1."""
    measure: str | None = None
    """The task's main measure, such as `las.nopunct` of parsing; None: the first that `babelscope list tasks` names.

    This measure selects the best step on the dev sets, and it is the score that the report shows. All transfers of one
    task have the same measure.
    """
    train: tuple[str, ...] = Field(min_length=1)
    """Training sets, taken together, each once. Their dev splits select the best step, by the mean over them."""
    evaluate: tuple[str, ...] = Field(min_length=1)
    """Data sets whose test splits are scored."""
    shots: PositiveInt | None = None
    """Few-shot training: at most how many examples are read of each training set after the first.

    If there is one training set, the limit is that one's. All examples of a limited set are trained on, so it has no
    dev split. Where no training set has a dev split, the last step is taken. Few examples take more epochs than many
    to be learned, and so does a BiLSTM of few examples (`recurrent`): 8,000 that are read in all are seldom too few.
    """
    selected_on: Literal["dev", "test"] = "dev"
    """What selects the best step: the `dev` splits of the training sets, or the `test` data.

    With `test` the best step is selected on the very data sets that are scored, by the mean over them. Published work
    on GLUE's dev sets does so. The scores are then too high. Nothing of the training sets is held out as a dev split.
    `test` cannot be combined with `shots`.
    """
    encoders: tuple[str, ...] = ()
    """The encoders that are tuned on it, by their names in rows. Empty: all."""
    sizes: Sizes = Sizes()
    tuning: Tuning = Tuning()
    recurrent: RecurrentTuning = RECURRENT
    """Settings of the baseline `bilstm`, which is trained from scratch.

    If some settings are given, the others have the defaults of every tuning, not the defaults shown here. It is trained
    on the CPU, whatever `tuning` says, unless `device` is given here.
    """
    head: str | None = None
    """The head over the encoder, of parsing and of sentence tasks.

    For parsing it is a biaffine scorer:

    - `small`: the project's own for small encoders, with layers of 96 units for arcs and 16 for relations, without
      dropout.
    - `underspecified`: 512 and 128 units, of Wu et al. (2022).
    - `align-then-predict`: 500 and 200 units, of Muller et al. (2021).
    - None: `small` where the hidden size is at most 128, else `underspecified`.

    For sentence tasks it is a linear layer over one of these:

    - `first` (the default): the last hidden state of the first token ([CLS]); of a decoder, that of the last token.
    - `pooler`: what the encoder's own pooler (a dense layer with tanh) makes of that hidden state.
    - `family`: neither. The head is the one that Transformers has for this family of models, in its
      `...ForSequenceClassification`.
    """
    quirks: tuple[str, ...] = ()
    """Deviations of published code that are repeated. Empty: none.

    Their names are in the tables of `docs/underspecified.md` (tagging, entities, parsing) and of `docs/evolution.md`
    (language modelling). A BiLSTM next to the encoders has none of them.
    """
    entity_types: dict[str, str] = Field(default={})
    """Of named entities: each type in the data with the type that it counts as, such as `DATE: O`. `O` is no entity."""
    baselines: tuple[BaselineName, ...] = ()
    """What is scored next to the encoders. `babelscope list tasks` says which baselines suit the task."""
    probes: Probing | None = None

    @property
    def of_ones_own(self) -> list[str]:
        """What it says of a task of one's own."""
        fields = type(self).model_fields
        return [name for name in OF_ONES_OWN if getattr(self, name) != fields[name].default]

    @field_validator("train")
    @classmethod
    def _each_once(cls, train: tuple[str, ...]) -> tuple[str, ...]:
        if twice := next((name for name in train if train.count(name) > 1), None):
            raise ValueError(f"{twice} is given twice; its examples would count twice in every epoch")
        return train

    @model_validator(mode="after")
    def _few_are_told(self) -> Self:
        if self.shots is not None and self.selected_on == "test":
            raise ValueError(
                "shots and selected_on: test do not go together: rows of what is selected on test sets do not say that "
                "examples were few; leave one of the two out, or make `sizes` smaller"
            )
        return self

    @model_validator(mode="after")
    def _a_size_for_each(self) -> Self:
        sizes, sets = self.sizes.of("train", len(self.train)), len(self.train)
        if len(sizes) != sets:
            raise ValueError(f"sizes.train has {len(sizes)} numbers for {sets} training sets: give one, or {sets}")
        return self


def check_transfers(tasks: Mapping[str, Transfer]) -> None:
    """Whether each has a task, with baselines and a head that suit it, and rows can tell them apart.

    Raises:
        ValueError: what is wrong, the name of the transfer first.
    """
    for name, transfer in tasks.items():
        if not name.strip():
            raise ValueError(f"a task is named {name!r}: give it a name that can be read")
        try:
            kind = kind_of(declared_task(name, tasks))
        except InputError as error:
            raise ValueError(f"{name}: {error}") from None
        for baseline in transfer.baselines:
            _check_choice(f"{name}: the baseline", baseline, kind.baselines)
        if transfer.head is not None:
            _check_choice(f"{name}: the head", transfer.head, kind.heads)
        for quirk in transfer.quirks:
            _check_choice(f"{name}: the quirk", quirk, tuple(kind.quirks))
        if transfer.entity_types and kind.reads != ENTITIES:
            raise ValueError(f"{name}: entity_types are for ner; leave them out")
    _check_named_apart(tasks)
    _check_told_apart(tasks)
    _check_scored_alike(tasks)


def declared_task(name: str, tasks: Mapping[str, Transfer]) -> Task:
    """A built-in task, one that the transfer declares, or one that the transfer that it names declares.

    Raises:
        InputError: there is no such task, or it is not declared as its kind asks.
    """
    import_plugins()
    transfer = tasks[name]
    asked, given = transfer.task or name, transfer.of_ones_own
    if asked not in TASKS and asked in TaskKind.kinds:
        return _scored_by(transfer.measure, _declared(name, asked, transfer))
    other = tasks[asked] if asked in tasks and asked != name else None
    is_another = asked not in TASKS and other is not None and other.task in TaskKind.kinds
    if not (is_another or asked in TASKS):
        kinds = ", ".join(sorted(kind for kind, known in TaskKind.kinds.items() if "label" in known.options))
        raise InputError(
            f"the task cannot be {asked!r}{did_you_mean(asked, [*TASKS, *TaskKind.kinds])}; allowed: "
            f"{', '.join(TASKS)}; or for a task of one's own: {kinds}, with a label"
        )
    if given:
        raise InputError(f"{given[0]} is said where a task of one's own is declared, and {asked} is: leave it out")
    return _scored_by(transfer.measure, declared_task(asked, tasks) if is_another else TASKS[asked])


def _scored_by(measure: str | None, task: Task) -> Task:
    if measure is None:
        return task
    allowed = kind_of(task).main_measures(task)
    if measure not in allowed:
        raise InputError(f"the measure of {task} cannot be {measure!r}; allowed: {', '.join(allowed)}")
    return task.scored_by(measure)


def _declared(name: str, kind: str, transfer: Transfer) -> Task:
    known: TaskKind = TaskKind.named(kind)()
    if name in TASKS:
        raise InputError(f"{name} is a built-in task; give one of your own another name")
    if strange := [option for option in transfer.of_ones_own if option not in known.options]:
        raise InputError(f"{kind} has no {strange[0]}; leave it out")
    if "label" in known.options and not transfer.label:
        raise InputError(f"{kind} needs a label, such as {known.example}")
    text = (transfer.text,) if isinstance(transfer.text, str) else transfer.text
    return known.declared(name, transfer.label, text, transfer.scale)


def _check_named_apart(tasks: Mapping[str, Transfer]) -> None:
    """Whether pages call no two tasks the same, as they would one of one's own that has a built-in one's title."""
    first: dict[str, str] = {}
    for name in tasks:
        task = declared_task(name, tasks)
        title = task.title or task.name
        title = title[:1].lower() + title[1:]  # as it stands in a sentence
        if (other := first.setdefault(title, task.name)) != task.name:
            raise ValueError(f"{name}: pages would call both {other} and {task.name} {title!r}; rename the task")


def _check_told_apart(tasks: Mapping[str, Transfer]) -> None:
    """Whether tunings that rows give the same names are the same; where they are scored may differ."""
    alike: dict[tuple[str, tuple[str, ...], int | None], list[Transfer]] = {}
    for name, transfer in tasks.items():
        alike.setdefault((str(declared_task(name, tasks)), transfer.train, transfer.shots), []).append(transfer)
    for (task, train, _), transfers in alike.items():
        for one, other in combinations(transfers, 2):
            share = not (one.encoders and other.encoders) or set(one.encoders) & set(other.encoders)
            if share and one.model_copy(update=_MAY_DIFFER) != other.model_copy(update=_MAY_DIFFER):
                names = ", ".join(train)
                raise ValueError(f"{task} is trained in two ways on {names}; rows could not tell the two apart")


def _check_scored_alike(tasks: Mapping[str, Transfer]) -> None:
    """Whether a task has one main measure in the study: charts and means are of one."""
    first: dict[str, tuple[str, str]] = {}
    for name in tasks:
        task = declared_task(name, tasks)
        other, measure = first.setdefault(task.name, (name, task.measures[0]))
        if task.measures[0] != measure:
            raise ValueError(
                f"{other} is scored by {measure} and {name} by {task.measures[0]}, but both are {task}: give all "
                "transfers of a task the same measure"
            )


_MAY_DIFFER = dict.fromkeys(("evaluate", "encoders", "baselines"), ()) | dict.fromkeys(("task", *OF_ONES_OWN))
"""What may differ between two transfers that train the same task alike."""


def _check_choice(what: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        there = ", ".join(allowed) or "none, leave it out"
        raise ValueError(f"{what} cannot be {given!r}{did_you_mean(given, allowed)}; allowed: {there}")
