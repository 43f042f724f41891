"""What a store that machines share can do without, and what never goes."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest

from babelscope.core.errors import StoreError
from babelscope.engine.sharing.garbage import garbage, remove
from babelscope.engine.sharing.remote import RemoteStore

KEY = "ab" * 32
Machine = Callable[[str], RemoteStore]


def prepared(store: RemoteStore) -> RemoteStore:
    store.prepare()
    return store


def published(store: RemoteStore, *keys: str) -> None:
    for key in keys:
        (store.draft(key) / "weights").write_text(f"of {key}")
        store.publish(key, {"step": "Toy"})


def test_of_a_shared_store_goes_what_belongs_to_no_result(machine: Machine) -> None:
    """Nothing of what is published, is being computed, or is a draft to go on from."""
    store, other = prepared(machine("first")), prepared(machine("second"))
    published(store, KEY)
    late, lost, draft = f"files/ab/{KEY}/{'0' * 64}", f"files/cd/{'cd' * 32}/{'1' * 64}", "ef" * 32
    old = f"drafts/{KEY}/checkpoint"
    for name in (late, lost, old, f"drafts/{draft}/checkpoint", f"files/12/{'12' * 32}/{'2' * 64}"):
        store.objects.write(name, b"12345")
    before = store.objects.sizes()
    with other.claim("12" * 32):
        pieces = garbage(store)
        assert {piece.name for piece in pieces} == {late, lost, old}
        assert remove(pieces, store) == 15
        left = {name for name in store.objects.sizes() if not name.startswith("claims/")}
    assert left == before.keys() - {late, lost, old}
    machine("third").check(KEY)


def test_what_was_published_after_the_garbage_was_looked_for_stays(machine: Machine) -> None:
    store, other = prepared(machine("first")), prepared(machine("second"))
    content = f"of {KEY}".encode()
    store.objects.write(f"files/ab/{KEY}/{sha256(content).hexdigest()}", content)
    pieces = garbage(store)
    assert [piece.size for piece in pieces] == [len(content)]
    published(other, KEY)
    assert remove(pieces, store) == 0
    machine("third").check(KEY)


def test_results_go_that_no_machine_needs(machine: Machine) -> None:
    """A plan that was begun on another machine keeps what it needs, and so does a claim."""
    store, other = prepared(machine("first")), prepared(machine("second"))
    needed, kept, going = (digit * 64 for digit in "123")
    published(store, needed, kept, going)
    other.plans.note([needed, "4" * 64])
    with other.claim("5" * 64), pytest.raises(StoreError, match="1 steps are being computed by runs that do not say"):
        garbage(store, kept=[])
    with other.claim("4" * 64):
        pieces = garbage(store, kept=[kept])
    assert {(piece.key, piece.why) for piece in pieces} == {(going, "no study needs it")} and len(pieces) == 2
    with other.claim(going):
        assert remove(pieces, store) == 0
    remove(pieces, store)
    assert machine("third").keys() == [needed, kept] and not store.objects.names(f"files/33/{going}")
    other.plans.forget([needed, "4" * 64])
    assert {piece.key for piece in garbage(store, kept=[kept])} == {needed}


def test_a_damaged_manifest_stops_nothing_and_keeps_its_files(machine: Machine) -> None:
    """They are its own, if they are what it says once somebody has put it right."""
    store, lost = prepared(machine("first")), f"files/cd/{'cd' * 32}/{'1' * 64}"
    published(store, KEY)
    store.objects.write(f"results/ab/{KEY}", b"{}")
    store.objects.write(lost, b"12345")
    pieces = garbage(store)
    assert {piece.name for piece in pieces} == {lost} and remove(pieces, store) == 5
    going = garbage(machine("second"), kept=[])
    assert {piece.key for piece in going} == {KEY} and len(going) == 2
    remove(going, machine("second"))
    assert not machine("third").keys() and not store.objects.names(f"files/ab/{KEY}")
