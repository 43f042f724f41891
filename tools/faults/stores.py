"""A study of seconds, what an undisturbed run of it gives, and what a store of it may and may not hold afterwards."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.errors import BabelscopeError, DamagedResult
from babelscope.core.row import Row
from babelscope.core.step import STEPS
from babelscope.engine.agenda import Agenda
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study
from faults.attempts import Attempt, WrongError
from faults.limits import Command
from faults.right_input import write_folders

STUDY = """\
name: tiny
question: Does anything carry over?
encoders:
- {encoder}
- name: small
  texts: [{{language: qaa, sentences: 60}}]
  vocabulary_size: 150
  shape: {{hidden: 16, layers: 2, heads: 2, feed_forward: 32, positions: 24}}
  tuning: {{epochs: 2, learning_rate: 1e-3}}
surgeries: [reinit]
tasks:
  pos:
    train: [world:qaa]
    evaluate: [world:qaa, world:qab]
    sizes: {{train: 20, dev: 5, test: 5}}
    tuning: {{epochs: 2, learning_rate: 1e-3}}
    probes: {{scores: [world:qab], every: 4}}
    baselines: [most-frequent-tag]
seeds: [0]
measures: [{{measure: retrieval, source: qaa, targets: [qab], sentences: 10}}]
"""


class Laboratory:
    """The study in a folder, and an undisturbed store of it."""

    def __init__(self, folder: Path):
        encoder, _ = write_folders(folder)
        self.study, self._folder = folder / "study.yaml", folder
        self.study.write_text(STUDY.format(encoder=encoder))

    @cached_property
    def plan(self) -> Plan:
        """The study's steps."""
        return compile_study(load_study(self.study))

    @cached_property
    def undisturbed(self) -> Path:
        """The store of a run that nothing has disturbed, by a Python of its own, as users run it."""
        store = self._folder / "undisturbed"
        if (ended := self.run(store, (sys.executable, "-m", "babelscope")).end()).status:
            raise WrongError(f"a run that nothing disturbs failed: {ended}")
        return store

    @cached_property
    def right(self) -> dict[str, Result]:
        """What the undisturbed store holds, by keys."""
        return {key: content(self.undisturbed, key) for key in self.plan.steps}

    def run(self, store: Path, program: tuple[str, ...] = (), address: str = "", **environment: str) -> Command:
        """Begin to run the study, in a fork unless a program is given, on a store in a folder or at an address."""
        arguments = ("run", str(self.study), "--store", address or str(store), "--jobs", "1")
        return Command(store.parent, *arguments, program=program, **environment)

    def finish(self, store: Path, laid: Collection[str] = ()) -> None:
        """Run the study to its end. `laid` are drafts that somebody has laid beside results.

        Raises:
            WrongError: it cannot be, or leaves what `check_all` refuses.
        """
        if (ended := self.run(store).end()).status:
            raise WrongError(f"a run that nothing disturbs failed: {ended}")
        self.check_all(store, laid)

    def check_all(self, store: Path, laid: Collection[str] = ()) -> None:
        """Every result that is needed is there; all are right, or found to be damaged; and nothing else is left.

        Raises:
            WrongError: it is not so.
        """
        if missing := Agenda(self.plan, Store(store).has).unfinished:
            raise WrongError(f"after a run that succeeded there is no {missing}")
        self.check_published(store)
        # One of a step that nothing needs any more was laid there, and stays.
        published = set(filter(Store(store).has, self.plan.steps))
        drafts = ({path.name for path in store.glob("drafts/*")} & published) - {*laid}
        if left := [*drafts, *filter(Store(store).claimed, self.plan.steps)]:
            raise WrongError(f"left after a run that succeeded: {left}")

    def check(self, key: str, result: Result) -> None:
        """A result is that of the undisturbed run; files that somebody has laid into its draft may be beside it.

        Raises:
            WrongError: it is another.
        """
        right = self.right[key]
        files = {name: result.files.get(name) for name in right.files}
        if (result.fields, result.rows, files) != (right.fields, right.rows, right.files):
            raise WrongError(f"{key}: {result} and not {right}"[:3000])

    def check_published(self, store: Path) -> Counter[str]:
        """What is published is right, to the byte, or found to be damaged; gives how many results are which.

        Raises:
            WrongError: one is not.
        """
        tally: Counter[str] = Counter()
        for key in filter(Store(store).has, self.plan.steps):
            try:
                self.check(key, content(store, key))
            except DamagedResult:
                tally["damaged"] += 1
                continue
            tally["right"] += 1
        return tally


class Result(NamedTuple):
    """A result without seconds and dates."""

    fields: Mapping[str, Any]
    rows: list[Row]
    files: dict[str, str]
    """Digests by name."""


def content(folder: Path, key: str) -> Result:
    """A result, all of it verified."""
    store = Store(folder)
    store.result(key)
    manifest, rows = store.manifest(key), store.rows(key)
    if STEPS[manifest["step"]].timed:
        return Result(manifest["fields"], [], {})
    return Result(manifest["fields"], rows, {name: file["sha256"] for name, file in manifest["files"].items()})


def strict(attempt: Attempt) -> Attempt:
    """The attempt, of which an error in words is wrong, too: nothing that is given is faulty."""

    def strictly(chance: random.Random, folder: Path) -> object:
        try:
            return attempt(chance, folder)
        except BabelscopeError as error:
            raise WrongError(str(error)) from error

    return strictly
