import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from babelscope.core.errors import InputError
from babelscope.encoders.tokenizer import SPECIAL_PIECES, train_wordpiece
from processes import outputs_of

PROGRAM = """
import hashlib, random
from babelscope.encoders.tokenizer import train_wordpiece
chance = random.Random(0)
words = ["".join(chance.choice("abcdefghijклмнопрстуф") for _ in range(chance.randint(1, 8))) for _ in range(500)]
tokenizer = train_wordpiece((" ".join(chance.choices(words, k=9)) + " ." for _ in range(400)), 400)
print(hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest())
"""


def test_every_process_trains_the_same_tokenizer():
    (output,) = outputs_of(PROGRAM, 3)
    assert len(output) == 64


def test_special_pieces_come_first(tokenizer):
    assert tokenizer.convert_ids_to_tokens(range(5)) == list(SPECIAL_PIECES)
    assert (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.mask_token_id) == (0, 1, 4)
    assert tokenizer("the cat")["input_ids"][0] == 2
    assert tokenizer("the cat")["input_ids"][-1] == 3


def test_case_and_accents_stay():
    tokenizer = train_wordpiece(["Élan élan elan"], 40)
    assert len({tuple(tokenizer.tokenize(word)) for word in ("Élan", "élan", "elan")}) == 3


def test_punctuation_has_no_continuation_form(tokenizer):
    assert "." in tokenizer.get_vocab()
    assert "##." not in tokenizer.get_vocab()


def test_saved_tokenizer_is_loaded_again(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    text = "the кот sees some carriestrees ."
    assert again(text)["input_ids"] == tokenizer(text)["input_ids"]
    assert (again.mask_token, again.is_fast) == ("[MASK]", True)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("abcdéжקあ漢. ,", min_size=1, max_size=30), min_size=1, max_size=8))
def test_no_piece_of_the_corpus_is_unknown(texts):
    texts = [text + " a" for text in texts]
    tokenizer = train_wordpiece(texts, 60)
    assert all(tokenizer.unk_token_id not in ids for ids in tokenizer(texts)["input_ids"])
    # Characters may be put together in any way, not only as in the corpus.
    letters = [c for c in "abcdéж" if f"##{c}" in tokenizer.get_vocab()]
    assert tokenizer.unk_token_id not in tokenizer("".join(reversed(letters)) or "a")["input_ids"]


def test_too_small_a_vocabulary_is_refused():
    with pytest.raises(InputError, match=r"vocabulary_size=10 is too small.*need 13"):
        train_wordpiece(["abcd"], 10)
    with pytest.raises(InputError, match="no sentence"):
        train_wordpiece([], 100)
