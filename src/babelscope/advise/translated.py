"""Translated sentences, by which the language is brought into the encoders."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from babelscope.advise.data import check_splits, labelled_data, source_data
from babelscope.advise.request import Request
from babelscope.core.errors import InputError
from babelscope.corpora.codes import same_language
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
    source = source_code(request) if request.parallel and request.source_labelled else SOURCE
    texts = tuple(given_pairs(given, request.language, source) for given in request.parallel)
    pairs = joined(texts).pairs
    check_script(request.language, [target for _, target in pairs])
    return Translated(texts, pairs)


def check_translated(request: Request) -> None:
    """Refuse translated sentences that cannot be used, and labelled ones of their source.

    Raises:
        InputError: there is no such text or data set, the text is in another language than the request, the labelled
            in the same, or in another than what is translated; or there are sentences of the source but no
            translations.
    """
    translated(request)
    if request.source_labelled_name is None:
        return
    for given, text in zip(request.parallel, translated(request).texts, strict=True):
        check_source(text, source_code(request), f"--parallel {given}: ")
    if not request.parallel:
        raise InputError("--source-labelled is for a model that a language is brought into; give --parallel too")
    code = source_code(request)
    if same_language(code, request.language):
        raise InputError(
            f"--source-labelled {request.source_labelled}: in {code}, the language itself; give one in what the "
            "translations are from"
        )
    own = {labelled_data(request, split).sha256 for split in SPLITS if request.labelled}
    for split in SPLITS[:2]:
        if source_data(request, split).sha256 in own:
            raise InputError(
                f"--source-labelled {request.source_labelled}: the same sentences as those of --labelled, so that "
                "nothing would be carried over from another language"
            )
    check_splits(request, SPLITS[:2], source=True)


def texts_in_words(request: Request) -> list[str]:
    """Each text, whose it is and under which licence, as far as that is known."""
    return [_in_words(given, text) for given, text in zip(request.parallel, translated(request).texts, strict=True)]


def _in_words(given: str, text: NamedPairs | FilePairs) -> str:
    collection = text.collection if isinstance(text, NamedPairs) else None
    if collection is None:  # a file of one's own, whose folder is nobody's business but the user's
        return ",".join(Path(part).name for part in given.split(","))
    return f"{given}: {collection.title}, {collection.attribution}, {collection.licence}, {collection.home}"


def source_code(request: Request) -> str:
    """Of the language that the labelled sentences of the source are in."""
    return source_data(request, "train").code
