"""How well an encoder serves a language that it has never seen: the claims that decide it, and the verdict.

Muller et al. (2021), When Being Unseen from mBERT is just the Beginning, section 4: a language is Easy where the
encoder as it is beats a strong baseline without pre-training, Intermediate where it does so only after learning to
model the language, and Hard where it does not even then.
"""

from __future__ import annotations

from collections.abc import Mapping

AS_IT_IS, ADAPTED, SCRATCH, BILSTM = "as it is", "adapted", "from scratch", "BiLSTM"
"""The recipes: the encoder as it is; after masked language modelling on the language; one pre-trained on that text
alone; and a BiLSTM that knows nothing but the labelled sentences."""
EASY, INTERMEDIATE, HARD = "Easy", "Intermediate", "Hard"
TOO_FEW = "not enough seeds to say"


def brought_in_by(pairs: int) -> str:
    """The recipe that brings a language into the encoder by so many translated sentences."""
    return f"brought in by {pairs:,} pairs"


def above(first: str, second: str) -> str:
    """The claim that one recipe is better than another."""
    return f"{first} above {second}"


def by_letters(recipe: str, permuted: bool = False) -> str:
    """The claim that a recipe is better in other letters, exchanged at random or not, than in the language's own."""
    return f"{'letters exchanged at random' if permuted else 'transliteration'}, {recipe}"


def against_chance(recipe: str) -> str:
    """The claim that transliteration gives a recipe more than letters exchanged at random do."""
    return f"transliteration over letters exchanged at random, {recipe}"


def verdict_of(signs: Mapping[str, int | None]) -> str | None:
    """The verdict from what gains show, by their claims; None where one of the two that decide is not among them.

    They are those over the BiLSTM of the encoder as it is and adapted: `above(AS_IT_IS, BILSTM)`. A sign is 1 where a
    gain shows, -1 where a loss does, 0 where neither does, and None where there are too few seeds to say.
    """
    claims = [above(recipe, BILSTM) for recipe in (AS_IT_IS, ADAPTED)]
    if not set(claims) <= signs.keys():
        return None
    as_it_is, adapted = (signs[claim] for claim in claims)
    return TOO_FEW if as_it_is is None or adapted is None else verdict(as_it_is, adapted)


def verdict(as_it_is: int, adapted: int) -> str:
    """The verdict from the signs of the gains over the BiLSTM; undecided between those that they leave open."""
    if as_it_is > 0:
        return EASY
    open_to = {1: [INTERMEDIATE], -1: [HARD], 0: [INTERMEDIATE, HARD]}[adapted]
    if as_it_is == 0:
        open_to = [EASY, *open_to]
    return open_to[0] if len(open_to) == 1 else f"undecided: {' or '.join(open_to)}"
