"""Similarity of sentences that are at hand, by the formulas that studies use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, get_args
from unicodedata import category

from babelscope.core.errors import InputError
from babelscope.core.examples import Pooling
from babelscope.core.words import listed
from babelscope.face.arguments import reading
from babelscope.measures.similarities import SIMILARITIES, check_similarity

_LISTS = "give a list of sentences in their order, such as ['good morning', 'good night']"

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from babelscope.encoders.load import Encoder as LoadedEncoder
    from babelscope.face.encoder import Encoder
    from babelscope.face.tuned import Tuned


def similarity(
    encoder: Encoder | Tuned | LoadedEncoder,
    sentences_a: Iterable[str],
    sentences_b: Iterable[str],
    measure: str = "linear CKA (debiased)",
    pooling: Pooling = "mean",
    languages: tuple[str | None, str | None] = (None, None),
) -> NDArray[np.float64]:
    """How similar an encoder makes parallel sentences of two languages, layer by layer.

    Args:
        encoder: as it is, or tuned.
        sentences_a: of one language.
        sentences_b: their translations, in the same order.
        measure: such as CKA with a linear or Gaussian kernel, or the share of sentences whose nearest is their
            translation (`retrieval`); `babelscope list measures` names all.
        pooling: what stands for a sentence: the mean of its tokens' states, or as `mean-with-special`,
            `mean-with-special-twice`, `weighted` or `first` have it.
        languages: the codes of the two, where they have tokenizers of their own, which are used then; None of others.

    Returns:
        [layers + 1], first the embeddings, then each layer; without the embeddings where the first token stands for a
        sentence, since it is the same in all.

    Raises:
        InputError: there is no such measure or pooling, a sentence is empty, the sentences are not as many, or too few;
            or a language is named without a tokenizer of its own, and others have one.
    """
    import torch

    from babelscope.encoders.given import as_encoder
    from babelscope.encoders.tap import sentence_states
    from babelscope.measures.formulas.states import LanguageStates

    try:
        function = SIMILARITIES[check_similarity(str(measure))]
    except ValueError as error:
        raise InputError(f"{measure!r}: {error}") from None
    if pooling not in get_args(Pooling):
        raise InputError(f"pooling={pooling!r}: there are {listed(get_args(Pooling))}")
    match languages:
        case (str() | None, str() | None):
            pass
        case _:
            raise InputError(
                f"languages={languages!r:.100}: give two codes, None for one that needs none: ('de', None)"
            )
    given_a, given_b = _listed("sentences_a", sentences_a), _listed("sentences_b", sentences_b)
    if len(given_a) != len(given_b):
        raise InputError(f"{len(given_a)} and {len(given_b)} sentences: give each with its translation")
    loaded = as_encoder(encoder)
    threads, lowest = torch.get_num_threads(), 1 if pooling == "first" else 0
    torch.set_num_threads(1)  # as a study's step does: another number changes the last digits
    try:
        first, second = (
            LanguageStates(name, sentence_states(reading(loaded, code), sentences, pooling=pooling)[lowest:])
            for name, code, sentences in (
                ("the first language", languages[0], given_a),
                ("the second language", languages[1], given_b),
            )
        )
        return function(first, second).double().cpu().numpy()
    finally:
        torch.set_num_threads(threads)


def _listed(name: str, sentences: Iterable[str]) -> list[str]:
    """Sentences that can be read, in their order, which sets do not have."""
    if isinstance(sentences, str | bytes | Set | Mapping) or getattr(sentences, "ndim", 1) != 1:
        raise InputError(f"{name}: {_LISTS} (given: {type(sentences).__name__})")
    try:
        given = list(sentences)
    except TypeError:
        raise InputError(f"{name}: {_LISTS} (given: {sentences!r:.100})") from None
    for number, sentence in enumerate(given):
        if not isinstance(sentence, str):
            raise InputError(f"{name}[{number}]: {sentence!r:.100} is no sentence; give texts, such as 'good morning'")
        if all(letter.isspace() or category(letter) in ("Cc", "Cf") for letter in sentence):
            raise InputError(f"{name}[{number}] is empty ({sentence!r:.100}); leave the pair out")
        if any(category(letter) == "Cs" for letter in sentence):
            raise InputError(f"{name}[{number}] is not Unicode text ({sentence!r:.100}); read its file as UTF-8")
    return given
