"""Vocabularies of languages' own beside an encoder's: what they learn, and what they share with it."""

from __future__ import annotations

import pytest
from transformers import BertTokenizer

from babelscope.encoders.bring_in import own_pieces
from babelscope.encoders.extend import extend_vocabulary
from babelscope.encoders.load import Encoder
from babelscope.encoders.own_vocabulary import own_vocabulary
from babelscope.encoders.segmenter import Segmenter
from babelscope.encoders.state import weights_of, word_embeddings_name
from babelscope.encoders.vocabulary import without_letters
from families import gemma_tokenizer
from processes import outputs_of
from tokenizer_kinds import FAMILY_OF, KINDS, LATIN, WITH_BYTES, kinds, made

GERMAN = ["die alte katze sieht einen kleinen vogel", "ein vogel mag die alte katze", "der baum , 42 the vogel ."] * 2
PUNCTUATION = ["a bird , a bird , 42 42 ( the tree ) !"] * 3


def kind_with_marks(kind: str) -> Encoder:
    """An encoder whose vocabulary has punctuation and numbers, too."""
    return extend_vocabulary(made(KINDS[kind](), FAMILY_OF[kind], max_position_embeddings=90), PUNCTUATION, 30)


@kinds
def test_pieces_with_letters_are_the_languages_own_and_no_others(kind):
    encoder = kind_with_marks(kind)
    tokenizer = own_vocabulary(encoder, [*GERMAN, *PUNCTUATION], 60)
    first, old = len(weights_of(encoder)[word_embeddings_name(encoder)]), encoder.tokenizer.get_vocab()
    pieces = tokenizer.convert_ids_to_tokens(
        tokenizer("die katze , 42 the bird ( )", add_special_tokens=False)["input_ids"]
    )
    numbers = dict(zip(pieces, tokenizer.convert_tokens_to_ids(pieces), strict=True))
    for piece, number in numbers.items():
        if not any(character.isalpha() and character != "Ġ" for character in piece):
            assert number == old[piece], piece
        elif kind != "BPE" or len(piece) > 1:
            assert number >= first, piece
    assert sum(number >= first for number in numbers.values()) >= 3
    assert {piece for piece in numbers if "4" in piece} <= set(old)


@kinds
def test_special_pieces_frame_and_roles_are_the_encoders(kind):
    encoder = kind_with_marks(kind)
    tokenizer = own_vocabulary(encoder, GERMAN, 60)
    assert tokenizer.special_tokens_map == encoder.tokenizer.special_tokens_map
    assert tokenizer.all_special_ids == encoder.tokenizer.all_special_ids
    assert tokenizer.model_max_length == encoder.tokenizer.model_max_length
    assert tokenizer("")["input_ids"] == encoder.tokenizer("")["input_ids"]
    assert tokenizer("42 ,")["input_ids"] == encoder.tokenizer("42 ,")["input_ids"]
    assert tokenizer("die katze")["input_ids"] != encoder.tokenizer("die katze")["input_ids"]


def test_letters_that_the_text_lacks_are_the_encoders():
    encoder = made(KINDS["lower-case WordPiece"]())
    tokenizer = own_vocabulary(encoder, ["კატა კატა abba abba"], 40)
    assert tokenizer("x xa")["input_ids"][1] == encoder.tokenizer.convert_tokens_to_ids("x")
    assert tokenizer.convert_tokens_to_ids("a") != encoder.tokenizer.convert_tokens_to_ids("a")
    assert tokenizer.unk_token_id not in tokenizer("x xa კატა")["input_ids"]


@pytest.mark.parametrize("kind", WITH_BYTES)
def test_bytes_are_of_every_language(kind):
    encoder = kind_with_marks(kind)
    tokenizer = own_vocabulary(encoder, ["კატა კატა ხე ხე"], 40)
    first = encoder.model.config.vocab_size
    rare, learned = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("კжხ", "კატა ხე"))
    assert [number for number in rare if number < first][-2:] == encoder.tokenizer("ж", add_special_tokens=False)[
        "input_ids"
    ][-2:]
    assert tokenizer.decode(rare) == "კжხ" and min(learned) >= first


def test_an_added_piece_that_pairs_of_letters_make_stays():
    tokenizer = gemma_tokenizer(LATIN * 3, 320)
    whole = next(a + b for a, b in Segmenter.of(tokenizer).merges if len(a + b) > 2 and (a + b).isalpha())
    tokenizer.add_tokens([whole])
    own = own_vocabulary(made(tokenizer), GERMAN, 60)
    assert own.convert_tokens_to_ids(whole) == tokenizer.convert_tokens_to_ids(whole)
    assert own.tokenize(f"die {whole}")[-1] == whole


def test_accents_stay_unless_they_are_not_wanted():
    letters = [*"abelnrgzüö"]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    encoder = made(BertTokenizer(vocab={piece: number for number, piece in enumerate(pieces)}, do_lower_case=True))
    lines = ["Für Größe für Größe"]
    assert own_vocabulary(encoder, lines, 30).tokenize("FÜR größe") == ["für", "größe"]
    assert own_vocabulary(encoder, lines, 30, keep_accents=False).tokenize("FÜR größe") == ["fur", "große"]
    assert encoder.tokenizer.tokenize("Ü") == ["[UNK]"], "the encoder's own tokenizer is left as it is"


def test_how_many_pieces_follows_from_the_text_where_no_number_is_given(encoder):
    words = [f"{a}{b}{c}" for a in "bdfgklmnprstvz" for b in "aeiou" for c in "bdfgklmnprstvz" for _ in range(3)]
    few, many = words[:300], [f"{one}{two}" for one in words for two in words[:9]] * 2
    assert len(own_pieces(encoder, own_vocabulary(encoder, [" ".join(few)]))) <= 1000
    by_words = len(many) // 20
    assert 1000 < by_words < 5000
    assert len(own_pieces(encoder, own_vocabulary(encoder, [" ".join(many)]))) == by_words


def test_marks_of_letters_belong_to_letters():
    vowel_sign = "\u0947"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a", "7", "##7", "##,", "1a", "क", f"##{vowel_sign}"]
    tokenizer = BertTokenizer(vocab={piece: number for number, piece in enumerate(pieces)}, do_lower_case=True)
    assert without_letters(tokenizer) == {"7", "##7", "##,"}
    byte_level = KINDS["BPE"]()
    found = without_letters(byte_level)
    assert {"Ġ", "Ð", "°", "7", ","} <= found and not {"a", "the", "Ġthe"} & found


PROGRAM = """
import hashlib, random
from babelscope.encoders.own_vocabulary import own_vocabulary
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.encoders.tokenizer import train_wordpiece
chance = random.Random(0)
words = ["".join(chance.choice("abcdefghijклмноп") for _ in range(chance.randint(1, 8))) for _ in range(300)]
shape = Shape(hidden=32, layers=1, heads=2, feed_forward=32, positions=24)
encoder = new_encoder(shape, train_wordpiece(["abcdefghij"] * 3 + words[:20], 90), seed=0, name="tiny")
lines = [" ".join(chance.choices(words, k=9)) + " ." for _ in range(300)]
print(hashlib.sha256(own_vocabulary(encoder, lines, 200).backend_tokenizer.to_str().encode()).hexdigest())
"""


def test_every_process_learns_the_same_vocabulary():
    (output,) = outputs_of(PROGRAM, 2)
    assert len(output) == 64
