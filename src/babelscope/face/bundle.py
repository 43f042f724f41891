"""A study's results in one file, for another lab to check, and the check: a sample of its steps, computed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

from babelscope.core.errors import EncoderError, InputError, did_you_mean
from babelscope.core.outside import given_path
from babelscope.core.step import Step
from babelscope.core.validation import validate
from babelscope.encoders.folder import encoder_digest
from babelscope.encoders.places import installed_folder
from babelscope.engine.environment import this_environment
from babelscope.engine.manifest import versions
from babelscope.engine.sharing.apart import Apart, apart
from babelscope.engine.sharing.archive import Kept, pack, unpacked
from babelscope.engine.store import Store
from babelscope.face import session
from babelscope.face.job import Job
from babelscope.face.result import Result
from babelscope.steps import Load
from babelscope.steps.plan import Plan, declared
from babelscope.study.declare import Study

if TYPE_CHECKING:
    from rich.console import Console

DIGEST = 64
"""Letters of a folder's digest; a commit of the hub has 40."""


class Reproduced(NamedTuple):
    """What came of computing steps of a bundle again."""

    steps: dict[str, Step]
    """Those that both have, by key."""
    apart: dict[str, Apart]
    """How far the bundle's results and those of here are apart."""
    failed: dict[str, str]
    """Step -> why."""
    differences: tuple[str, ...]
    """In what this machine differs from those of the bundle."""


def write_bundle(job: Job, file: Path) -> Path:
    """Write what a store has of a study into one file: declaration, plan, rows, manifests, environments.

    Raises:
        InputError: the store has nothing of the study, or the file cannot be written.
        DamagedResult: a result is not as it was published.
    """
    if not file.name.endswith(session.BUNDLE):
        name = file.stem.removesuffix(".tar") + session.BUNDLE
        raise InputError(f"{file}: other commands know a bundle by its name; call it {name}")
    job.rows()  # refuses where there are none
    about = {"name": job.study.name, "with": list(job.changes), "study": job.study.model_dump(mode="json")}
    return pack(about, job.plan, job.store, file)


def read_bundle(path: str | Path) -> Result:
    """What a study has found, by its bundle: rows and a report, which need neither data nor encoders.

    Raises:
        InputError: it is no bundle of a study, or is not as it was written.
        StudyError: another version of Babelscope has written it, which had other keys.
    """
    with ExitStack() as unpacking:
        found = Result(unpacking.enter_context(job_in(given_path(path))))
        finalize(found, unpacking.pop_all().close)  # which its report reads until then
    return found


@contextmanager
def job_in(file: Path) -> Iterator[Job]:
    """The study of a bundle, with its plan, and its results until the end. Raises as `read_bundle` does."""
    with unpacked(file) as kept:
        yield job_of_kept(kept, file)


def job_of_kept(kept: Kept, file: Path) -> Job:
    """The study of what an archive holds. Raises as `read_bundle` does."""
    match kept.about:
        case {"study": declared, "with": list(changes)}:
            return Job(validate(Study, declared, str(file)), kept.plan, kept.store, tuple(map(str, changes)))
    raise InputError(f"{file}: does not hold a study, but {', '.join(kept.about) or 'nothing'}")


def reproduce(
    file: Path, store: Store, count: int, seed: int, encoders: Mapping[str, Path], console: Console | None = None
) -> Reproduced:
    """Compute a random sample of a bundle's steps, and all that they need, in a store, and compare.

    Args:
        file: that `write_bundle` has written.
        store: without the bundle's own results; what an earlier call has computed there is not computed again.
        count: of steps to draw; what they need comes on top.
        seed: of the draw.
        encoders: folders of the user's own, by the names that the study has for them.
        console: for progress.

    Raises:
        InputError: there is no such bundle, an encoder or data are not here, or the store has the bundle's own results.
    """
    with unpacked(file, encoders) as kept:
        done = kept.store.published(kept.plan.steps)
        targets = [step for key, step in kept.plan.steps.items() if key in done and not step.timed]
        if not targets:
            raise InputError(f"{file}: has no results to compute again; have it written when the study has run")
        plan = Plan.of(Random(seed).sample(targets, min(count, len(targets))))  # noqa: S311
        _check_encoders(plan, kept.plan, encoders)
        _check_store(plan, kept, store)
        outcome = session.run(plan, store, console=console)
        both = store.published(done.intersection(plan.steps))
        steps = {key: step for key, step in plan.steps.items() if key in both and not step.timed}
        failed = {plan.steps[key].title: message for key, message in outcome.failed.items()}
        differences = tuple(_differences(kept.store, steps))
        return Reproduced(steps, {key: apart(key, kept.store, store) for key in steps}, failed, differences)


