"""What there is to choose from, for `babelscope list`, and how far the built-in studies are.

Every list is a table of the package, so that what a plug-in registers is listed too. Tables are imported when one is
asked for: the command's help names the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from babelscope.core.errors import InputError

if TYPE_CHECKING:
    from babelscope.engine.store import Store

Table = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]


def catalogue(kind: str) -> Table:
    """Header and lines of one list; an unknown kind is an `InputError`."""
    from babelscope.core.registry import import_plugins

    if kind not in KINDS:
        raise InputError(f"nothing to list by the name of {kind!r}; there are {', '.join(KINDS)}")
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
    from babelscope.core.tasks import BASELINES, HEADS, TASKS

    lines = [
        (
            name,
            info.title,
            ", ".join(info.measures),
            ", ".join(BASELINES[info.kind]),
            ", ".join(HEADS.get(info.kind, ())),
        )
        for name, info in TASKS.items()
    ]
    return ("task", "what it is", "scored by", "baselines", "heads"), lines


def _surgeries() -> Table:
    from babelscope.surgery.declare import OPERATIONS, usage

    lines = [(name, usage(kind), (kind.__doc__ or "").partition("\n")[0]) for name, kind in OPERATIONS.items()]
    return ("operation", "arguments", "what it does"), lines


def _measures() -> Table:
    return ("measure", "what it is"), [
        ("accuracy", "share of words, or of texts, with the gold label"),
        ("f1, precision, recall", "of named entities, by whole spans; f1 of sentence tasks: of class 1"),
        ("las, uas", "share of words with the gold head (and relation); .nopunct: without PUNCT and SYM"),
        ("matthews, pearson, spearman", "correlations of predictions with gold labels or numbers"),
        ("perplexity", "exp of the mean loss on fixed masked tokens"),
        ("retrieval", "share of sentences whose nearest neighbour by cosine is their translation, layer by layer"),
        ("mutual retrieval", "share of sentences and translations that are each other's nearest, likewise"),
        (
            "linear CKA, RBF CKA",
            "how similar the states of parallel sentences are in two languages, layer by layer; (biased), (debiased)",
        ),
        ("coverage, unknown", "share of words that were scored; that hold a token unknown to the tokenizer"),
    ]


def _languages() -> Table:
    from babelscope.world import FAMILY

    lines = [
        (f"world:{code}", member.language.script, member.role, "seen" if member.seen else "unseen")
        for code, member in FAMILY.items()
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
    from babelscope.encoders.places import SHIPPED, shipped_encoders

    sizes = {name: sum(file.stat().st_size for file in (SHIPPED / name).iterdir()) for name in shipped_encoders()}
    return ("encoder", ""), [
        *((name, f"{size / 1e6:.1f} MB, shipped with the package") for name, size in sizes.items()),
        ("FOLDER", "a Hugging Face folder"),
        ("OWNER/NAME", "an encoder on the Hugging Face hub"),
    ]


KINDS: dict[str, Callable[[], Table]] = {
    "studies": _studies, "tasks": _tasks, "surgeries": _surgeries, "measures": _measures, "languages": _languages,
    "encoders": _encoders, "treebanks": _treebanks,
}  # fmt: skip


def study_states(store: Store) -> Sequence[tuple[str, ...]]:
    """Name, steps done and steps of every built-in study, in the profile that needs no download."""
    from babelscope.studies import STUDIES, find_study
    from babelscope.study.compile import compile_study

    lines: list[tuple[str, ...]] = []
    for name in STUDIES:
        try:
            plan = compile_study(find_study(name, {}))
        except InputError:  # it needs data or an encoder that are not on this machine
            lines.append((name, "", f"cannot be planned here; babelscope plan {name} says why"))
        else:
            lines.append((name, str(sum(map(store.has, plan.steps))), str(len(plan.steps))))
    return lines
