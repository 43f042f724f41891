"""Studies as Python has them: declared with the keys of YAML, planned, run, and reported on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from babelscope.core.errors import BabelscopeError, InputError
from babelscope.core.validation import declare
from babelscope.engine.store import Store
from babelscope.face import html
from babelscope.face.encoder import Encoder
from babelscope.face.job import Job, spoken_changes
from babelscope.face.result import Result
from babelscope.face.session import LOCAL, Engine, require_success
from babelscope.studies import check_own_name, find_study
from babelscope.study import declare as declared_study
from babelscope.study.declare import Transfer


class Study(declared_study.Study):
    """Every encoder under every surgery is tuned on every task with every seed, and scored on the task's data sets.

    It takes the keys of a study in YAML (docs/studies.md), with the same values: mappings, lists, text and numbers.
    Among its encoders may be what `load` gives. Results are kept in `store`: a folder or `s3://BUCKET/FOLDER`, by
    default the environment's BABELSCOPE_STORE, or `babelscope-store`.
    """

    _changes: tuple[str, ...] = PrivateAttr(default=())

    def __init__(
        self,
        *,
        name: str,
        encoders: Sequence[str | Path | Encoder | Mapping[str, Any]],
        tasks: Mapping[str, Mapping[str, Any] | Transfer] | None = None,
        **more: Any,
    ):
        """Declare a study.

        Raises:
            StudyError: unknown keys or values that are not allowed, all of them at once, each with its path.
            InputError: the name is a built-in study's.
        """
        several = isinstance(encoders, Iterable) and not isinstance(encoders, str | bytes | Mapping)
        given = {"name": name, "encoders": [*map(_declared, encoders)] if several else encoders, **more}
        if tasks is not None:
            given["tasks"] = tasks
        declare(lambda: super(Study, self).__init__(**given), "study", declared_study.Study)
        check_own_name(self.name, "study")

    def plan(self, store: Store | Path | str | None = None) -> Job:
        """Its steps, which of them are done, and what the others are expected to cost. Computes nothing.

        Raises:
            StudyError: what the study names is not there, or does not go together.
        """
        return Job.of(self, store, self._changes)

    def run(self, store: Store | Path | str | None = None, jobs: int | None = None, engine: str = LOCAL) -> Result:
        """Compute what the store lacks, and show progress. Run again, it goes on.

        Args:
            store: a folder, or `s3://BUCKET/FOLDER`; None: that of the study.
            jobs: steps at once on this machine; None: as its cores allow.
            engine: `local`, or the scheduler of a Dask cluster: `dask:FILE`, `tcp://HOST:PORT` or `tls://HOST:PORT`.

        Raises:
            InputError: the engine cannot be had.
            StudyError: what the study names is not there or malformed.
            StepError: a step failed; those that do not need it have run.
        """
        job = self.plan(store)
        require_success(job.plan, job.run(Engine(engine, jobs)))
        return Result(job)

    def rows(self, store: Store | Path | str | None = None) -> Result:
        """What the store has of it so far.

        Raises:
            InputError: nothing.
        """
        return Result(self.plan(store))

    def report(self, path: str | Path, store: Store | Path | str | None = None) -> list[Path]:
        """Write the report on what the store has of it so far, as `Result.report` does."""
        return self.rows(store).report(path)

    def _repr_html_(self) -> str:
        try:
            shown = self.plan()._repr_html_()
        except BabelscopeError as error:
            shown = html.paragraph(str(error))
        return html.paragraph(f"{self.name}: {self.question}" if self.question else self.name) + shown


def read_study(name: str | Path, changes: Mapping[str, Any] | None = None) -> Study:
    """The study in a YAML file, or a built-in one.

    Args:
        name: a file, or NAME or NAME@PROFILE as `babelscope list` has them.
        changes: of a built-in study's parameters (`{"seeds": 5}`), or of a file's keys
            (`{"tasks.pos.sizes.train": 99}`), as `--with` makes them on the command line.

    Raises:
        InputError: there is no such study or profile.
        DataError: the file is not YAML; the message names the line.
        StudyError: the parameters or the declaration are at fault.
    """
    if not isinstance(name, str | Path):
        raise InputError(f"read_study: give a file or a name; a mapping is a study by bs.Study(**it) ({name!r:.200})")
    if not isinstance(changes, Mapping | None):
        raise InputError(f"read_study: changes are a mapping, such as {{'seeds': 5}} (given: {changes!r:.200})")
    found = find_study(str(name), changes or {})
    study = Study.model_construct(**dict(found))  # validated there; a built-in one may have its name
    study._changes = spoken_changes(changes or {})
    return study


def _declared(encoder: object) -> object:
    if isinstance(encoder, Path):
        return str(encoder)
    if not isinstance(encoder, Encoder):
        return encoder
    if encoder.surgery:
        raise InputError(f"{encoder.title}: declare what is done to encoders under `surgeries` of the study")
    return encoder.source
