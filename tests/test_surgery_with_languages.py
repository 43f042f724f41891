"""Operations on encoders that read languages with tokenizers of their own."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from babelscope.core.errors import InputError
from babelscope.encoders.load import load_encoder, save_encoder
from babelscope.encoders.state import weights_of, word_embeddings_name
from babelscope.encoders.tap import sentence_states
from babelscope.encoders.vocabulary import spelled_pieces
from babelscope.surgery import Operation, apply
from babelscope.world import World
from test_reading import bilingual, plain  # noqa: F401

LANGUAGES = ("qaa", "qab", "qah")
ARGUMENTS = {"drop": ["drop:last=1"], "rescale": ["rescale"], "reinit": ["reinit:part=head", "reinit"]}
KEPT = [text for kind in sorted(Operation.kinds) for text in ARGUMENTS.get(kind, [kind])]
KEPT = [text for text in KEPT if text not in ("graft", "transplant")]
lines = {language: World().text(language, 6) for language in LANGUAGES}


@pytest.mark.parametrize("text", KEPT)
def test_languages_stay_also_in_the_folder(text, bilingual, tmp_path):  # noqa: F811
    operated = apply(bilingual, text, 3)
    save_encoder(operated, tmp_path / "operated")
    again = load_encoder(tmp_path / "operated")
    assert list(again.languages) == ["qab", "qah"]
    for language in LANGUAGES:
        assert operated.reading(language).tokenizer is bilingual.reading(language).tokenizer
        states = sentence_states(operated.reading(language), lines[language])
        assert torch.equal(states, sentence_states(again.reading(language), lines[language]))


@pytest.mark.parametrize("text", ["reverse", "drop:last=1", "permute:order=1+0", "repeat", "shuffle"])
def test_what_is_not_random_or_draws_by_token_is_for_others_as_without_languages(text, plain, bilingual):  # noqa: F811
    before, after = (sentence_states(apply(one, text, 3), lines["qaa"]) for one in (plain, bilingual))
    assert torch.equal(before, after)


def test_own_tokens_change_places_among_those_of_their_language_and_class(bilingual):  # noqa: F811
    name = word_embeddings_name(bilingual)
    table, shuffled = (weights_of(one)[name] for one in (bilingual, apply(bilingual, "shuffle", 3)))
    place = {tuple(row.tolist()): number for number, row in enumerate(table)}
    came_from = [place[tuple(row.tolist())] for row in shuffled]
    group = {}
    for language in LANGUAGES:
        pieces = spelled_pieces(bilingual.reading(language).tokenizer)
        for number, piece in enumerate(pieces):
            if piece and number not in group:
                latin = piece.removeprefix("##").isascii() and piece.removeprefix("##").isalpha()
                group[number] = (language, latin)
    assert all(group.get(number) == group.get(source) for number, source in enumerate(came_from))
    moved = Counter(group[number][0] for number, source in enumerate(came_from) if number != source)
    assert min(moved[language] for language in LANGUAGES) > 20


def test_a_donor_of_a_part_may_be_the_same_with_languages(bilingual):  # noqa: F811
    other = apply(bilingual, "reinit", 4)
    grafted = apply(other, "graft:donor=whole,part=word-embeddings", 0, {"whole": bilingual})
    name = word_embeddings_name(bilingual)
    assert torch.equal(weights_of(grafted)[name], weights_of(bilingual)[name]) and len(grafted.languages) == 2


@pytest.mark.parametrize("rows", ["donor", "overlap"])
def test_another_vocabulary_is_refused(rows, plain, bilingual):  # noqa: F811
    text = f"transplant:donor=other,rows={rows}"
    for encoder, donor in ((bilingual, plain), (plain, bilingual)):
        with pytest.raises(InputError, match=r"reads qab, qah with tokenizers of their own.*first, then bring"):
            apply(encoder, text, 0, {"other": donor})
