"""What there is to choose from, for `babelscope list`, and how far the built-in studies are.

Every list is a table of the package, so that what a plug-in registers is listed too. Tables are imported when one is
asked for: the command's help names the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from babelscope.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from babelscope.core.grammar import Fields
    from babelscope.core.registry import Registered
    from babelscope.engine.store import Store

Table = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]


def catalogue(kind: str) -> Table:
    """Header and lines of one list; an unknown kind is an `InputError`."""
    from babelscope.core.registry import import_plugins

    if kind not in KINDS:
        near = did_you_mean(kind, KINDS)
        raise InputError(f"nothing to list by the name of {kind!r}{near}; there are {', '.join(KINDS)}")
    import_plugins()
    return KINDS[kind]()


def _studies() -> Table:
    from babelscope.studies import STUDIES

    lines = []
    for name, study in STUDIES.items():
        parameters = (key if default is None else f"{key}={default}" for key, default in study.parameters.items())
        lines.append((name, ", ".join(study.profiles), ", ".join(parameters), study.question))
    return ("study", "profiles", "parameters", "what it asks"), lines


def _tasks() -> Table:
    from babelscope.core.tasks import TASKS
    from babelscope.tasks.kinds import TaskKind, kind_of

    lines = [
        (
            name,
            info.title,
            ", ".join(info.measures),
            ", ".join(kind_of(info).baselines),
            ", ".join(kind_of(info).heads),
        )
        for name, info in TASKS.items()
    ]
    built_in = {info.kind for info in TASKS.values()}
    for kind, known in sorted(TaskKind.kinds.items()):
        if "label" in known.options:
            lines.append((kind, "a task of your own, declared with the key label", "", "", ""))
        elif kind not in built_in:
            lines.append((kind, "a task of your own", "", "", ""))
    return ("task", "what it is", "scored by", "baselines", "heads"), lines


def _surgeries() -> Table:
    from babelscope.surgery import Operation

    return ("operation", "arguments", "what it does"), _kinds(Operation)


def _schedules() -> Table:
    from babelscope.tuning.schedule import schedule_arguments
    from babelscope.tuning.strategy import Strategy

    return ("schedule", "arguments", "what is trained"), _kinds(Strategy, schedule_arguments)


def _kinds(family: type[Registered], arguments: Callable[..., Fields] | None = None) -> list[tuple[str, ...]]:
    """Name, arguments and the first line about each kind of a family."""
    from babelscope.core.grammar import arguments_of, usage

    listed = arguments or arguments_of
    return [(name, usage(listed(kind)), _first_line(kind)) for name, kind in family.all_kinds().items()]


def _first_line(described: object) -> str:
    return (described.__doc__ or "").partition("\n")[0]


def _measures() -> Table:
    from babelscope.core.scores import MEASURES
    from babelscope.measures import Measure
    from babelscope.measures.similarities import SIMILARITIES

    scores = [(name, "score", score.about) for name, score in MEASURES.items()]
    measures = [(name, "measure", _first_line(kind)) for name, kind in Measure.kinds.items()]
    similarities = [(name, "similarity", similarity.meaning) for name, similarity in SIMILARITIES.items()]
    return ("name", "kind", "what it is"), [*scores, *measures, *similarities]


def _languages() -> Table:
    from babelscope.world import LANGUAGES

    lines = [
        (f"world:{code}", member.language.script, member.role, "seen" if member.seen else "unseen")
        for code, member in LANGUAGES.items()
    ]
    return ("treebank", "script", "relation to the source", "by the shipped encoders"), lines


def _treebanks() -> Table:
    from babelscope.corpora.sources import available_treebanks

    lines = [
        (treebank.name, treebank.language.name, ", ".join(treebank.splits), treebank.source)
        for treebank in available_treebanks()
    ]
    return ("treebank", "language", "splits", "from"), [*lines, ("UD_...", "any other", "", "the Hugging Face hub")]


def _encoders() -> Table:
    from babelscope.encoders.places import PACKAGED, SHIPPED, SHORT, shipped_encoders

    sizes = {name: sum(file.stat().st_size for file in (SHIPPED / name).iterdir()) for name in shipped_encoders()}
    return ("encoder", ""), [
        *((name, f"{size / 1e6:.1f} MB, shipped with the package") for name, size in sizes.items()),
        *((name, "English, in the package of the extra `english`") for name in PACKAGED),
        *((name, f"{full}, on the Hugging Face hub") for name, full in SHORT.items()),
        ("FOLDER", "a Hugging Face folder"),
        ("OWNER/NAME", "an encoder on the Hugging Face hub"),
    ]


def _sources() -> Table:
    from babelscope.corpora.data_sources import DataSource

    return ("source of data sets", "what they are"), [
        (name, _first_line(kind)) for name, kind in DataSource.all_kinds().items()
    ]


KINDS: dict[str, Callable[[], Table]] = {
    "studies": _studies, "tasks": _tasks, "surgeries": _surgeries, "schedules": _schedules, "measures": _measures,
    "languages": _languages, "encoders": _encoders, "treebanks": _treebanks, "sources": _sources,
}  # fmt: skip


def study_states(store: Store) -> Sequence[tuple[str, ...]]:
    """Name, steps done and steps of every built-in study, in the profile that needs no download."""
    from babelscope.studies import DEFAULT_PROFILE, STUDIES, find_study
    from babelscope.study.compile import compile_study

    lines: list[tuple[str, ...]] = []
    for name, study in STUDIES.items():
        if study.profiles and study.default != DEFAULT_PROFILE:
            lines.append((name, "", f"has no profile {DEFAULT_PROFILE}; babelscope status {name} says how far it is"))
            continue
        try:
            plan = compile_study(find_study(name, {}))
        except InputError:  # it needs data or an encoder that are not on this machine
            lines.append((name, "", f"cannot be planned here; babelscope plan {name} says why"))
        else:
            lines.append((name, str(sum(map(store.has, plan.steps))), str(len(plan.steps))))
    return lines
