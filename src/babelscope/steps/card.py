"""The model card of an encoder that languages were brought into: whose sentences it was made with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from babelscope.core.languages import language_name
from babelscope.core.version import __version__
from babelscope.corpora.parallel import FilePairs, NamedPairs, WorldPairs

CARD = "README.md"
"""The file in a folder that the Hugging Face hub shows."""


class Brought(NamedTuple):
    """A language, and the text that it was brought in by."""

    language: str
    texts: Sequence[WorldPairs | FilePairs | NamedPairs]
    pairs: int
    """That were read."""


def card(made_of: str, languages: Iterable[Brought], trained: bool) -> str:
    """The card as Markdown.

    Args:
        made_of: the name of the encoder, or model, that the languages were brought into.
        languages: in their order.
        trained: whether it was distilled afterwards.
    """
    brought = list(languages)
    after = "then trained to read the translations as it read their sources" if trained else "without any training"
    return "\n".join([
        f"# {made_of}, and {len(brought)} language{'s' * (len(brought) > 1)} brought in", "",
        f"Made with Babelscope {__version__} from {made_of}: the languages below were brought in by translated "
        f"sentences, each with a vocabulary of its own, {after}.", "",
        "| language | code | pairs of sentences |", "| --- | --- | --- |",
        *(f"| {language_name(each.language)} | {each.language} | {each.pairs:,} |" for each in brought), "",
        "## Whose sentences", "",
        "| text | licence | by | SHA-256 of the files |", "| --- | --- | --- | --- |",
        *(_line(text) for each in brought for text in each.texts), "",
    ])  # fmt: skip


def _line(text: WorldPairs | FilePairs | NamedPairs) -> str:
    match text:
        case NamedPairs(name=name, sha256=sha256, collection=collection):
            cells = (
                (name, collection.licence, f"{collection.attribution}; {collection.home}")
                if collection
                else (name, "", "")
            )
        case FilePairs(names=names, sha256=sha256):
            cells = (", ".join(names), "", "")
        case WorldPairs(languages=languages):
            cells, sha256 = (f"{' and '.join(languages)} of the artificial world", "made by Babelscope", ""), ()
    return f"| {' | '.join(cells)} | {' '.join(f'`{digest}`' for digest in sha256)} |"
