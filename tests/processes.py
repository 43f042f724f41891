"""The same program in several processes, for tests of what no process may decide."""

from __future__ import annotations

import os
import subprocess
import sys


def outputs_of(program: str, count: int) -> set[str]:
    """What it prints, with another order of hashes in each, the first without parallel tokenizers."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed), "TOKENIZERS_PARALLELISM": "true" if seed else "false"},
        )
        for seed in range(count)
    ]
    return {process.communicate(timeout=120)[0].strip() for process in processes}
