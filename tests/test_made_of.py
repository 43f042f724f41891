"""Results of two machines, whose trainings differ in their last digits: what was computed from one stays with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from babelscope.core.errors import DamagedResult
from babelscope.engine.made_of import MADE_OF, bits_of
from babelscope.engine.manifest import MANIFEST, replace_manifest
from babelscope.engine.sharing.exchange import copy
from babelscope.engine.sharing.places import store_at
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from command_line import babelscope
from dropped import run, tuned
from toy_steps import runs


@pytest.fixture
def plans(outside: Path) -> tuple[Plan, Plan, str, str]:
    """A study, the same with another step, and the keys of what is read and of who reads it."""
    plan, heavy = tuned(outside, "a")
    more, _ = tuned(outside, "a", "later")
    (reader,) = plan.steps.keys() - {heavy.key}
    return plan, more, heavy.key, reader


def elsewhere(outside: Path) -> None:
    """From now on it is another machine."""
    (outside / "elsewhere").touch()


def value_of(store: Store, key: str) -> float:
    return store.rows(key)[0].value


def damage(store: Store, key: str) -> Store:
    """The store as another process opens it, with a file of a result that has changed."""
    path = store.place_of(key) / "value"
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]))
    return Store(store.folder)


@pytest.mark.parametrize("dropped", [True, False], ids=["dropped", "damaged"])
def test_what_was_computed_from_other_bits_is_computed_again(plans, store: Store, outside: Path, dropped: bool) -> None:
    """A row of scores was of two models."""
    plan, more, heavy, reader = plans
    run(plan, store, drop=dropped)
    before = value_of(store, reader)
    if not dropped:
        store = damage(store, heavy)
    elsewhere(outside)
    assert not run(more, store, drop=dropped).failed
    assert (runs(outside)["heavy"], runs(outside)["a"]) == (2, 2)
    assert value_of(store, reader) == pytest.approx(before + 1e-9 / 7, abs=1e-12) != before
    assert len(list((store.folder / "damaged").iterdir())) == 2 - dropped  # nothing is lost
    again = run(more, store, drop=dropped)
    assert not again.computed and not store.damaged(more.steps, again=True)


def test_of_the_same_bits_nothing_is_computed_again(plans, store: Store, outside: Path) -> None:
    plan, more, heavy, _ = plans
    run(plan, store, drop=False)
    run(more, damage(store, heavy), drop=False)
    assert (runs(outside)["heavy"], runs(outside)["a"]) == (2, 1)


@pytest.mark.parametrize("which", ["reader", "heavy"])
def test_results_of_two_stores_are_not_read_together(plans, store: Store, outside: Path, tmp_path: Path, which) -> None:
    """A store that had one of them, and got the other from another machine's."""
    plan, _, heavy, reader = plans
    other = Store(tmp_path / "other")
    run(plan, store, drop=False)
    elsewhere(outside)
    run(plan, other, drop=False)
    gone, kept = (reader, heavy) if which == "reader" else (heavy, reader)
    right = value_of(store, reader), value_of(other, reader)
    shutil.rmtree(store.place_of(gone))
    copy([gone], other, store)
    with pytest.raises(DamagedResult, match=f"was computed from other bits of result {heavy[:12]} than are there now"):
        Store(store.folder).rows(reader)
    with pytest.raises(DamagedResult):
        Store(store.folder).result(reader)
    assert Store(store.folder).rows(heavy)
    assert len(run(plan, Store(store.folder), drop=False).computed) == 1
    assert value_of(Store(store.folder), reader) == right[which == "heavy"]  # of the bits that are there
    assert Store(store.folder).has(kept)


def test_a_copy_to_where_other_bits_are_shared_says_what_does_not_fit(plans, store, outside, tmp_path, address) -> None:
    """Nothing was said until somebody asked for rows, which a remote store then refused."""
    plan, _, heavy, reader = plans
    other = Store(tmp_path / "other")
    run(plan, store, drop=False)
    elsewhere(outside)
    run(plan, other, drop=False)
    copy([heavy], other, store_at(address))
    for _ in range(2):  # what was there before is looked at, too
        answer = babelscope("store", "push", address, "--store", store.folder)
        assert (answer.status, answer.output) == (1, "0 results copied, 1 were there, 1 damaged\n")
        assert f"{reader}: was computed from other bits of result {heavy[:12]}" in answer.errors
        assert f"damaged {address}/results/" in answer.errors
    assert run(plan, store_at(address), drop=False).computed == (reader,)
    assert babelscope("store", "push", address, "--store", store.folder).status == 0


def test_a_result_that_does_not_say_what_it_was_made_of_is_believed(plans, store: Store, outside: Path) -> None:
    """Those that were published before."""
    plan, more, heavy, reader = plans
    run(plan, store, drop=False)
    manifest = store.manifest(reader)
    assert manifest[MADE_OF] == {heavy: bits_of(store.manifest(heavy))}
    del manifest[MADE_OF]
    replace_manifest(store.place_of(reader), manifest)
    assert MADE_OF not in json.loads((store.place_of(reader) / MANIFEST).read_text())
    elsewhere(outside)
    run(more, damage(store, heavy), drop=False)
    assert runs(outside)["a"] == 1 and Store(store.folder).rows(reader)


@pytest.mark.parametrize("how", ["removed", "changed"])
def test_weights_that_somebody_finds_damaged_are_computed_again_by_the_next_run(
    plans, store: Store, outside: Path, how: str
) -> None:
    """It read rows alone, so that the advice to run again did not help."""
    plan, _, heavy, _ = plans
    run(plan, store, drop=False)
    if how == "removed":
        (store.place_of(heavy) / "value").unlink()
    other = damage(store, heavy) if how == "changed" else Store(store.folder)
    assert not run(plan, other, drop=False).computed  # nothing reads them
    with pytest.raises(DamagedResult, match="run the study again"):
        other.result(heavy)
    for _ in range(2):  # whoever looks before the run takes nothing from it
        assert set(Store(store.folder).damaged(plan.steps)) == {heavy}
    assert run(plan, Store(store.folder), drop=False).computed == (heavy,)
    assert not run(plan, Store(store.folder), drop=False).computed
    Store(store.folder).check(heavy)
    assert runs(outside) == {"heavy": 2, "a": 1}
