"""The tokenizer's files in an encoder's folder: what does not load, or cuts no words, is refused in words."""

import json

import pytest
from transformers import AutoTokenizer

from babelscope.core.errors import EncoderError
from babelscope.encoders.load import load_encoder, save_encoder
from babelscope.encoders.places import locate
from babelscope.encoders.sizes import MOST_ADDED
from command_line import within

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.mark.parametrize("file", ["tokenizer.json", "tokenizer_config.json"])
def test_more_added_tokens_than_load_in_seconds_are_refused(tmp_path, encoder, file):
    save_encoder(encoder, tmp_path)
    held, pieces = json.loads((tmp_path / file).read_text()), len(encoder.tokenizer)
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    added = [{"id": pieces + k, "content": f"<{k}>", **flags} for k in range(MOST_ADDED + 1)]
    if file == "tokenizer.json":
        held["added_tokens"] = added
    else:
        held["added_tokens_decoder"] = {str(token.pop("id")): token for token in added}
    (tmp_path / file).write_text(json.dumps(held))
    for read in (load_encoder, locate):
        with within(10), pytest.raises(EncoderError, match=rf"{file}: 50,001 tokens are added to its pieces, 50,000"):
            read(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("cls_token", "nowhere", "its tokenizer gives the id 90, but there are 90 embeddings"),
        ("pad_token", "nowhere", "its tokenizer gives the id 90, but there are 90 embeddings"),
        ("model_max_length", "x", "cannot load the encoder"),
        ("model_max_length", -1, "no room for text; see model_max_length"),
        ("model_max_length", 2, "no room for text; see model_max_length"),
        ("unk_token", "nowhere", "."),
    ],
)
def test_a_tokenizer_whose_settings_do_not_suit_is_refused_when_it_is_loaded(tmp_path, encoder, name, value, problem):
    save_encoder(encoder, tmp_path)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings | {name: value}))
    with pytest.raises(EncoderError, match=problem):
        load_encoder(tmp_path)


@pytest.mark.parametrize("content", ["[1]", '"x"', "{", "{}", '{"model": {"type": "BPE"}}'])
def test_a_damaged_tokenizer_is_an_encoder_error(tmp_path, encoder, content):
    save_encoder(encoder, tmp_path)
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(EncoderError, match="cannot load the encoder"):
        load_encoder(tmp_path)


def test_a_tokenizer_that_panics_is_an_encoder_that_cannot_be_loaded(encoder, tmp_path, capfd):
    """What is normalised to nothing is found between the bytes of a letter; a panic of Rust is no Exception.

    Nor is what it prints by itself shown beside our error.
    """
    save_encoder(encoder, tmp_path)
    (tmp_path / "added_tokens.json").write_text('{"\\u202e": 5}')
    with pytest.raises(EncoderError, match=r"cannot load the encoder .*: AddedVocabulary bad split"):
        load_encoder(tmp_path)
    assert capfd.readouterr().err == ""


def test_a_tokenizer_that_makes_nothing_of_letters_is_refused(encoder, tmp_path):
    save_encoder(encoder, tmp_path)
    held = json.loads((tmp_path / "tokenizer.json").read_text())
    held["normalizer"] = {"type": "Replace", "pattern": {"Regex": ".*"}, "content": ""}
    (tmp_path / "tokenizer.json").write_text(json.dumps(held))
    with pytest.raises(EncoderError, match=r"makes nothing of a letter; see normalizer in tokenizer\.json"):
        load_encoder(tmp_path)


def test_a_package_that_a_tokenizer_needs_is_named(tmp_path, encoder, monkeypatch):
    def lacking(*given, **options):
        raise ImportError("TheTokenizer requires the SentencePiece library")

    save_encoder(encoder, tmp_path)
    monkeypatch.setattr(AutoTokenizer, "from_pretrained", lacking)
    with pytest.raises(EncoderError, match="requires the SentencePiece library"):
        load_encoder(tmp_path)


def test_a_folder_without_a_tokenizer_is_refused_before_anything_is_computed(tmp_path, encoder):
    """Transformers would make one up, of five special pieces."""
    encoder.model.save_pretrained(tmp_path)
    for refuse in (load_encoder, lambda path: locate(str(path))):
        with pytest.raises(EncoderError, match=r"no tokenizer \(tokenizer.json, vocab.txt.*save_pretrained"):
            refuse(tmp_path)


@pytest.mark.parametrize("file", ["vocab.txt", "tokenizer.json"])
def test_a_tokenizer_needs_pieces_for_words(tmp_path, encoder, file):
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    encoder.model.save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(special), encoding="utf-8")
    if file == "tokenizer.json":
        AutoTokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path)
    with pytest.raises(EncoderError, match="no pieces but special ones"):
        load_encoder(tmp_path)
    (tmp_path / file).unlink()
    (tmp_path / "vocab.txt").write_text("\n".join([*special, "the", "##s"]), encoding="utf-8")
    assert load_encoder(tmp_path).tokenizer.tokenize("thes") == ["the", "##s"]
