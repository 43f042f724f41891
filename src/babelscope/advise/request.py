"""What is asked: a language, text in it, labelled sentences, encoders."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Literal

from pydantic import Field, field_validator

from babelscope.advise.outputs import Outputs
from babelscope.core.declaration import Count, Declaration
from babelscope.core.devices import Device
from babelscope.core.errors import InputError, StudyError
from babelscope.core.examples import LABEL_COLUMNS
from babelscope.core.outside import given_path
from babelscope.core.tasks import ENTITIES, TASKS, TREES, Task
from babelscope.core.validation import validate
from babelscope.corpora.codes import checked_code
from babelscope.corpora.data_sources import source_names, source_of
from babelscope.corpora.letters import LETTERS
from babelscope.corpora.own_splits import OWN_ENTITIES, OWN_TREEBANKS
from babelscope.corpora.parallel import SOURCE
from babelscope.corpora.plain import NTREX, OWN, text_language
from babelscope.encoders.places import locate
from babelscope.tasks.kinds.tagging import Tagging

BUILT_IN = ("pos", "parsing", "ner")
"""Tasks that have names; others are columns of CoNLL-U."""
OPTIONS = {
    "language": "--language", "text": "--text", "labelled": "--labelled", "encoders": "--encoder", "task": "--task",
    "parallel": "--parallel", "source_labelled": "--source-labelled", "seeds": "--seeds",
    "adaptation_steps": "--steps", "search": "--no-search", "curve": "--no-curve", "margin": "--margin",
    "device": "--device", "precision": "--precision",
}  # fmt: skip
"""What the command line calls the fields of a request."""


class Request(Declaration):
    """What a person with a language has."""

    language: str
    """Its code, such as `mt`."""
    text: str
    """A file of raw text, a sentence a line, or the name of a data set such as `ntrex:mt`."""
    labelled: str | None = None
    """Labelled sentences: a file or folder of CoNLL-U, of entities of BIO, or a name: `UD_Maltese-MUDT`."""
    encoders: tuple[str, ...] = Field(min_length=1)
    """Shipped names, folders or hub names."""
    task: str = "pos"
    """`pos`, `parsing`, `ner`, or what else words are labelled with in CoNLL-U: `xpos`, `feats:Case`."""
    parallel: tuple[str, ...] = ()
    """Sentences with their translations in the language: names such as `ntrex:mt`, or files as `given_pairs` takes."""
    source_labelled: str | None = None
    """Labelled sentences in what the translations are from, named or given as `labelled`; a file's code is `en`."""
    seeds: Annotated[int, Field(gt=0, le=1000)] = 3
    """Rounds: every recipe that is still in the race is tuned once a round."""
    adaptation_steps: Count = 300
    """Of masked language modelling on the text."""
    search: bool = True
    """Whether the first round decides how long each recipe is trained, and how fast it learns."""
    curve: bool = True
    """Whether the best recipes are also tried with fewer and fewer sentences, to say what more would bring."""
    new_pieces: Count = 1000
    """How many subwords are added at most to a vocabulary that covers the text badly."""
    margin: float = Field(default=0.02, gt=0, lt=1)
    """As a share: two recipes are as good as each other if their difference shows to be smaller."""
    device: Device = "cpu"
    precision: Literal["float32", "bfloat16"] = "float32"

    @field_validator("language")
    @classmethod
    def _code(cls, given: str) -> str:
        return checked_code(given)

    @field_validator("task")
    @classmethod
    def _of_words(cls, given: str) -> str:
        try:
            _task(given)
        except InputError:
            column, colon, key = given.partition(":")
            near = get_close_matches(column.lower(), (*BUILT_IN, *LABEL_COLUMNS), n=1)
            meant = f" (did you mean {near[0]}{colon}{key}?)" if near and near[0] != column else ""
            allowed = f"{', '.join(BUILT_IN)}, or a column of CoNLL-U such as xpos or feats:Case"
            raise ValueError(f"should be {allowed}{meant}") from None
        return given

    @property
    def asked_task(self) -> Task:
        """The task, but for the classes of a column, for which labelled sentences are read (`data.learned`)."""
        return _task(self.task)

    @property
    def title(self) -> str:
        """The task in words."""
        return self.asked_task.title or f"Tagging of words ({self.task})"

    @property
    def measure(self) -> str:
        """By which recipes are chosen and judged."""
        return self.asked_task.measures[0]

    @property
    def has_tagger(self) -> bool:
        """Whether what is learned labels words, so that transformers may load it; parsers are for Babelscope alone."""
        return self.asked_task.reads != TREES

    @property
    def is_conllu(self) -> bool:
        """Whether files of labelled sentences are CoNLL-U; those of entities are BIO."""
        return self.asked_task.reads != ENTITIES

    @property
    def suffix(self) -> str:
        """How files of labelled sentences end in messages."""
        return ".conllu" if self.is_conllu else ".bio"

    @property
    def placeholder(self) -> str:
        """What stands for a file of labelled sentences, or to predict on, in messages."""
        return f"FILE{self.suffix}"

    @property
    def code(self) -> str:
        """As studies have it: `mt` of `mlt`."""
        return text_language(f"{NTREX}{self.language}")

    @property
    def text_name(self) -> str:
        """As data sets are named; `InputError` if there is no such file."""
        if given_path(self.text).is_dir():
            raise InputError(f"--text {self.text}: a folder; give a file of raw text, one sentence a line")
        return _named(self.text, TASKS["mlm"], f"{OWN}{self.language}:")

    @property
    def labelled_name(self) -> str | None:
        """As data sets are named; `InputError` if there is no such file."""
        return self._labelled(self.labelled, self.language)

    @property
    def source_labelled_name(self) -> str | None:
        """As data sets are named; `InputError` if there is no such file."""
        return self._labelled(self.source_labelled, SOURCE)

    def _labelled(self, given: str | None, language: str) -> str | None:
        own = OWN_TREEBANKS if self.is_conllu else OWN_ENTITIES
        return None if given is None else _named(given, self.asked_task, f"{own.prefix}{language}:")


