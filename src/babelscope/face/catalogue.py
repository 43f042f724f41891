"""What there is to choose from, for `babelscope list`, and what the store holds of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from babelscope.core.errors import InputError
from babelscope.core.grammar import Fields, arguments_of, usage
from babelscope.core.registry import Registered, import_plugins
from babelscope.core.tasks import TASKS
from babelscope.corpora.sources import available_treebanks
from babelscope.encoders.places import SHIPPED, shipped_encoders
from babelscope.engine.store import Store
from babelscope.measures import Measure
from babelscope.measures.similarities import SIMILARITIES
from babelscope.studies import STUDIES, find_study
from babelscope.study.compile import compile_study
from babelscope.surgery import Operation
from babelscope.tasks.kinds import kind_of
from babelscope.tuning.schedule import schedule_arguments
from babelscope.tuning.strategy import Strategy
from babelscope.world import LANGUAGES

Table = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]


def catalogue(kind: str) -> Table:
    """Header and lines of one list; an unknown kind is an `InputError`."""
    if kind not in KINDS:
        raise InputError(f"nothing to list by the name of {kind!r}; there are {', '.join(KINDS)}")
    return KINDS[kind]()


def _studies() -> Table:
    lines = []
    for name, module in STUDIES.items():
        fields = module.Parameters.model_fields.items()
        parameters = ", ".join(key if field.default is None else f"{key}={field.default}" for key, field in fields)
        question = (module.__doc__ or "").split(": ", 1)[-1].partition("\n\n")[0].strip()
        lines.append((name, ", ".join(module.PROFILES), parameters, question))
    return ("study", "profiles", "parameters", "what it asks"), lines


def _tasks() -> Table:
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
    return ("task", "what it is", "scored by", "baselines", "heads"), lines


def _surgeries() -> Table:
    return ("operation", "arguments", "what it does"), _kinds(Operation)


def _schedules() -> Table:
    return ("schedule", "arguments", "what is trained"), _kinds(Strategy, schedule_arguments)


def _kinds(family: type[Registered], arguments: Callable[..., Fields] = arguments_of) -> list[tuple[str, ...]]:
    """Name, arguments and the first line about each kind of a family."""
    return [
        (name, usage(arguments(kind)), (kind.__doc__ or "").partition("\n")[0])
        for name, kind in family.all_kinds().items()
    ]


def _measures() -> Table:
    import_plugins()
    scores = [
        ("accuracy", "score", "share of words, or of texts, with the gold label"),
        ("f1, precision, recall", "score", "of named entities, by whole spans; f1 of sentence tasks: of class 1"),
        ("las, uas", "score", "share of words with the gold head (and relation); .nopunct: without PUNCT and SYM"),
        ("matthews, pearson, spearman", "score", "correlations of predictions with gold labels or numbers"),
        ("perplexity", "score", "exp of the mean loss on fixed masked tokens"),
        ("coverage, unknown", "score", "share of words that were scored; that hold a token unknown to the tokenizer"),
    ]
    measures = [(name, "measure", (kind.__doc__ or "").partition("\n")[0]) for name, kind in Measure.kinds.items()]
    similarities = [(name, "similarity", one.meaning) for name, one in SIMILARITIES.items()]
    return ("name", "kind", "what it is"), [*scores, *measures, *similarities]


def _languages() -> Table:
    lines = [
        (f"world:{code}", member.language.script, member.role, "seen" if member.seen else "unseen")
        for code, member in LANGUAGES.items()
    ]
    return ("treebank", "script", "relation to the source", "by the shipped encoders"), lines


def _treebanks() -> Table:
    lines = [(one.name, one.language.name, ", ".join(one.splits), one.source) for one in available_treebanks()]
    return ("treebank", "language", "splits", "from"), [*lines, ("UD_...", "any other", "", "the Hugging Face hub")]


def _encoders() -> Table:
    lines = [
        (name, f"{sum(f.stat().st_size for f in (SHIPPED / name).iterdir()) / 1e6:.1f} MB, shipped with the package")
        for name in shipped_encoders()
    ]
    return ("encoder", ""), [
        *lines,
        ("FOLDER", "a Hugging Face folder"),
        ("OWNER/NAME", "an encoder on the Hugging Face hub"),
    ]


KINDS: dict[str, Callable[[], Table]] = {
    "studies": _studies, "tasks": _tasks, "surgeries": _surgeries, "schedules": _schedules, "measures": _measures,
    "languages": _languages, "encoders": _encoders, "treebanks": _treebanks,
}  # fmt: skip


def study_states(store: Store) -> Sequence[tuple[str, ...]]:
    """Name, steps done and steps of every built-in study, in the profile that needs no download."""
    lines: list[tuple[str, ...]] = []
    for name in STUDIES:
        plan = compile_study(find_study(name, {}))
        lines.append((name, str(sum(map(store.has, plan.steps))), str(len(plan.steps))))
    return lines
