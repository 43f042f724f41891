"""Which works a paper on a study cites: for the study's idea, its data and its encoders, and with them licences.

`cited.csv` says which names are whose; of several lines that fit the first counts. `works.bib` has the works, with the
fields that are known for certain.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from babelscope.core.version import __version__
from babelscope.corpora.letters import split_name
from babelscope.corpora.sources import treebank_licence
from babelscope.corpora.translations import COLLECTIONS
from babelscope.report.paper.latex import escaped
from babelscope.report.used import UsedEncoder

ITSELF = "babelscope"
HUB = "https://huggingface.co"


class Cited(NamedTuple):
    """What is said of a study, data or an encoder."""

    title: str = ""
    licence: str = ""
    works: tuple[str, ...] = ()
    """Keys of `works.bib`."""


def of_study(name: str) -> Cited:
    """Of a built-in study, with or without its profile; nothing for others."""
    return _cited("study", name.partition("@")[0])


def of_data(name: str) -> Cited:
    """Of a data set as studies name it; files of one's own have nothing."""
    own = split_name(name)[0]
    cited, collection = _cited("data", own), COLLECTIONS.get(own.partition(":")[0])
    if collection:
        return cited._replace(title=collection.title, licence=collection.licence)
    return cited._replace(licence=cited.licence or treebank_licence(own.partition(":")[0]))


def of_encoder(encoder: UsedEncoder) -> Cited:
    """Of an encoder by the last part of its name; one of the hub that no line is about is cited by its address."""
    cited = _cited("encoder", encoder.name.rpartition("/")[2])
    return cited if cited.works or not encoder.on_hub else cited._replace(works=(_hub_key(encoder),))


def bibliography(works: Iterable[str], encoders: Iterable[UsedEncoder]) -> str:
    """The works of these keys as BibTeX, those on the hub included; each once."""
    entries = _entries() | {_hub_key(encoder): _hub_entry(encoder) for encoder in encoders if encoder.on_hub}
    return "\n".join(entries[key] for key in dict.fromkeys(works))


def _cited(kind: str, name: str) -> Cited:
    for line in _table():
        if line["kind"] == kind and fnmatchcase(name, line["name"]):
            return Cited(line["title"], line["licence"], tuple(line["works"].split()))
    return Cited()


@cache
def _table() -> tuple[dict[str, str], ...]:
    return tuple(csv.DictReader(_package_text("cited.csv").splitlines()))


@cache
def _entries() -> dict[str, str]:
    """BibTeX by key; that of this package says which version it is."""
    texts = re.split(r"\n\n(?=@)", _package_text("works.bib").strip())
    entries = {re.match(r"@\w+\{([^,]+),", text)[1]: f"{text}\n" for text in texts}  # type: ignore[index]
    return entries | {ITSELF: entries[ITSELF].replace("\n}", f"\n  note = {{Version {__version__}}},\n}}")}


def _package_text(name: str) -> str:
    return (files("babelscope.report.paper") / name).read_text(encoding="utf-8")


def _hub_key(encoder: UsedEncoder) -> str:
    return "hub-" + re.sub(r"[^A-Za-z0-9]+", "-", encoder.name).strip("-").lower()


def _hub_entry(encoder: UsedEncoder) -> str:
    address = f"{HUB}/{encoder.name}"
    return "\n".join([
        f"@misc{{{_hub_key(encoder)},", f"  title = {{{{{escaped(encoder.name)}}}}},",
        f"  note = {{Commit {escaped(encoder.content)} on the Hugging Face hub}},", f"  url = {{{address}}},", "}", "",
    ])  # fmt: skip
