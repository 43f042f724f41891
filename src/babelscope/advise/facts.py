"""What can be seen before anything is tuned: script, how each encoder's subwords cover the text, its relatives."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from transformers import PreTrainedTokenizerBase

from babelscope.advise.data import text_data
from babelscope.advise.recipes import FERTILITY, fertility_limit
from babelscope.advise.request import Request
from babelscope.core.languages import REAL_LANGUAGES, language_name
from babelscope.core.words import listed
from babelscope.corpora.codes import same_language, shortest
from babelscope.corpora.datasets import find_file
from babelscope.corpora.plain import NTREX, available_ntrex
from babelscope.corpora.scripts import script_shares
from babelscope.corpora.spacing import unspaced_script
from babelscope.corpora.transliteration import transliteration
from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.load import Encoder
from babelscope.measures.formulas.overlap import Coverage, coverage, shared_mass
from babelscope.report.cautions import UNREAD
from babelscope.studies.published_numbers import published_rows
from babelscope.world import LANGUAGES, World

SENTENCES = 500
"""So many sentences of the text are looked at."""
RELATIVES = 200
"""And of each language that it is compared with."""
LETTERS = 5
"""That are named."""
Unit = Literal["word", "character"]


class Fact(NamedTuple):
    """An encoder and letters: how its subwords cover the text, and which languages use the same subwords."""

    encoder: str
    letters: str | None
    coverage: Coverage
    """Of words, or of characters; see `unit`."""
    nearest: list[tuple[str, float]]
    """Languages by the share of subwords in common, the most first; none where most of the text is unknown."""
    compared: bool
    """Whether there was text to compare with."""
    decoder: bool
    """Whether the encoder reads from left to right, so that masked language modelling cannot adapt it."""
    stripped: tuple[str, ...] = ()
    """Letters of the text, the most frequent first, that are read without their accents."""
    unit: Unit = "word"
    """What unknown ones are counted in, and subwords by: text without spaces between words has no words to count."""
    limit: float = FERTILITY
    """The most subwords a unit of a vocabulary that covers the text well."""


def text_of(request: Request) -> list[str]:
    """The first sentences of the raw text."""
    return list(text_data(request).read()[:SENTENCES])


def script_of_text(lines: Sequence[str]) -> dict[str, float]:
    """Script -> share of the letters."""
    return script_shares("\n".join(lines))


def references(language: str) -> dict[str, list[str]]:
    """Text of other languages: of NTREX as far as it is there; for one of the world, of those that encoders know.

    The language itself is not among them, whichever of its codes NTREX has, in whatever script.
    """
    if language in LANGUAGES:
        known = [code for code, member in LANGUAGES.items() if member.seen and code != language]
        return {code: World().text(code, RELATIVES) for code in known}
    there = [code for code in available_ntrex() if not same_language(code, language)]
    return {code: list(find_file("mlm", f"{NTREX}{code}", "train", RELATIVES).read()) for code in there}


def facts(
    language: str,
    lines: Sequence[str],
    encoder: Encoder,
    name: str,
    letters: Sequence[str],
    others: Mapping[str, list[str]],
) -> Iterator[Fact]:
    """Of one encoder, for the language's own and each of the other letters; compared with texts by language.

    How the text is covered is seen with the language's own tokenizer, if the encoder has one; what it shares with
    others, with the tokenizer of all.
    """
    unspaced = unspaced_script(lines)
    unit: Unit = "character" if unspaced else "word"
    for by in (None, *letters):
        shown = list(map(transliteration(by), lines)) if by else list(lines)
        reader = encoder if by else encoder.reading(language)
        covered = (_coverage_of_characters if unspaced else _coverage_of_words)(reader.tokenizer, shown)
        near = _nearest(encoder.tokenizer, shown, others) if covered.unknown <= UNREAD else []
        decoder = not anatomy_of(encoder.model.config).head
        lost = () if by else stripped(reader.tokenizer, shown)
        yield Fact(name, by, covered, near, bool(others), decoder, lost, unit, fertility_limit(unspaced))


def stripped(tokenizer: PreTrainedTokenizerBase, lines: Sequence[str]) -> tuple[str, ...]:
    """Letters, the most frequent first, whose accents a tokenizer strips before it looks for subwords."""
    normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
    if normalizer is None:
        return ()
    letters = Counter(unicodedata.normalize("NFC", " ".join(lines)).lower())
    bare = {letter: unicodedata.normalize("NFD", letter)[0] for letter in letters if letter.isalpha()}
    lost = [letter for letter, base in bare.items() if base != letter and normalizer.normalize_str(letter) == base]
    return tuple(sorted(lost, key=lambda letter: -letters[letter])[:LETTERS])


def published(language: str, script: str | None) -> list[str]:
    """What the published study found of this language, in words; without a verdict, also of those in its script."""
    if language in LANGUAGES:
        return []
    language, rows = shortest(language), published_rows("unseen-languages")
    verdicts = {row.language or "": row.claim or "" for row in rows if row.kind == "verdict"}
    sizes = {row.language or "": row.value for row in rows if row.kind != "verdict"}
    size = f"{sizes[language]:,.0f} sentences of raw text" if language in sizes else ""
    if language in verdicts:
        read = f" (the study had {size})" if size else ""
        return [f"{language_name(language)}: {verdicts[language]} for mBERT{read}"]
    others = [f"{language_name(code)} {verdict}" for code, verdict in verdicts.items() if _script(code) == script]
    alike = [f"of other languages in its script, related or not, for mBERT: {listed(others)}"] if others else []
    tried = f"{language_name(language)}: tried with mBERT and {size}; how hard it was found is not in our tables"
    return [tried] if size else alike


def _coverage_of_words(tokenizer: PreTrainedTokenizerBase, lines: Sequence[str]) -> Coverage:
    return coverage(tokenizer, [line.split() for line in lines])


def _coverage_of_characters(tokenizer: PreTrainedTokenizerBase, lines: Sequence[str]) -> Coverage:
    """Of text without spaces between words: each character of an unknown subword is unknown, and counts as one."""
    cut = tokenizer(list(lines), add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    subwords = np.concatenate(cut["input_ids"])
    widths = np.concatenate([np.diff(places).ravel() for places in cut["offset_mapping"] if places])
    is_unknown, total = subwords == tokenizer.unk_token_id, sum(len("".join(line.split())) for line in lines)
    unknown = int(widths[is_unknown].sum())
    covered = _coverage_of_words(tokenizer, lines)
    return Coverage(total, unknown / total, (unknown + int((~is_unknown).sum())) / total, covered.characters)


def _nearest(
    tokenizer: PreTrainedTokenizerBase, lines: Sequence[str], others: Mapping[str, list[str]]
) -> list[tuple[str, float]]:
    own = _subwords(tokenizer, lines)
    shared = {code: shared_mass(own, _subwords(tokenizer, text)) for code, text in others.items()}
    return sorted(shared.items(), key=lambda pair: -pair[1])


def _subwords(tokenizer: PreTrainedTokenizerBase, lines: Sequence[str]) -> Counter[int]:
    """How often each subword comes; unknown ones say nothing about a language."""
    encoded = tokenizer(list(lines), add_special_tokens=False, verbose=False)["input_ids"]
    counts = Counter(subword for ids in encoded for subword in ids)
    counts.pop(tokenizer.unk_token_id, None)
    return counts


def _script(code: str) -> str | None:
    return REAL_LANGUAGES[code].script if code in REAL_LANGUAGES else None
