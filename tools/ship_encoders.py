"""Run `world-encoders` and put its encoders into the package: `make encoders`."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from babelscope.encoders.places import SHIPPED
from babelscope.engine.store import Store
from babelscope.steps import Pretrain
from babelscope.studies import find_study
from babelscope.study.compile import compile_study


def main() -> None:
    """Pre-train what the store lacks, then copy the encoders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, required=True)
    store = parser.parse_args().store
    run = [sys.executable, "-m", "babelscope", "run", "world-encoders@scratch", "--store", str(store)]
    subprocess.run(run, check=True)
    for step in compile_study(find_study("world-encoders@scratch", {})).steps.values():
        if isinstance(step, Pretrain):
            shutil.rmtree(SHIPPED / step.name, ignore_errors=True)
            shutil.copytree(Store(store).result(step.key) / "encoder", SHIPPED / step.name)
            print(f"{step.name}: {SHIPPED / step.name}")


if __name__ == "__main__":
    main()
