"""Where results are kept, and running what is missing. Light: what runs is imported when something runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from babelscope.core.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from babelscope.core.step import Step
    from babelscope.engine.crew import Crew
    from babelscope.engine.events import Event
    from babelscope.engine.run import Outcome
    from babelscope.engine.store import Store
    from babelscope.engine.tracking import Tracker
    from babelscope.steps.plan import Plan

DEFAULT_STORE = "babelscope-store"
STORE_VARIABLE = "BABELSCOPE_STORE"
"""The environment variable that names another folder."""
BUNDLE = ".tar.xz"
"""What the name of a bundle ends with, where a study or a store can stand, too."""
ADDRESSED = ("file:", "s3:")
"""What an address begins with that names no folder as it stands."""
LOCAL = "local"
T = TypeVar("T")
CLUSTERS = ("dask:", "tcp://", "tls://")


def open_store(store: Store | Path | str | None) -> Store:
    """The store at an address; None: at the one that the environment names, or `babelscope-store` where we are.

    Raises:
        StoreError: the folder holds something else, or a store of another format.
    """
    from babelscope.engine.sharing.places import store_at
    from babelscope.engine.store import Store

    if isinstance(store, Store):
        return store
    if not isinstance(store, str | Path | None):
        raise InputError(f"store={store!r:.100}: give a folder, or an address such as s3://BUCKET/FOLDER")
    return store_at(address_of(str(store or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE)))


def address_of(given: str) -> str:
    """The address of a store as users write it: a folder, `s3://BUCKET/FOLDER` or `file://FOLDER`.

    Raises:
        InputError: there can be no such folder.
    """
    from babelscope.core.outside import given_path

    scheme, mark, rest = given.partition("://")
    if not mark and given.startswith(ADDRESSED):
        raise InputError(
            f"{given}: an address has two slashes, file://FOLDER or s3://BUCKET/FOLDER; for a folder of that name give "
            f"./{given}"
        )
    if mark:
        from babelscope.engine.sharing.addresses import is_remote

        if not is_remote(given):  # without the rest, which may hold a password
            raise InputError(f"{scheme}://: no such stores; give a folder, file://FOLDER or s3://BUCKET/FOLDER")
        if scheme == "s3" and "@" in rest.partition("/")[0]:
            raise InputError("s3://: an address has no key in it; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        return given
    return str(given_path(given))


def missing(plan: Plan, store: Store, read: Collection[str] = ()) -> list[Step]:
    """The steps of a plan that a run computes: not in the store, or there without weights that are read."""
    from babelscope.engine.progress import computed_again

    there = store.published(plan.steps) - computed_again(plan, store, read)
    return [step for key, step in plan.steps.items() if key not in there]


class Engine(NamedTuple):
    """What computes the steps of a study."""

    place: str = LOCAL
    """`local`, or the scheduler of a Dask cluster: `dask:FILE`, `tcp://HOST:PORT` or `tls://HOST:PORT`."""
    jobs: int | None = None
    """Steps at once on this machine; None: as its cores allow."""
    seconds: float | None = None
    """That a step may take before it is begun again; None: all that it takes."""
    gpus: tuple[str, ...] | None = None
    """Of this machine that may be used, as `CUDA_VISIBLE_DEVICES` names them; None: all that are visible."""

    def crew(self, store: Store, steps: Iterable[Step] = ()) -> Crew:
        """Workers for a store, which see the files that the steps read.

        Raises:
            InputError: there is no such place, what it needs is not installed, or `jobs` does not fit it.
        """
        if not isinstance(self.place, str):
            raise InputError(f"engine {self.place!r:.100}: give local, or the address of a scheduler, as text")
        if self.place == LOCAL:
            from babelscope.engine.local import LocalCrew

            return LocalCrew(store, self.jobs, self.seconds, self.gpus)
        if not self.place.startswith(CLUSTERS):
            raise InputError(
                f"--engine {self.place}: give local, dask:FILE (of dask scheduler), tcp://HOST:PORT or tls://HOST:PORT"
            )
        if self.jobs is not None:
            raise InputError("--jobs: is of this machine; a cluster computes as many steps as its workers have threads")
        if self.gpus is not None:
            raise InputError("--gpus: is of this machine; start a cluster's workers with CUDA_VISIBLE_DEVICES")
        try:
            from babelscope.engine.cluster import DaskCrew
            from babelscope.steps.own_files import own_paths
        except ImportError as error:
            raise InputError(f"--engine {self.place}: {error}: pip install 'babelscope[cluster]'") from None
        return DaskCrew(store, self.place, self.seconds, own_paths(steps))


HERE = Engine()


def run(
    plan: Plan,
    store: Store,
    engine: Engine = HERE,
    console: Console | None = None,
    trackers: Sequence[Tracker] = (),
    drop: bool = False,
    read: Collection[str] = (),
) -> Outcome:
    """Compute what the store lacks, and show progress on a console (default: standard error, or the notebook).

    Trackers are told the numbers of what is computed, and are closed at the end. `drop` and `read` are of `run_plan`.

    Raises:
        StudyError: data are malformed.
        EncoderError: of an encoder there is a shape alone.
        InputError: a step needs a device that is not there, or the engine cannot be had.
        StoreError: the store cannot be written.
    """
    from rich.console import Console

    from babelscope.engine.course import Courses
    from babelscope.engine.dropping import notes
    from babelscope.engine.run import run_plan
    from babelscope.engine.tracking import Tracked
    from babelscope.face.display import RunDisplay
    from babelscope.steps.plan import check_data, check_devices, check_encoders, check_libraries

    pending = missing(plan, store, read)
    check_encoders(pending)
    check_data(pending)
    if engine.place == LOCAL:
        check_devices(pending)
        check_libraries(pending)
    crew = engine.crew(store, pending)
    display = RunDisplay(plan, len(pending), console or Console(stderr=True, soft_wrap=True, emoji=False))
    tracked = Tracked(plan, store, trackers, display.warn)
    listeners = (display, Courses(store), tracked)

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    with display, closing(tracked):
        outcome = run_plan(plan, store, observe=tell, crew=crew, drop=drop, read=read)
    tuned = [key for key in outcome.computed if plan.steps[key].droppable]
    for key, told in notes(store, tuned).items():
        display.warn(f"{plan.steps[key].title}: {told}")
    return outcome


def complete(targets: Iterable[Step], store: Store, jobs: int | None = None, read: Collection[str] = ()) -> None:
    """Compute steps, and all that they need, unless the store has them; as a whole those whose keys are in `read`.

    Raises:
        StepError: a step failed; says which, and why.
        StudyError, InputError, StoreError: as `run`.
    """
    from babelscope.steps.plan import Plan

    plan = Plan.of(targets)
    require_success(plan, run(plan, store, Engine(jobs=jobs), read=read))


def with_weights(act: Callable[[], T], store: Store) -> T:
    """What `act` gives, which reads weights. Those that the store has dropped are computed again first, which it says.

    Raises:
        StepError, StudyError, InputError, StoreError: as `complete`.
    """
    from rich.console import Console

    from babelscope.core.errors import DroppedError
    from babelscope.engine.recall import recall

    try:
        return act()
    except DroppedError as error:
        seconds = store.manifest(error.key)["seconds"]
        told = f"{error.problem}: it is computed again now, which took {seconds:.0f} s before"
        Console(stderr=True, soft_wrap=True).print(told, highlight=False, markup=False)
        complete([recall(store, error.key)], store, read=[error.key])
        return act()


def require_success(plan: Plan, outcome: Outcome) -> None:
    """Refuse a run in which a step failed.

    Raises:
        StepError: says which steps failed, and why.
    """
    from babelscope.core.errors import StepError

    if outcome.failed:
        faults = [f"{plan.steps[key].title}: {message}" for key, message in outcome.failed.items()]
        held_up = f"; {len(outcome.blocked)} more have not begun" if outcome.blocked else ""
        count = f"{len(faults)} step{'s' if len(faults) > 1 else ''} failed{held_up}"
        raise StepError("\n  - ".join([count, *faults]))
