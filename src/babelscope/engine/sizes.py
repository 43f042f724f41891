"""What the results of a store take, by what made them, as their manifests say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from babelscope.core.step import STEPS
from babelscope.engine.put_back import dropped
from babelscope.engine.store import Store

WEIGHTS = ".safetensors"


class Taken(NamedTuple):
    """What some results take, in bytes."""

    results: int = 0
    """How many they are."""
    weights: int = 0
    rest: int = 0
    droppable: int = 0
    """Of the weights, what the store could do without, since it can be computed again."""
    dropped: int = 0
    """What it does without already."""


def sizes(store: Store, keys: Iterable[str]) -> dict[tuple[str, str], Taken]:
    """By kind of step and name of the encoder (empty where there is none), what results take; the largest first.

    Raises:
        DamagedResult: a manifest is not as it was written.
    """
    taken: dict[tuple[str, str], list[Taken]] = defaultdict(list)
    for key in keys:
        manifest = store.manifest(key)
        taken[manifest["step"], _encoder(manifest, store)].append(_taken(manifest))
    sums = {about: added(parts) for about, parts in taken.items()}
    return dict(sorted(sums.items(), key=lambda line: -line[1].weights - line[1].rest))


def added(parts: Iterable[Taken]) -> Taken:
    """Their sum."""
    return Taken(*map(sum, zip(Taken(), *parts, strict=True)))


def _taken(manifest: Mapping[str, Any]) -> Taken:
    gone = dropped(manifest)
    there = {name: recorded["bytes"] for name, recorded in manifest["files"].items() if name not in gone}
    weights = sum(size for name, size in there.items() if name.endswith(WEIGHTS))
    names = STEPS[manifest["step"]].droppable if manifest["step"] in STEPS else ()
    droppable = sum(there.get(name, 0) for name in names)
    before = sum(recorded["bytes"] for recorded in gone.values())
    return Taken(1, weights, sum(there.values()) - weights, droppable, before)


def _encoder(about: Mapping[str, Any], store: Store) -> str:
    """The name of the encoder that a step makes, or that it comes from, by its description."""
    fields = about.get("fields", {})
    if isinstance(name := fields.get("name"), str):
        return name
    needed = fields.get("encoder") or fields.get("model") or next(iter(fields.get("models") or []), None)
    if not isinstance(needed, dict):
        return ""
    if "fields" in needed:
        return _encoder(needed, store)
    return _encoder(store.manifest(needed["key"]), store) if store.has(needed["key"]) else ""