def asked(given: Mapping[str, object]) -> Request:
    """The request that the command line's values make.

    Raises:
        InputError: one of them cannot be; all of those that cannot are named as options.
    """
    try:
        return validate(Request, given, "advise")
    except StudyError as error:
        named = (fault.partition(":") for fault in error.faults)
        faults = [f"{OPTIONS.get(name.split('.')[0], name)}:{rest}" for name, _, rest in named]
        raise StudyError("advise", faults) from None


def command_line(request: Request, outputs: Outputs, run: bool) -> str:
    """The command that asks this."""
    changed = {name: value for name, value in request if value != Request.model_fields[name].default}
    options = {option: changed[name] for name, option in OPTIONS.items() if name in changed}
    written = {"--output": outputs.page, "--store": outputs.store, "--export": outputs.export}
    options |= {option: to for (option, to), usual in zip(written.items(), Outputs(), strict=True) if to != usual}
    words = ["babelscope", "advise", *(["--run"] if run else [])]
    for option, value in options.items():
        for part in value if isinstance(value, tuple) else [value]:
            words += [option] if part is False else [option, str(part)]
    return shlex.join(words)


def check_names(request: Request) -> None:
    """Refuse different encoders that tables would call the same, and one that would race against itself.

    Raises:
        InputError: says which they are; or there is no such encoder.
    """
    named, same = dict[str, str](), dict[str, str]()
    for given in dict.fromkeys(request.encoders):
        place = locate(given)
        if (other := same.setdefault(place.content, given)) != given:
            raise InputError(f"--encoder {other} and {given}: both are the same encoder; leave one of them out")
        if (other := named.setdefault(place.name, given)) != given:
            raise InputError(f"--encoder {other} and {given}: both are called {place.name}; rename one of the folders")


def _task(given: str) -> Task:
    return TASKS[given] if given in BUILT_IN else Tagging().declared(given, given)


def _named(given: str, task: Task, prefix: str) -> str:
    if LETTERS in given:
        raise InputError(f"{given}: {LETTERS} in a name stands for a transliteration, which is tried where it can help")
    if source_of(task, given):
        return given
    path = given_path(given)
    if not path.exists():
        is_other = any(source_of(other, given) for other in TASKS.values())
        what = f"no data for {task}, which" if is_other else f"there is no such file, and data sets for {task}"
        raise InputError(f"{given}: {what} are named {', '.join(source_names(task))}")
    return f"{prefix}{path.resolve()}"  # so that a model can be read again from another folder