def _check_encoders(plan: Plan, whole: Plan, encoders: Mapping[str, Path]) -> None:
    """Refuse a plan that needs an encoder from a folder that is not known here, or is another one.

    So are names that no encoder of the whole plan has.
    """
    known = sorted(_loads(whole))
    if unknown := encoders.keys() - set(known):
        name = min(unknown)
        raise InputError(
            f"--encoder {name}=...: the bundle has {', '.join(known) or 'none'}{did_you_mean(name, known)}"
        )
    for load in _loads(plan).values():
        folder = Path(load.place) if load.name in encoders else installed_folder(load.name) or Path(load.place)
        if folder.is_dir() and encoder_digest(folder) != load.content:
            raise EncoderError(f"{folder}: not the encoder {load.name} of the bundle: its files have another digest")
        if not folder.is_dir() and len(load.content) == DIGEST:
            raise EncoderError(f"the encoder {load.name} is not here: give its folder, --encoder {load.name}=FOLDER")


def _loads(plan: Plan) -> dict[str, Load]:
    """The encoders that a plan reads, by name."""
    return {value.name: value for value in declared(plan.steps.values()) if isinstance(value, Load)}


def _check_store(plan: Plan, kept: Kept, store: Store) -> None:
    """Refuse a store that has a result which the bundle was made from: it would be compared with itself."""
    for key in store.published(plan.steps) & kept.store.published(plan.steps):
        ours, theirs = store.manifest(key), kept.store.manifest(key)
        if all(ours[name] == theirs[name] for name in ("finished", "seconds")):
            raise InputError(f"{store.address}: has the very results of the bundle: give an empty --store")


def _differences(store: Store, keys: Iterable[str]) -> Iterator[str]:
    """In what this process differs from those that computed results, each once."""
    manifests = [store.manifest(key) for key in keys]
    here: dict[str, Any] = versions()
    for name in here:
        yield from _other(name, {manifest["versions"].get(name, "unknown") for manifest in manifests}, here[name])
    for part in ("git", "processor", "GPUs"):
        known = [kept for manifest in manifests if (kept := store.environment(manifest))]
        yield from _other(part, {_in_words(kept[part]) for kept in known}, _in_words(this_environment()[part]))


def _other(name: str, theirs: set[str], ours: str) -> Iterator[str]:
    yield from (f"{name}: {value} in the bundle, {ours} here" for value in sorted(theirs - {ours}))


def _in_words(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(_in_words, value)) or "none"
    return ", ".join(f"{name} {part}" for name, part in value.items()) if value else "unknown"


def table(reproduced: Reproduced) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and lines: a step each."""
    lines = [_line(reproduced.steps[key], result) for key, result in reproduced.apart.items()]
    return ("files", "rows", "largest difference", "step"), lines


def _line(step: Step, result: Apart) -> tuple[str, ...]:
    files = "equal" if result.is_equal else f"{len(result.other_files)} differ"
    if not result.are_comparable:
        return files, str(result.rows), "rows of other things", step.title
    where = f" ({result.largest.measure} {result.largest.value:.6g})" if result.largest else ""
    return files, str(result.rows), f"{result.difference:.3g}{where}", step.title


def encoders_of(given: Sequence[str]) -> dict[str, Path]:
    """Folders by names, from NAME=FOLDER.

    Raises:
        InputError: not so, or there is no such folder.
    """
    pairs = [text.partition("=") for text in given]
    for text, (name, _, folder) in zip(given, pairs, strict=True):
        if not (name and folder and given_path(folder).is_dir()):
            raise InputError(f"--encoder {text}: expected NAME=FOLDER, with the folder that the encoder is in")
        if [other for other, _, _ in pairs].count(name) > 1:
            raise InputError(f"--encoder {text}: {name} is given twice; give one folder for it")
    return {name: given_path(folder).absolute() for name, _, folder in pairs}
