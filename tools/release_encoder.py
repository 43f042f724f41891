"""Build the encoder of the studies on real languages, and pack it for a release: one file of weights, and its card.

    python tools/release_encoder.py --store STORE FOLDER

What is in the store already is not built again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from babelscope.core.errors import BabelscopeError
from babelscope.encoders.folder import CARD
from babelscope.engine.store import Store
from babelscope.face import session
from babelscope.face.packed import write_packed
from babelscope.steps import Distil
from babelscope.steps.plan import Plan
from babelscope.studies import find_study
from babelscope.study.compile import compile_study


def main() -> int:
    """Exit status 1 if it cannot be built."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("babelscope-store"))
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    store = Store(given.store)
    steps = compile_study(find_study("first-look@real", {})).steps.values()
    encoder = next(step for step in steps if isinstance(step, Distil))
    try:
        outcome = session.run(Plan.of([encoder]), store)
        if outcome.failed:
            return 1
        given.folder.mkdir(parents=True, exist_ok=True)
        name = encoder.labels["encoder"]
        built = store.result(encoder.key) / "encoder"
        print(write_packed(str(built), given.folder / f"{name}.safetensors"))
        shutil.copyfile(built / CARD, given.folder / f"{name}.md")
    except BabelscopeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
