"""Real processes that share a store without locks: they die, sleep, race, and meet a server that fails.

Short of `make machines`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import machines


@pytest.mark.parametrize("seed", [0, 3])
def test_machines_die_and_sleep(seed: int, tmp_path: Path) -> None:
    machines.disturbed(seed, tmp_path, f"file://{tmp_path / 'shared'}")


@pytest.mark.skipif(not (find_spec("moto") and find_spec("obstore")), reason="needs obstore, and moto with its server")
def test_two_runners_race_on_a_bucket_whose_server_fails(tmp_path: Path) -> None:
    """No step is computed twice, no object is there in part, and the rows are right."""
    assert machines.race(tmp_path, 2, 0.15, 1.0).total() > 5
