"""What a manifest says of how a result was computed: with what, on what, and with how much energy."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from babelscope.core.hashing import digest
from babelscope.engine.environment import this_environment
from babelscope.engine.store import Store
from toy_runs import execute
from toy_steps import Toy


def test_manifests_name_what_a_result_was_computed_with_and_on(tmp_path: Path, outside: Path) -> None:
    store, step = Store(tmp_path / "a"), Toy(name="step", outside=str(outside))
    store.prepare()
    execute(step, store)
    manifest = store.manifest(step.key)
    assert manifest["environment"] == digest(this_environment())
    kept = store.environment(manifest)
    assert (
        kept == json.loads(json.dumps(this_environment()))
        and kept["packages"]["torch"] == manifest["versions"]["torch"]
    )
    assert kept["processor"]["model"] and kept["memory"] > 2**28 and {"python", "git", "GPUs"} <= kept.keys()
    (file,) = (store.folder / "environments").iterdir()
    for content in ("{}", "no JSON", ""):
        file.write_text(content)
        assert store.environment(manifest) is None
    assert store.environment({}) is None  # of a manifest from before


METER = """
class OfflineEmissionsTracker:
    def __init__(self, **settings):
        assert settings["tracking_mode"] == "process" and not settings["save_to_file"]
    def start(self):
        {start}
        self.began = True
    def stop(self):
        {stop}
"""
"""In place of codecarbon."""


@pytest.mark.parametrize(
    ("start", "stop", "energy"),
    [("pass", "self.final_emissions_data = type('Data', (), {'energy_consumed': 0.125 * self.began})", 0.125),
     ("pass", "pass", None), ("raise RuntimeError('no meter')", "raise AssertionError", None)],
)  # fmt: skip
def test_energy_is_in_the_manifest_where_it_can_be_measured(
    store: Store,
    outside: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    start: str,
    stop: str,
    energy: float | None,
) -> None:
    (tmp_path / "codecarbon.py").write_text(METER.replace("{start}", start).replace("{stop}", stop))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "codecarbon", raising=False)
    step = Toy(name="step", outside=str(outside))
    store.prepare()
    execute(step, store)
    assert store.manifest(step.key).get("energy") == energy
    del sys.modules["codecarbon"]


@pytest.mark.skipif(find_spec("codecarbon") is not None, reason="codecarbon is installed")
def test_without_a_meter_no_energy_is_told(store: Store, outside: Path) -> None:
    step = Toy(name="step", outside=str(outside))
    store.prepare()
    execute(step, store)
    assert "energy" not in store.manifest(step.key)
