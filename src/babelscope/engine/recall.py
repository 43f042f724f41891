"""Steps made again from what a store's manifests say of them, so that a key is all one needs to use a result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import ValidationError

from babelscope.core.errors import InputError, StoreError
from babelscope.core.plugins import import_plugins
from babelscope.core.step import STEPS, Step
from babelscope.encoders.places import near_folder
from babelscope.engine.store import Store


def find_key(store: Store, digits: str) -> str:
    """The key that begins with the given digits.

    Raises:
        InputError: they are no digits of a key, or not one result's.
    """
    if not re.fullmatch("[0-9a-f]{4,64}", digits):
        problem = f"{digits!r} is neither a folder nor the key of a result{near_folder(digits)}"
        raise InputError(f"{problem}: 4 to 64 of the digits 0-9 and a-f")
    keys = store.keys(digits)
    if len(keys) != 1:
        raise InputError(f"{digits}: {len(keys) or 'no'} results in {store.address} begin with it; give one key")
    return keys[0]


def recall(store: Store, key: str) -> Step:
    """The step of a result.

    Raises:
        StoreError: there is no such result, or what its manifest says is not the step of that key any more.
    """
    manifest = store.manifest(key)
    try:
        step = step_of(manifest, partial(recall, store))
    except (ValidationError, KeyError) as error:
        problem = error.errors()[0]["msg"] if isinstance(error, ValidationError) else f"there is no {error}"
        raise _not_ours(store, key, manifest, problem) from None
    if step.key != key:
        raise _not_ours(store, key, manifest, "it has another key now")
    return step


def step_of(about: Mapping[str, Any], find: Callable[[str], Step]) -> Step:
    """The step that `describe` tells of; `find` gives the stored steps that it reads, by their keys.

    Raises:
        ValidationError, KeyError: it is none of those that there are now.
        InputError: a plug-in cannot be imported.
    """
    import babelscope.measures  # noqa: F401  # whose steps a process may not have needed yet

    import_plugins()
    return STEPS[about["step"]](**{name: _field(value, find) for name, value in about["fields"].items()})


def _field(value: Any, find: Callable[[str], Step]) -> Any:
    if isinstance(value, list):
        return [_field(entry, find) for entry in value]
    if not isinstance(value, dict) or value.get("step") not in STEPS:
        return value
    return find(value["key"]) if "key" in value else step_of(value, find)


def _not_ours(store: Store, key: str, manifest: dict[str, Any], problem: str) -> StoreError:
    version = manifest["versions"].get("babelscope", "another")
    return StoreError(
        f"{store.folder}: the step of result {key[:12]} cannot be made again: {problem}. Use version {version} of "
        "Babelscope, which computed it, and the packages that brought what is not known here, or run its study again"
    )


def describe(step: Step) -> dict[str, Any]:
    """What a manifest says of a step: class, version and all fields; a stored input is named by its class and key."""
    fields: dict[str, Any] = {}
    for name in type(step).model_fields:
        fields |= _told(step, name)
    return {"step": type(step).__name__, "version": step.version, "fields": fields}


def _told(step: Step, name: str) -> dict[str, Any]:
    """A field by its name; nothing of one that is left out as long as it says nothing."""
    value = getattr(step, name)
    if isinstance(value, Step):
        return {name: _named(value)}
    if isinstance(value, tuple) and value and all(isinstance(input_step, Step) for input_step in value):
        return {name: [_named(input_step) for input_step in value]}
    return step.model_dump(mode="json", include={name}, serialize_as_any=True)


def _named(step: Step) -> dict[str, Any]:
    return {"step": type(step).__name__, "key": step.key} if step.stored else describe(step)
