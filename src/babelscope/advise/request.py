"""What is asked: a language, text in it, labelled sentences, encoders."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, field_validator

from babelscope.advise.outputs import Outputs
from babelscope.core.declaration import Count, Declaration
from babelscope.core.devices import Device
from babelscope.core.errors import InputError, StudyError
from babelscope.core.examples import Sentence
from babelscope.core.outside import given_path
from babelscope.core.validation import validate
from babelscope.corpora.codes import checked_code
from babelscope.corpora.datasets import find_file
from babelscope.corpora.letters import LETTERS
from babelscope.corpora.own_treebanks import PREFIX
from babelscope.corpora.parallel import SOURCE
from babelscope.corpora.plain import NTREX, OWN, text_language
from babelscope.corpora.sources import SPLITS, Split
from babelscope.encoders.places import locate

OPTIONS = {
    "language": "--language", "text": "--text", "treebank": "--treebank", "encoders": "--encoder", "task": "--task",
    "parallel": "--parallel", "source_treebank": "--source-treebank", "seeds": "--seeds",
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
    treebank: str | None = None
    """A file or folder of CoNLL-U, or the name of a treebank such as `UD_Maltese-MUDT`."""
    encoders: tuple[str, ...] = Field(min_length=1)
    """Shipped names, folders or hub names."""
    task: Literal["pos", "parsing"] = "pos"
    parallel: tuple[str, ...] = ()
    """Sentences with their translations in the language: names such as `ntrex:mt`, or files as `given_pairs` takes."""
    source_treebank: str | None = None
    """Labelled sentences in what the translations are from, named or given as `treebank`; a file's code is `en`."""
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

    @property
    def code(self) -> str:
        """As studies have it: `mt` of `mlt`."""
        return text_language(f"{NTREX}{self.language}")

    @property
    def text_name(self) -> str:
        """As data sets are named; `InputError` if there is no such file."""
        if given_path(self.text).is_dir():
            raise InputError(f"--text {self.text}: a folder; give a file of raw text, one sentence a line")
        return _named(self.text, f"{OWN}{self.language}:", ("ntrex:", "xnli:", "UD_", PREFIX, OWN), "ntrex:mt")

    @property
    def treebank_name(self) -> str | None:
        """As data sets are named; `InputError` if there is no such file."""
        if self.treebank is None:
            return None
        return _named(self.treebank, f"{PREFIX}{self.language}:", ("UD_", PREFIX), "UD_Maltese-MUDT")

    @property
    def source_treebank_name(self) -> str | None:
        """As data sets are named; `InputError` if there is no such file."""
        if self.source_treebank is None:
            return None
        return _named(self.source_treebank, f"{PREFIX}{SOURCE}:", ("UD_", PREFIX), "UD_English-EWT")


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


def read_split(request: Request, split: Split) -> Sequence[Sentence]:
    """Labelled sentences."""
    return find_file(request.task, request.treebank_name or "", split).read()


def read_source(request: Request, split: Split) -> Sequence[Sentence]:
    """Those in what the translations are from."""
    return find_file(request.task, request.source_treebank_name or "", split).read()


def text_size(request: Request) -> int:
    """How many sentences of the text there are to learn from."""
    return len(find_file("mlm", request.text_name, "train").read())


def check_apart(request: Request) -> None:
    """Refuse test sentences that are trained or selected on, by the content of the files.

    Raises:
        InputError: the test split is the same file as another.
    """
    train, dev, test = (find_file(request.task, request.treebank_name or "", split) for split in SPLITS)
    if test.sha256 in (train.sha256, dev.sha256) and not test.splits_one_file:
        raise InputError(f"--treebank {request.treebank}: the test sentences are those that are trained or selected on")


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


def _named(given: str, prefix: str, known: tuple[str, ...], example: str) -> str:
    if LETTERS in given:
        raise InputError(f"{given}: {LETTERS} in a name stands for a transliteration, which is tried where it can help")
    if given.startswith(known):
        return given
    path = given_path(given)
    if not path.exists():
        raise InputError(f"{given}: there is no such file, and data sets have names such as {example}")
    return f"{prefix}{path.resolve()}"  # so that a model can be read again from another folder
