"""Translated sentences, by which the language is brought into the encoders."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from babelscope.advise.request import Request, read_source
from babelscope.core.errors import InputError
from babelscope.corpora.codes import same_language
from babelscope.corpora.datasets import find_file
from babelscope.corpora.given_pairs import given_pairs
from babelscope.corpora.paired import Pair
from babelscope.corpora.parallel import SOURCE, FilePairs, NamedPairs, check_source, joined
from babelscope.corpora.scripts import check_script
from babelscope.corpora.sources import SPLITS


class Translated(NamedTuple):
    """The texts of a request, and their pairs of sentences, each once."""

    texts: tuple[NamedPairs | FilePairs, ...]
    pairs: list[Pair]


@lru_cache(maxsize=4)
def translated(request: Request) -> Translated:
    """What `--parallel` names.

    Raises:
        InputError: there is no such text, it is malformed, or in another language than the request.
    """
    source = source_code(request) if request.parallel and request.source_treebank else SOURCE
    texts = tuple(given_pairs(given, request.language, source) for given in request.parallel)
    pairs = joined(texts).pairs
    check_script(request.language, [target for _, target in pairs])
    return Translated(texts, pairs)


def check_translated(request: Request) -> None:
    """Refuse translated sentences that cannot be used, and labelled ones of their source.

    Raises:
        InputError: there is no such text or treebank, the text is in another language than the request, the treebank
            in the same, or in another than what is translated; or there are sentences of the source but no
            translations.
    """
    translated(request)
    if request.source_treebank_name is None:
        return
    for given, text in zip(request.parallel, translated(request).texts, strict=True):
        check_source(text, source_code(request), f"--parallel {given}: ")
    if not request.parallel:
        raise InputError("--source-treebank is for a model that a language is brought into; give --parallel too")
    code = source_code(request)
    if same_language(code, request.language):
        raise InputError(
            f"--source-treebank {request.source_treebank}: in {code}, the language itself; give one in what the "
            "translations are from"
        )
    own = {find_file(request.task, request.treebank_name or "", split).sha256 for split in SPLITS if request.treebank}
    for split in SPLITS[:2]:
        if find_file(request.task, request.source_treebank_name, split).sha256 in own:
            raise InputError(
                f"--source-treebank {request.source_treebank}: the same sentences as those of --treebank, so that "
                "nothing would be carried over from another language"
            )
        read_source(request, split)


def texts_in_words(request: Request) -> list[str]:
    """Each text, whose it is and under which licence, as far as that is known."""
    return [_in_words(given, text) for given, text in zip(request.parallel, translated(request).texts, strict=True)]


def _in_words(given: str, text: NamedPairs | FilePairs) -> str:
    collection = text.collection if isinstance(text, NamedPairs) else None
    if collection is None:  # a file of one's own, whose folder is nobody's business but the user's
        return ",".join(Path(part).name for part in given.split(","))
    return f"{given}: {collection.title}, {collection.attribution}, {collection.licence}, {collection.home}"


def source_code(request: Request) -> str:
    """Of the language that the source treebank is in."""
    return find_file(request.task, request.source_treebank_name or "", "train").code
