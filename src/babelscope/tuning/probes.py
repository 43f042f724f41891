"""What is measured of a model while it is trained, and when: a torch-free declaration."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from pydantic import PositiveInt

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.corpora.codes import known_as
from babelscope.corpora.datasets import Dataset

Quirk = Literal[
    "two-batches", "fresh-masks", "no-attention-mask", "own-tokenizer", "masked-states", "dropout-on", "higher-is-best",
]  # fmt: skip
QUIRKS: dict[Quirk, str] = {
    "two-batches": "perplexity, in selection too, is of 32 sentences that are drawn once: two batches of 16",
    "fresh-masks": "tokens get new masks at every measurement; a tenth of the masked ones becomes a random token, and "
    "a tenth stays",
    "no-attention-mask": "what is measured while training is read in batches of 16 in which padding is attended to",
    "own-tokenizer": "distances are over positions of each encoder's own tokens, special ones included, up to the "
    "length of the shorter; without an attention mask padding counts, too",
    "masked-states": "hidden states of masked sentences are compared; the model's sentences get new masks at every "
    "measurement",
    "dropout-on": "the model in training is compared with dropout on, references without",
    "higher-is-best": "the step with the higher perplexity counts as the better one",
}
"""What a published protocol (Hussain and Dudev) did otherwise than it should, and what each changes. `dropout-on` is as
their paper has it (appendix A.4); their code has none."""

START = "start"
"""What rows call an encoder as it was before it was trained; so no reference can be called it."""


class Corpus(Declaration):
    """Sentences of several data sets taken together."""

    name: str
    data: tuple[Dataset, ...]

    @property
    def languages(self) -> str:
        """Their codes, joined by +."""
        return "+".join(dict.fromkeys(data.code for data in self.data))

    def check_tokenizers(self, encoder: str, brought_in: Collection[str]) -> None:
        """Refuse an encoder that reads some of the corpus with one tokenizer, and some with another.

        Raises:
            InputError: it does.
        """
        own = {known_as(data.code, brought_in) for data in self.data}
        if len(own) > 1:
            raise InputError(
                f"probes of {self.name} ({self.languages}): {encoder} reads {', '.join(sorted(own - {''}))} with a "
                "tokenizer of its own, and tokens of different tokenizers have no mean; give each of these languages a "
                "name of its own"
            )


class Probes(Declaration):
    """Measures on fixed data."""

    every: PositiveInt | None = None
    """Steps from one to the next; None: after 1, 2, 3, 4, 6, 8, 11, 16 ... steps, each a power of the root of 2."""
    perplexity: tuple[Corpus, ...] = ()
    distance: tuple[Corpus, ...] = ()
    """Over whose words the states of each layer are compared: with those at the start, and with reference encoders."""
    scores: tuple[Dataset, ...] = ()
    """What the task is scored on."""
    quirks: tuple[Quirk, ...] = ()
    """Of a published protocol, in what is measured while a model is trained and in the selection of the best step."""

    def due(self, step: int, total: int) -> bool:
        """Whether probes are taken after so many of all steps; before the first and after the last they are."""
        if self.every is not None:
            return step % self.every == 0 or step == total
        return step in (0, total) or any(step == round(2 ** (half / 2)) for half in range(2 * step.bit_length() + 1))
