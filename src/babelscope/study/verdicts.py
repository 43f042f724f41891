"""How well an encoder serves a language that it has never seen: the claims that decide it, and the verdict.

Muller et al. (2021), When Being Unseen from mBERT is just the Beginning, section 4: a language is Easy where the
encoder as it is beats a strong baseline without pre-training, Intermediate where it does so only after learning to
model the language, and Hard where it does not even then.
"""

from __future__ import annotations

from collections.abc import Mapping

from babelscope.core.intervals import Interval

AS_IT_IS, ADAPTED, SCRATCH, BILSTM = "as it is", "adapted", "from scratch", "BiLSTM"
"""The recipes: the encoder as it is; after masked language modelling on the language; one pre-trained on that text
alone; and a BiLSTM that knows nothing but the labelled sentences."""
EASY, INTERMEDIATE, HARD = "Easy", "Intermediate", "Hard"


def above(first: str, second: str) -> str:
    """The claim that one recipe is better than another."""
    return f"{first} above {second}"


def by_letters(recipe: str, permuted: bool = False) -> str:
    """The claim that a recipe is better in other letters, exchanged at random or not, than in the language's own."""
    return f"{'letters exchanged at random' if permuted else 'transliteration'}, {recipe}"


def against_chance(recipe: str) -> str:
    """The claim that transliteration gives a recipe more than letters exchanged at random do."""
    return f"transliteration over letters exchanged at random, {recipe}"


def verdict_of(gains: Mapping[str, Interval]) -> str | None:
    """The verdict from gains by their claims; None where one of the two that decide is not among them.

    They are those over the BiLSTM of the encoder as it is and adapted: `above(AS_IT_IS, BILSTM)`.
    """
    as_it_is, adapted = (gains.get(above(recipe, BILSTM)) for recipe in (AS_IT_IS, ADAPTED))
    return verdict(as_it_is, adapted) if as_it_is and adapted else None


def verdict(as_it_is: Interval, adapted: Interval) -> str:
    """The verdict from the gains over the BiLSTM; undecided between those that the intervals leave open."""
    if as_it_is.sign > 0:
        return EASY
    open_to = {1: [INTERMEDIATE], -1: [HARD], 0: [INTERMEDIATE, HARD]}[adapted.sign]
    if as_it_is.sign == 0:
        open_to = [EASY, *open_to]
    return open_to[0] if len(open_to) == 1 else f"undecided: {' or '.join(open_to)}"
