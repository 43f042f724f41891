"""What to tell of text that is predicted on: its words do not stand apart, or the model does not know them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from babelscope.tasks.design import TaskModel

READ = 1000
"""Sentences or texts, the first ones, that are looked at."""
MANY_UNKNOWN = 0.2
"""Share of words with an unknown part from which on it is told."""


def input_notes(model: TaskModel, inputs: Sequence[Any]) -> Iterator[str]:
    """Of words, texts or pairs of texts; none where there is nothing to mind."""
    yield from _as_words(inputs)
    yield from _unknown(model, inputs)


def _as_words(inputs: Sequence[Any]) -> Iterator[str]:
    """What words are not, as it seems: sentences of one word each; or parts of running text, with its signs."""
    from babelscope.corpora.attached_signs import attached_signs
    from babelscope.corpora.unlabelled import WORD_A_LINE, word_a_line

    if not inputs or not isinstance(inputs[0], list):
        return
    if word_a_line(inputs):
        yield f"every sentence has one word; {WORD_A_LINE}"
    elif found := attached_signs(inputs):
        yield (
            f"{found.number:,} of {found.words:,} words have a sign attached, such as {found.example!r:.50}: separate "
            "signs by spaces, as treebanks do; with its sign a word is one that the model has not seen"
        )


def _unknown(model: TaskModel, inputs: Sequence[Any]) -> Iterator[str]:
    """That many words have a part that the tokenizer does not know; a BiLSTM has none, which reads letters."""
    from babelscope.corpora.spacing import unspaced_script
    from babelscope.encoders.windows import encode_words
    from babelscope.tasks.design import EncoderModel

    sentences = [list(_words(each)) for each in inputs[:READ]]
    if not isinstance(model, EncoderModel) or unspaced_script([" ".join(words) for words in sentences]):
        return
    unknown = encode_words(model.encoder.tokenizer, sentences, max_length=sys.maxsize).unknown
    if len(unknown) and (share := float(unknown.mean())) > MANY_UNKNOWN:
        yield (
            f"{share:.0%} of the words have a part that the tokenizer does not know, so that their labels are hardly "
            "more than guesses; is the text in the language and the script that the model was made for?"
        )


def _words(example: Any) -> Iterator[str]:
    """Of a sentence its words; of a text, or of both of a pair, what stands between spaces."""
    for part in [example] if isinstance(example, str) else example:
        yield from part.split()
