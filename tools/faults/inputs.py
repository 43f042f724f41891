"""Faulty files, folders and arguments: for whatever a user gives, there is nothing but errors in words."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from unittest.mock import patch

import typer.main
import yaml

from babelscope.core.errors import InputError
from babelscope.studies import STUDIES
from faults.attempts import Attempt
from faults.limits import limited
from faults.mutations import ODD, VALUES, odd_file, odd_json, odd_json_file
from faults.readers import READERS
from faults.right_input import STUDY, commands, write_folders

LONGEST = 100_000
"""Letters of an argument: systems allow hardly more."""

# Folders

OPTIONAL = {
    "special_tokens_map.json": {"cls_token": "[CLS]", "mask_token": {"content": "[MASK]", "lstrip": True}},
    "added_tokens.json": {"[NEW]": 121, "[OTHER]": 122},
    "model.safetensors.index.json": {"metadata": {"total_size": 9}, "weight_map": {"pooler": "model.safetensors"}},
}
"""Files that an encoder's folder may have, too."""


def _folder(original: Path, name: str, read: Callable[[Path], object], right: object = None) -> Attempt:
    """Of a file in a folder, or of one that may be there, of which `right` is what it says."""

    def attempt(chance: random.Random, folder: Path) -> object:
        copied = shutil.copytree(original, folder / "given")
        path = copied / name
        if path.suffix == ".json":
            path.write_bytes(odd_json_file(right or json.loads(path.read_text()), chance))
        else:
            raw = path.read_bytes()
            length = int.from_bytes(raw[:8], "little")
            header = odd_json_file(json.loads(raw[8 : 8 + length]), chance)
            path.write_bytes(len(header).to_bytes(8, "little") + header + raw[8 + length :])
        return read(copied)

    return attempt


def _loaded(folder: Path) -> object:
    from babelscope.encoders.folder import layer_count, word_width
    from babelscope.encoders.heads import has_mlm_head
    from babelscope.encoders.load import load_located
    from babelscope.encoders.places import locate
    from babelscope.encoders.tap import sentence_states

    place = locate(str(folder))
    has_mlm_head(place.path), layer_count(place.path), word_width(place.path)
    return sentence_states(load_located(place), ["the cat sees Щука", "the"])


def _predicted(folder: Path) -> object:
    from babelscope.engine.store import Store
    from babelscope.engine.trained import predict

    (folder.parent / "in.txt").write_text("the cat sees\n")
    return predict(Store(folder.parent / "store"), str(folder), folder.parent / "in.txt", folder.parent / "out.conllu")


def folders(encoder: Path, tagger: Path) -> dict[str, Attempt]:
    """Attempts at faulty folders, by the file that is at fault."""
    of_encoder = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
    of_tagger = ("babelscope.json", "bring-in.json", "config.json", "model.safetensors")
    return {
        **{f"encoder's {name}": _folder(encoder, name, _loaded) for name in of_encoder},
        **{f"encoder's {name}": _folder(encoder, name, _loaded, right) for name, right in OPTIONAL.items()},
        **{f"tagger's {name}": _folder(tagger, name, _predicted) for name in of_tagger},
    }


# Commands


def _command(arguments: list[str]) -> Attempt:
    def attempt(chance: random.Random, folder: Path) -> None:
        (folder / "text.txt").write_text("the cat sees\na dog\n")
        (folder / "pairs.tsv").write_text("the cat sees\tde kat ziet\na small dog\teen hond\n" * 9)
        (folder / "study.yaml").write_text(STUDY)
        _called(_odd_arguments(arguments, chance))

    return attempt


def _odd_arguments(arguments: list[str], chance: random.Random) -> list[str]:
    """One argument or two changed, dropped, given twice, or a part of one replaced."""
    given = list(arguments)
    for _ in range(chance.choice([1, 1, 2])):
        place = chance.randrange(1, len(given))
        if (fate := chance.random()) < 0.1:
            given.insert(place, chance.choice(ODD))
        elif fate < 0.2 and len(given) > 2:
            del given[place]
        elif fate < 0.5:
            given[place] = chance.choice(ODD)
        else:
            given[place] = odd_file(given[place], chance).decode("utf-8", "surrogateescape")
    return [argument[:LONGEST] for argument in given]


def _with(chance: random.Random, folder: Path) -> None:
    """Plan a study with one or two changes, of keys that it has, mostly, to odd values."""
    (folder / "study.yaml").write_text(STUDY)
    name = chance.choice(["study.yaml", *STUDIES])
    keys = list(_paths(yaml.safe_load(STUDY))) if name == "study.yaml" else list(STUDIES[name].parameters)
    given = ["plan", name, "--store", "store"]
    for _ in range(chance.choice([1, 1, 2])):
        key = chance.choice(keys) if keys and chance.random() < 0.9 else chance.choice(ODD)
        value = json.dumps(odd_json(chance.choice(VALUES), chance)) if chance.random() < 0.5 else chance.choice(ODD)
        given += ["--with", f"{key}={value}"[:LONGEST]]
    _called(given)


def _paths(value: object, before: str = "") -> Iterator[str]:
    """The keys of a study, as `--with` has them."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield f"{before}{key}"
        yield from _paths(inner, f"{before}{key}.")


_command_of = cache(typer.main.get_command)
"""Made once, since that takes longer than most commands that are refused."""


def _called(arguments: list[str]) -> None:
    from babelscope.face.cli import main

    before, sys.argv = sys.argv, ["babelscope", *arguments]
    try:
        with patch("typer.main.get_command", _command_of):
            main()
    except SystemExit as end:
        if end.code not in (None, 0):
            refused = InputError if end.code in (1, 2) else RuntimeError
            raise refused(f"exit status {end.code} of {arguments!a:.3000}") from None
    except BaseException as error:
        error.add_note(f"arguments: {arguments!a:.3000}")
        raise
    finally:
        sys.argv = before


def input_attempts(folder: Path) -> dict[str, Attempt]:
    """Every kind of attempt, by name; `folder` is for what is right."""
    encoder, tagger = write_folders(folder)
    called = {f"babelscope {name}": _command(arguments) for name, arguments in commands(encoder, tagger).items()}
    attempts = {**READERS, **folders(encoder, tagger), **called, "babelscope plan --with": _with}
    return {kind: limited(attempt) for kind, attempt in attempts.items()}
