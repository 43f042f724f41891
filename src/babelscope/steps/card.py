"""The model card of an encoder that languages were brought into: whose sentences it was made with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.languages import language_name
from babelscope.core.version import __version__
from babelscope.corpora.letters import lettered, split_name
from babelscope.corpora.parallel import FilePairs, ParallelText, WorldPairs
from babelscope.corpora.transliteration import table_file
from babelscope.encoders.folder import LANGUAGES


class Brought(NamedTuple):
    """A language, and the text that it was brought in by."""

    language: str
    texts: Sequence[Mapping[str, Any]]
    """As `described` says them."""
    pairs: int
    """That were read."""


def card(made_of: str, languages: Iterable[Brought], trained: bool, beside: Sequence[str]) -> str:
    """The card as Markdown.

    Args:
        made_of: the name of the encoder, or model, that the languages were brought into.
        languages: in their order.
        trained: whether it was distilled afterwards.
        beside: the codes of languages whose tokenizers are in the folder `languages`, one at least.
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
        "## How to load it", "",
        "Babelscope reads each language with its own tokenizer, from a folder as from the hub: an encoder by "
        "`babelscope.load`, a tuned model by `babelscope predict --language CODE`. What transformers loads takes the "
        f"tokenizer of the folder itself for all text. For text in {' or '.join(beside)} give the same model the "
        "tokenizer that is beside:", "",
        "```python", f'AutoTokenizer.from_pretrained("FOLDER", subfolder="{LANGUAGES}/{beside[0]}")', "```", "",
    ])  # fmt: skip


def described(text: ParallelText) -> dict[str, Any]:
    """A text with the digests of its files, and whose it is as far as that is known."""
    if isinstance(text, WorldPairs):
        return {"text": f"{' and '.join(text.languages)} of the artificial world", "sha256": []}
    if isinstance(text, FilePairs):
        return {"text": ", ".join(map(without_folder, text.names)), "sha256": list(text.sha256)}
    collection = text.collection
    whose = ("licence", "attribution", "home")
    owned = {name: getattr(collection, name) for name in whose} if collection else {}
    name = text.name if collection else without_folder(text.name)
    return {"text": name, "sha256": list(text.sha256), **owned}


def without_folder(name: str) -> str:
    """`tsv:mt:pairs.tsv`: the folder is nobody's business but the user's; digests say which file it is."""
    own, letters = split_name(name)
    *before, file = own.split(":", 2)
    return lettered(":".join([*before, Path(file).name]), letters and letters_without_folder(letters))


def letters_without_folder(letters: str) -> str:
    """`table:letters.tsv+permute:1`: of how a text is transliterated, likewise."""
    file = table_file(letters)
    return letters.replace(file, Path(file).name) if file else letters


def _line(text: Mapping[str, Any]) -> str:
    by = "; ".join(text[name] for name in ("attribution", "home") if name in text)
    digests = " ".join(f"`{digest}`" for digest in text["sha256"])
    return f"| {text['text']} | {text.get('licence', '')} | {by} | {digests} |"
