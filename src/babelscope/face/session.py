"""Where results are kept, and running what is missing. Light: what runs is imported when something runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from babelscope.core.step import Step
    from babelscope.engine.local import Outcome
    from babelscope.engine.store import Store
    from babelscope.steps.plan import Plan

DEFAULT_STORE = Path("babelscope-store")
STORE_VARIABLE = "BABELSCOPE_STORE"
"""The environment variable that names another folder."""


def open_store(store: Store | Path | str | None = None) -> Store:
    """The store in a folder; None: in the one that the environment names, or `babelscope-store` where we are.

    Raises:
        StoreError: the folder holds something else, or a store of another format.
    """
    from babelscope.core.outside import given_path
    from babelscope.engine.store import Store

    if isinstance(store, Store):
        return store
    return Store(given_path(store or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE))


def missing(plan: Plan, store: Store) -> list[Step]:
    """The steps of a plan that are not in the store."""
    published = store.published(plan.steps)
    return [step for key, step in plan.steps.items() if key not in published]


def run(plan: Plan, store: Store, jobs: int | None = None, console: Console | None = None) -> Outcome:
    """Compute what the store lacks, and show progress on a console (default: standard error, or the notebook).

    Raises:
        StudyError: data are malformed.
        InputError: a step needs a device that is not there, or `jobs` is below 1.
        StoreError: the store cannot be written.
    """
    from rich.console import Console

    from babelscope.engine.local import run_plan
    from babelscope.face.display import RunDisplay
    from babelscope.steps.plan import check_data, check_device

    pending = missing(plan, store)
    check_data(pending)
    check_device(pending)
    with RunDisplay(plan, store, console or Console(stderr=True, soft_wrap=True, emoji=False)) as display:
        return run_plan(plan, store, jobs, display)


def complete(targets: Iterable[Step], store: Store, jobs: int | None = None) -> None:
    """Compute steps, and all that they need, unless the store has them.

    Raises:
        StepError: a step failed; says which, and why.
        StudyError, InputError, StoreError: as `run`.
    """
    from babelscope.steps.plan import Plan

    plan = Plan.of(targets)
    require_success(plan, run(plan, store, jobs))


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
