"""What a store holds of a study: its rows, how far it is, and where the numbers come from."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from babelscope.core.languages import language_name, script_of
from babelscope.core.row import Row
from babelscope.corpora.letters import split_name
from babelscope.engine.agenda import Agenda
from babelscope.engine.store import Store
from babelscope.steps import SENTENCES
from babelscope.steps.bring_in import names_by_alignment
from babelscope.steps.plan import Plan
from babelscope.world import LANGUAGES

if TYPE_CHECKING:
    from babelscope.core.samples import Counts, Outcomes


def study_rows(study: str, plan: Plan, store: Store) -> list[Row]:
    """All rows of the plan's steps, in the plan's order, with study, key and kind filled in.

    Of an unfinished step they are those that it has written so far. An alignment's rows are there once for each encoder
    of the study that it brings a language into, under that encoder's name.
    """
    made, published = names_by_alignment(plan.steps.values()), store.published(plan.steps)
    return [
        row.labelled(study=study, key=key, kind=step.kind_of(row), encoder=encoder)
        for key, step in plan.steps.items()
        for row in (store.rows(key) if key in published else store.rows_so_far(key, _kind(step)))
        for encoder in made.get(key, [row.encoder])
    ]


def sentence_outcomes(store: Store) -> Outcomes:
    """What the evaluations of a store kept of every sentence."""

    def outcomes(key: str) -> Counts:
        file = store.result(key) / SENTENCES if store.has(key) else None
        counts: Counts = json.loads(file.read_bytes()) if file and file.is_file() else {}
        return counts

    return outcomes


def language_labels(codes: Iterable[str | None]) -> dict[str, str]:
    """Display names of languages: `qab near (Latn)`, `German (Latn)`; the world's in the order of distance.

    Those in other letters say which, and come after the language itself.
    """
    order = {code: place for place, code in enumerate(LANGUAGES)}
    wanted = dict.fromkeys(code for code in codes if code)
    by_distance = sorted(wanted, key=lambda code: order.get(split_name(code)[0], len(order)))
    return {code: _language_label(*split_name(code)) for code in by_distance}


def _language_label(code: str, letters: str | None) -> str:
    if member := LANGUAGES.get(code):
        label = f"{code} {member.role} ({member.language.script})"
    else:
        name, script = language_name(code), script_of(code)
        label = f"{name} ({script})" if script and "(" not in name else name  # some names say it themselves
    rules, permuted, _ = (letters or "").partition("-permute-")
    return f"{label}, by {rules}{', permuted' if permuted else ''}" if rules else label


SECONDS = "seconds of computing, all steps together"
"""What `provenance` calls what a study cost."""


def provenance(plan: Plan, store: Store) -> dict[str, Any]:
    """Versions, machines and times, as the manifests of the plan's results record them.

    Steps run side by side, on several days perhaps: their seconds together say what the study cost, the first start
    and the last finish when it was made. A step that was interrupted counts as one stretch, up to its end.
    """
    published = store.published(plan.steps)
    manifests = [store.manifest(key) for key in plan.steps if key in published]
    versions = {f"{name} {version}" for manifest in manifests for name, version in manifest["versions"].items()}
    ends = [datetime.fromisoformat(manifest["finished"]) for manifest in manifests]
    starts = [end - timedelta(seconds=manifest["seconds"]) for end, manifest in zip(ends, manifests, strict=True)]
    return {
        "steps": _counted(plan, published),
        SECONDS: round(sum(manifest["seconds"] for manifest in manifests), 1),
        "versions": ", ".join(sorted(versions)),
        "machines": ", ".join(sorted({manifest["platform"] for manifest in manifests})),
        "first step started": min(starts).isoformat(timespec="seconds") if starts else "nothing yet",
        "last step finished": max(ends).isoformat(timespec="seconds") if ends else "nothing yet",
    }


def _counted(plan: Plan, published: Collection[str]) -> str:
    """`6 Tune, 18 Evaluate`; `2 of 6 Tune` where some are missing."""
    kinds = Counter(map(_kind, plan.steps.values()))
    done = Counter(_kind(step) for key, step in plan.steps.items() if key in published)
    return ", ".join(f"{'' if done[kind] == n else f'{done[kind]} of '}{n} {kind}" for kind, n in kinds.items())


def progress_by_kind(plan: Plan, store: Store) -> dict[str, Counter[str]]:
    """Kind of step -> how many are done, running, failed (its log says why) or pending."""
    states = states_of(plan, store)
    table = defaultdict[str, Counter[str]](Counter)
    for key, step in plan.steps.items():
        table[_kind(step)][states.get(key, "pending")] += 1
    return table


def states_of(plan: Plan, store: Store) -> dict[str, str]:
    """Key -> done, running or failed (its log says why), of steps that were begun."""
    states = dict.fromkeys(store.logs.left_by(plan.steps), "failed")
    states |= dict.fromkeys(store.running(plan.steps), "running")
    return states | dict.fromkeys(store.published(plan.steps), "done")


def computed_again(plan: Plan, store: Store, read: Iterable[str] = ()) -> set[str]:
    """The steps that are done and whose weights were dropped, which a step reads that is not; and those of `read`."""
    published = store.published(plan.steps)
    agenda = Agenda(plan, published.__contains__, lambda key: key in published and store.is_whole(key))
    for key in read:
        agenda.need(key, is_read=True)
    return agenda.unfinished & published


def is_running(plan: Plan, store: Store) -> bool:
    """Whether some process computes a step of the plan now."""
    return bool(store.running(plan.steps))


def _kind(step: object) -> str:
    return type(step).__name__
