"""What can be seen before anything is tuned: script, how each encoder's pieces cover the text, its relatives, costs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from transformers import PreTrainedTokenizerBase

from babelscope.advise.recipes import EXTENDED, Recipe, recipes, tuning_of
from babelscope.advise.request import Request
from babelscope.corpora.datasets import find_file
from babelscope.corpora.plain import NTREX, available_ntrex, text_language
from babelscope.corpora.scripts import script_shares
from babelscope.corpora.transliteration import transliteration
from babelscope.encoders.load import Encoder
from babelscope.languages import REAL_LANGUAGES
from babelscope.measures.overlap import Coverage, coverage, shared_mass
from babelscope.rows import Row
from babelscope.studies import published_rows
from babelscope.tasks.models import Design, task_model
from babelscope.verdicts import ADAPTED, AS_IT_IS, BILSTM
from babelscope.world import FAMILY, World

SENTENCES = 500
"""So many sentences of the text are looked at."""
RELATIVES = 200
"""And of each language that it is compared with."""
TIMED, PIECES = 512, 32
"""Pieces of the batch that a training step is timed with, and of each of its sequences."""


class Fact(NamedTuple):
    """An encoder and letters: how its pieces cover the text, and which languages use the same pieces."""

    encoder: str
    letters: str | None
    coverage: Coverage
    nearest: list[tuple[str, float]]
    """Languages by the share of pieces in common, the most first."""


class Planned(NamedTuple):
    """A recipe, its place in the order of promise, and what it is expected to cost."""

    recipe: Recipe
    seconds: float | None
    """Of computing, all rounds; None: not known beforehand."""
    why: str


def text_of(request: Request) -> list[str]:
    """The first sentences of the raw text."""
    return list(find_file("mlm", request.text_name, "train").read()[:SENTENCES])


def script_of_text(lines: Sequence[str]) -> dict[str, float]:
    """Script -> share of the letters."""
    return script_shares("\n".join(lines))


def references(language: str) -> dict[str, list[str]]:
    """Text of other languages: of NTREX as far as it is there; for one of the world, of those that encoders know."""
    if language in FAMILY:
        known = [code for code, member in FAMILY.items() if member.seen and code != language]
        return {code: World().text(code, RELATIVES) for code in known}
    there = [code for code in available_ntrex() if code != text_language(f"{NTREX}{language}")]
    return {code: list(find_file("mlm", f"{NTREX}{code}", "train", RELATIVES).read()) for code in there}


def facts(
    lines: Sequence[str], encoder: Encoder, name: str, letters: Sequence[str], others: Mapping[str, list[str]]
) -> Iterator[Fact]:
    """Of one encoder, for the language's own and each of the other letters; compared with texts by language."""
    for one in (None, *letters):
        shown = list(map(transliteration(one), lines)) if one else list(lines)
        covered = coverage(encoder.tokenizer, [line.split() for line in shown])
        yield Fact(name, one, covered, _nearest(encoder.tokenizer, shown, others))


def planned(request: Request, found: Sequence[Fact], costs: dict[str, float]) -> list[Planned]:
    """Recipes by promise: known pieces first, then few pieces a word, then new pieces and adaptation."""
    by_place = {(fact.encoder, fact.letters): fact.coverage for fact in found}
    order = [EXTENDED, ADAPTED, AS_IT_IS]

    def promise(recipe: Recipe) -> tuple[float, float, int]:
        covered = by_place.get((recipe.encoder, recipe.letters))
        if covered is None:
            return (2.0, 0.0, 0)  # the BiLSTM is what the others are held against
        return (round(covered.unknown, 2), round(covered.fertility, 1), order.index(recipe.kind))

    return [
        Planned(recipe, _seconds(request, recipe, by_place, costs), _why(recipe, by_place))
        for recipe in sorted(recipes(request, by_place), key=promise)
    ]


def seconds_a_piece(encoder: Encoder, device: str) -> float:
    """Seconds of training on one piece, by one step of tagging that is timed; the encoder's weights change."""
    model: Any = task_model(encoder, Design("pos")).module.to(device)
    ids = torch.zeros(TIMED // PIECES, PIECES, dtype=torch.long, device=device)
    for _ in range(2):  # the first warms up
        began = time.perf_counter()
        model.backbone(input_ids=ids).last_hidden_state.sum().backward()
        if device == "cuda":
            torch.cuda.synchronize()
    return (time.perf_counter() - began) / TIMED


def published(language: str, script: str | None) -> list[str]:
    """What the published study found of this language, or of those in the same script, in words."""
    rows = published_rows("unseen-languages")
    own = [_published(row) for row in rows if row.language == text_language(f"{NTREX}{language}")]
    if own:
        return own
    alike = [row for row in rows if row.measure.startswith("published verdict") and _script(row) == script]
    return [_published(row) for row in alike]


def _nearest(
    tokenizer: PreTrainedTokenizerBase, lines: Sequence[str], others: Mapping[str, list[str]]
) -> list[tuple[str, float]]:
    own = _pieces(tokenizer, lines)
    shared = {code: shared_mass(own, _pieces(tokenizer, text)) for code, text in others.items()}
    return sorted(shared.items(), key=lambda pair: -pair[1])


def _pieces(tokenizer: PreTrainedTokenizerBase, lines: Sequence[str]) -> Counter[int]:
    """How often each piece comes; unknown ones say nothing about a language."""
    encoded = tokenizer(list(lines), add_special_tokens=False, verbose=False)["input_ids"]
    counts = Counter(piece for ids in encoded for piece in ids)
    counts.pop(tokenizer.unk_token_id, None)
    return counts


def _seconds(
    request: Request, recipe: Recipe, covered: dict[tuple[str, str | None], Coverage], costs: dict[str, float]
) -> float | None:
    if recipe.encoder == BILSTM or request.treebank_name is None:
        return None
    tuning, fertility = tuning_of(request, recipe), covered[recipe.encoder, recipe.letters].fertility
    sentences = find_file(request.task, request.treebank_name, "train").read()
    pieces = fertility * sum(len(sentence.words) for sentence in sentences) * (tuning.epochs or 1)
    learned = request.adaptation_steps * tuning.tokens_per_batch if recipe.kind != AS_IT_IS else 0
    return costs[recipe.encoder] * (request.seeds * pieces + learned)


def _why(recipe: Recipe, covered: dict[tuple[str, str | None], Coverage]) -> str:
    if recipe.encoder == BILSTM:
        return "knows nothing but the labelled sentences; what the others are held against"
    one = covered[recipe.encoder, recipe.letters]
    now = " now" if recipe.kind == EXTENDED else ""
    return f"{one.unknown:.1%} of the words unknown, {one.fertility:.1f} pieces a word{now}"


def _script(row: Row) -> str | None:
    known = REAL_LANGUAGES.get(row.language or "")
    return known.script if known else None


def _published(row: Row) -> str:
    known = REAL_LANGUAGES.get(row.language or "")
    name = known.name if known else row.language
    if row.unit:
        return f"{name}: {row.value:,.0f} {row.measure}"
    return f"{name}: {row.measure.rpartition(': ')[2]} for mBERT"
