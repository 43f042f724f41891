"""How long commands take on large studies: `plan`, `status`, `rows`, `run` with nothing to do, and `--help`.

    python benchmarks/growth.py --steps 20000 --before ../older/src

makes a store with trivial results of a study of so many steps (a seed has 100), and runs every command on
it, with this version and with the one whose sources are in the folder `--before`. Times are of the processor, in this
process's children, since the commands do one thing at a time; the first `run` verifies all rows, the second none. Of
three runs the fastest counts. A store that is kept (`--store`) is filled once.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from babelscope.core.hashing import digest, file_digest
from babelscope.core.row import Row, as_record
from babelscope.core.yaml import to_yaml
from babelscope.engine.environment import processor
from babelscope.engine.made_of import MADE_OF, bits_of
from babelscope.engine.recall import describe
from babelscope.engine.store import Store
from babelscope.face.job import job_of
from babelscope.world import LANGUAGES as WORLD

STEPS_PER_SEED = 100
LANGUAGES = [f"world:{code}" for code in list(WORLD)[:9]]
SURGERIES = [None, "reinit", *(f"noise:share={share / 100}" for share in range(1, 9))]
OURS = Path(__file__).parents[1] / "src"
ROWS = [Row(measure, 0.5, "share", low=0.4, high=0.6, task="pos", seed=1) for measure in ("accuracy", "F1")]


def declare(study: Path, seeds: int) -> None:
    """Write a study: tunings and their scores in nine languages, for ten surgeries."""
    sizes = {"train": 100, "dev": 50, "test": 50}
    task = {"train": LANGUAGES[:1], "evaluate": LANGUAGES, "sizes": sizes}
    declared = {"name": "large", "encoders": ["world-natural"], "surgeries": SURGERIES, "tasks": {"pos": task}}
    study.write_text(to_yaml({**declared, "seeds": list(range(seeds))}))


def fill(folder: Path, study: Path) -> int:
    """Write results as `Store.publish` does, but for flushing each of them to the disk; gives their number."""
    job = job_of(str(study), [], folder)
    Store(folder).prepare()
    rows = "".join(json.dumps(as_record(row)) + "\n" for row in ROWS)
    for key in job.plan.steps.keys() - job.store.published(job.plan.steps):
        result = folder / "results" / key[:2] / key
        result.mkdir(parents=True)
        (result / "rows.jsonl").write_text(rows)
        files = {"rows.jsonl": {"sha256": file_digest(result / "rows.jsonl"), "bytes": len(rows)}}
        made_of = {needed.key: bits_of({"files": files}) for needed in job.plan.steps[key].inputs}
        made = {
            MADE_OF: made_of,
            "finished": "2026-01-01T00:00:00+00:00",
            "versions": {},
            "platform": platform.platform(),
        }
        manifest = {"key": key, **describe(job.plan.steps[key]), "seconds": 0.5, "files": files, **made}
        (result / "manifest.json").write_text(json.dumps({**manifest, "digest": digest(manifest)}, indent=1))
    return len(job.plan.steps)


def seconds(sources: Path, command: list[str]) -> float:
    """Seconds of the processor that a command takes."""
    program = "from babelscope.face.cli import main; main()"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(sources.resolve())}
    subprocess.run([sys.executable, "-c", program, *command], env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(store: Path, declared: Path) -> dict[str, list[str]]:
    """What is measured, in this order."""
    study = [str(declared), "--store", str(store)]
    return {
        "--help": ["--help"],
        "status": ["status", *study],
        "plan": ["plan", *study],
        "rows": ["rows", *study, "-o", str(store.parent / "rows.csv")],
        "run": ["run", *study],
        "run again": ["run", *study],
    }


def measure(sources: Path, store: Path, study: Path, times: int) -> dict[str, float]:
    """By command, the seconds of the fastest of several runs."""
    taken: dict[str, list[float]] = {}
    for _ in range(times):
        (store / "babelscope-index.json").unlink(missing_ok=True)
        for name, command in commands(store, study).items():
            taken.setdefault(name, []).append(seconds(sources, command))
    return {name: min(each) for name, each in taken.items()}


def main() -> None:
    """Print the times, and how many times as fast the commands have become."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--before", type=Path, help="the sources of another version")
    parser.add_argument("--store", type=Path, help="a folder for the store, which is kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store, study = (given.store or Path(folder) / "store").resolve(), Path(folder) / "study.yaml"
        declare(study, given.steps // STEPS_PER_SEED)
        print(f"{fill(store, study):,} steps, {processor()}, Python {platform.python_version()}")
        after = measure(OURS, store, study, given.times)
        before = measure(given.before, store, study, given.times) if given.before else {}
    for name, now in after.items():
        then = f"{before[name]:6.2f} s before, {before[name] / now:5.1f} times as fast" if before else ""
        print(f"{name:10} {now:6.2f} s  {then}")


if __name__ == "__main__":
    main()
