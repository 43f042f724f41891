"""The exported model and its card: what it is, how good, how to use it, and that something is better than it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from huggingface_hub import EvalResult, ModelCardData

from babelscope.advise.data import forms_of
from babelscope.advise.names import language_and_code
from babelscope.advise.outcome import Outcome
from babelscope.advise.recipes import BRINGING, ZERO_SHOT, Recipe
from babelscope.advise.request import Request
from babelscope.advise.sentences import better_one, scored_in_words, useless
from babelscope.advise.translated import texts_in_words, translated
from babelscope.core.outside import write_text
from babelscope.core.scores import MEASURES
from babelscope.encoders.heads import class_with_head
from babelscope.engine import trained
from babelscope.engine.brought_in import RECORD
from babelscope.engine.store import Store
from babelscope.report.words import capitalised, in_words

TAG_WORDS = '''\
from bisect import bisect
from itertools import accumulate

from transformers import pipeline

tag_tokens = pipeline("token-classification", model=".", ignore_labels=[])


def tag(words):
    """A tag for each word: that of its first token."""
    ends = [end - 1 for end in accumulate(len(word) + 1 for word in words)]
    tags = {}
    for token in tag_tokens(" ".join(words)):
        tags.setdefault(bisect(ends, token["start"]), token["entity"])
    return [tags.get(place) for place in range(len(words))]'''
"""What `babelscope predict` does, with transformers alone; a pipeline itself gives tags to tokens, not to words.

None of its ways to aggregate them does: all of them put neighbours with the same tag into one group.
"""
EXAMPLE_WORDS = 8


def export(outcome: Outcome, request: Request, store: Store, folder: Path) -> None:
    """Write the model to export as a Hugging Face folder with a model card."""
    trained.export(store, outcome.key, folder)
    write_text(folder / "README.md", card(outcome, request, has_pipeline=bool(class_with_head(str(folder)))))


def card(outcome: Outcome, request: Request, has_pipeline: bool) -> str:
    """The model card, in Markdown with the header that the hub reads.

    Args:
        outcome: with the model.
        request: that it is the answer to.
        has_pipeline: whether transformers has the model's head, so that its pipeline tags words.
    """
    chosen = outcome.direct
    lines = [
        "---",
        *_header(outcome, request, has_pipeline).to_yaml().splitlines(),
        "---",
        f"# {_title(request)}",
        "",
        f"{chosen.recipe.name}, tuned on the training sentences of `{_tuned_on(chosen.recipe, request)}`.",
        f"{capitalised(MEASURES[request.measure].name)} on the test sentences of "
        f"`{Path(request.labelled or '').name}`: {_score(outcome)}; "
        f"{outcome.floor.name}: {in_words(outcome.floor.test, 'share')}.",
        "",
        *_read(chosen.recipe, request),
        *_warnings(outcome),
        "## Use",
        "",
        *_usage(request, has_pipeline),
        "",
        "Chosen by Babelscope, which compared: " + "; ".join(placed.recipe.name for placed in outcome.placed) + ".",
    ]
    return "\n".join(lines) + "\n"


def _score(outcome: Outcome) -> str:
    """Of this model, which is the best of its runs on the dev sentences, beside the mean of all."""
    chosen = outcome.direct
    if outcome.own is None:
        return scored_in_words(chosen)
    if chosen.rounds == 1:
        return f"{scored_in_words(chosen)}, of one run"
    return f"{100 * outcome.own:.1f}%; the mean over {chosen.rounds} runs is {scored_in_words(chosen)}"


def _header(outcome: Outcome, request: Request, has_pipeline: bool) -> ModelCardData:
    """What the hub reads, the score on the test sentences among it."""
    score = EvalResult(
        task_type="token-classification" if request.has_tagger else "dependency-parsing",
        dataset_type=Path(request.labelled or "").name,
        dataset_name=Path(request.labelled or "").name,
        dataset_split="test",
        metric_type=request.measure,
        metric_value=None if outcome.own is None else round(outcome.own, 4),
    )
    return ModelCardData(
        language=request.language,
        library_name="transformers" if has_pipeline else None,
        pipeline_tag="token-classification" if has_pipeline else None,
        model_name=_title(request),
        eval_results=None if outcome.own is None else [score],
    )


def _title(request: Request) -> str:
    return f"{request.title} for {language_and_code(request.language)}"


def _tuned_on(recipe: Recipe, request: Request) -> str:
    """By its name, without the folders that a file is in."""
    return Path((request.source_labelled if recipe.kind == ZERO_SHOT else request.labelled) or "").name


def _read(recipe: Recipe, request: Request) -> list[str]:
    """The texts that the language was brought in by, with attribution and licence."""
    if recipe.kind not in BRINGING:
        return []
    pairs = f"{len(translated(request).pairs):,} pairs of sentences"
    texts = [f"- {text}" for text in texts_in_words(request)]
    return [f"The language was brought in by {pairs}, which `{RECORD}` names too:", "", *texts, ""]


def _warnings(outcome: Outcome) -> list[str]:
    """What a reader must know of its worth; commands that need the store are on the page of advice alone."""
    lines = [f"**{said}**", ""] if (said := useless(outcome)) else []
    return [*lines, *([better, ""] if (better := better_one(outcome)) else [])]


def _usage(request: Request, has_pipeline: bool) -> list[str]:
    words, format_ = forms_of(request, "test")[0][:EXAMPLE_WORDS], "CoNLL-U" if request.is_conllu else "BIO"
    lines = [
        f"It reads words as the labelled sentences have them, such as `{' '.join(words)}`. In plain text they stand "
        "apart, with a space before a full stop for instance; running text must be tokenised like that first, since "
        f"what sticks to a word is taken for a part of it. Give {format_}, or text in a file named .txt with one "
        "sentence a line:",
        "",
        *_code("sh", [f"babelscope predict . {request.placeholder} -o PREDICTED{request.suffix}  # in this folder"]),
    ]
    if not has_pipeline:
        return lines
    python = [*TAG_WORDS.splitlines(), "", "", f"print(tag({words!r}))"]
    note = (
        "Also in this folder. Of a sentence longer than the model reads, the last words are cut off here (their tags "
        "are None), and tags near them can differ; `babelscope predict` reads all of it."
    )
    return [*lines, "", "In Python, the same tags with transformers alone:", "", *_code("python", python), "", note]


def _code(language: str, lines: Sequence[str]) -> list[str]:
    return [f"```{language}", *lines, "```"]
