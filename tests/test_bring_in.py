"""Languages brought into an encoder: what they are read with, and what stays as it was."""

from __future__ import annotations

from dataclasses import replace

import huggingface_hub
import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

import babelscope
from babelscope.core.errors import EncoderError, InputError
from babelscope.core.hashing import folder_digest
from babelscope.encoders.aligned_text import align_pieces
from babelscope.encoders.bring_in import (
    bring_in,
    linked_rows,
    own_pieces,
    random_rows,
    reading_only,
    with_the_rest,
)
from babelscope.encoders.extend import extend_vocabulary
from babelscope.encoders.folder import FILES
from babelscope.encoders.given import given_encoder
from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.encoders.own_vocabulary import own_vocabulary
from babelscope.encoders.pieces import Frame, encode_sentences
from babelscope.encoders.places import locate
from babelscope.encoders.state import names_per_piece, weights_of, with_weights, word_embeddings_name
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.encoders.vocabulary import foreign_pieces, spelled_pieces
from babelscope.encoders.windows import pieces_of_words
from families import DECODERS, FAMILIES
from languages_brought_in import GEORGIAN, cut, states, with_language
from test_own_vocabulary import GERMAN, PUNCTUATION, kind_with_marks
from tokenizer_kinds import KINDS, LATIN, kinds, made


def rows_by_piece(encoder: Encoder, language: str, first: int) -> dict[str, torch.Tensor]:
    """The word embeddings of a language's own pieces, by their spelling."""
    table = weights_of(encoder)[word_embeddings_name(encoder)]
    vocabulary = encoder.reading(language).tokenizer.get_vocab()
    return {piece: table[k] for piece, k in vocabulary.items() if k >= first and not piece.startswith(" ")}


@kinds
def test_either_order_gives_each_language_the_same_rows_and_segmentation(kind):
    encoder = kind_with_marks(kind)
    first = len(weights_of(encoder)[word_embeddings_name(encoder)])
    one = with_language(with_language(encoder, "de", GERMAN), "ka", GEORGIAN)
    other = with_language(with_language(encoder, "ka", GEORGIAN), "de", GERMAN)
    assert list(one.languages) != list(other.languages)
    for language, lines in (("de", GERMAN), ("ka", GEORGIAN)):
        for line in [*lines, *LATIN, *PUNCTUATION]:
            assert cut(one, language, line) == cut(other, language, line)
            assert torch.equal(states(one.reading(language), line), states(other.reading(language), line))
        rows, again = rows_by_piece(one, language, first), rows_by_piece(other, language, first)
        assert rows.keys() == again.keys() and all(torch.equal(rows[piece], again[piece]) for piece in rows)


@kinds
def test_it_is_saved_and_loaded_again(kind, tmp_path):
    encoder = with_language(with_language(kind_with_marks(kind), "de", GERMAN), "zh-CN", GEORGIAN)
    encoder.reading("de").tokenizer(["a", "die katze"], truncation=True, max_length=5, padding=True)
    save_encoder(encoder, tmp_path / "both")
    assert "\n" not in (tmp_path / "both" / "languages" / "de" / "tokenizer.json").read_text(encoding="utf-8")
    again = load_encoder(tmp_path / "both")
    assert again.languages["de"].backend_tokenizer.truncation is None
    assert list(again.languages) == ["de", "zh-CN"]
    for language in ("en", "de", "zh-CN"):
        assert again.reading(language).max_length == encoder.reading(language).max_length
        for line in [*GERMAN, *GEORGIAN, *PUNCTUATION]:
            assert torch.equal(states(again.reading(language), line), states(encoder.reading(language), line))
    assert locate(str(tmp_path / "both")).content != folder_digest(tmp_path / "both", FILES[:-1])


def test_fillers_are_no_pieces(encoder):
    spelled = spelled_pieces(with_language(encoder, "de", GERMAN).reading("de").tokenizer)
    assert spelled[encoder.tokenizer.convert_tokens_to_ids("cat")] == ""
    assert "katze" in spelled and not any(piece.startswith(" ") for piece in spelled)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_was_there_stays_to_the_last_bit(family):
    before = made(train_wordpiece(LATIN, 46), family)
    weights = {name: weight.clone() for name, weight in weights_of(before).items()}
    after = with_language(with_language(before, "ka", GEORGIAN), "de", GERMAN)
    assert before.languages == {} and set(after.languages) == {"ka", "de"}
    for name, weight in weights_of(after).items():
        assert torch.equal(weight[: len(weights[name])], weights[name]), name
        assert (len(weight) > len(weights[name])) == (name in names_per_piece(before)), name
    assert len(names_per_piece(before)) == (1 if family in DECODERS else 2)
    for line in LATIN:
        assert torch.equal(states(after, line), states(before, line))
        assert torch.equal(states(after.reading("en"), line), states(before, line))
        assert not torch.equal(states(after.reading("ka"), GEORGIAN[0]), states(before, GEORGIAN[0])[:, :1])


@pytest.mark.parametrize("family", DECODERS)
def test_a_decoder_reads_a_language_by_its_links(family):
    """Nothing is around its texts, and it may have more rows than pieces."""
    tokenizer = KINDS["BPE of Llama" if family == "llama" else "BPE"]()
    before = made(tokenizer, family, vocabulary=len(tokenizer) + 5, max_position_embeddings=90)
    own = own_vocabulary(before, GERMAN, 60)
    first, count = before.model.config.vocab_size, len(own_pieces(before, own))
    pairs = list(zip(LATIN * 2, GERMAN, strict=True))
    links = align_pieces(tokenizer, own, pairs).counts(first, count)
    assert links.sum() > 10
    after = bring_in(before, {"de": own}, linked_rows(before, links))
    assert own.pad_token_id == tokenizer.pad_token_id and len(Frame.of(own)) == len(Frame.of(tokenizer)) == 0
    reader = after.reading("de")
    lines = [GERMAN[0], "ein vogel"]
    pieces, _ = encode_sentences(own, lines, reader.max_length)
    batch = pieces.batch(np.arange(2))
    assert batch.ids.max() >= first
    with torch.no_grad():
        padded = reader.backbone(input_ids=batch.ids, attention_mask=batch.attention_mask).last_hidden_state
    for line, row, real in zip(lines, padded, batch.real, strict=True):
        torch.testing.assert_close(row[real], states(reader, line)[0])
    assert pieces_of_words(own, [GERMAN[0].split()])[0][0] == own("die", add_special_tokens=False)["input_ids"]


def test_a_tokenizer_of_a_language_counts_as_content(tmp_path, encoder):
    save_encoder(with_language(with_language(encoder, "de", GERMAN), "ka", GEORGIAN), tmp_path)
    content = locate(str(tmp_path)).content
    for language in ("de", "ka"):
        file = tmp_path / "languages" / language / "tokenizer.json"
        written = file.read_bytes()
        file.write_bytes(written + b"\n")
        assert locate(str(tmp_path)).content != content
        file.write_bytes(written)
    assert locate(str(tmp_path)).content == content


def test_a_language_is_read_by_any_code_of_it_in_its_script(encoder):
    german = with_language(encoder, "de", GERMAN)
    for code in ("deu", "de-AT"):
        assert german.reading(code).tokenizer is german.languages["de"]
        assert reading_only(german, [code]).languages == german.languages
    assert german.reading("nds") is german and reading_only(german, ["nds"]).languages == {}
    with pytest.raises(InputError, match="reads de already"):
        bring_in(german, {"deu": german.languages["de"]}, {})


def test_without_languages_nothing_else_is_written(tmp_path, encoder):
    save_encoder(encoder, tmp_path)
    assert not any(path.is_dir() for path in tmp_path.iterdir())
    assert load_encoder(tmp_path).languages == {}
    assert encoder.reading("de") is encoder


def test_tokenizers_of_languages_that_are_missing_are_not_passed_over(tmp_path, encoder, monkeypatch):
    """In a folder, and of a name on the hub as it is kept here."""
    kept, commit = tmp_path / "models--somebody--german", "a" * 40
    folder = kept / "snapshots" / commit
    save_encoder(with_language(encoder, "de", GERMAN), folder)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(commit)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    for source in ("somebody/german", folder):
        again = load_encoder(source)
        assert again.languages["de"].tokenize(GERMAN[0]) == cut(load_encoder(folder), "de", GERMAN[0])
        assert not hasattr(again.model.config, "babelscope_languages")
    (folder / "languages").rename(tmp_path / "languages")
    for source in ("somebody/german", folder):
        with pytest.raises(
            EncoderError, match=r"(german|a{40}): de is .* languages/de/tokenizer.json is missing.*upload"
        ):
            load_encoder(source)
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    save_encoder(given_encoder(model, tokenizer, "without"), tmp_path / "without")
    assert load_encoder(tmp_path / "without").languages == {}


def test_a_tokenizer_of_another_encoder_is_refused_when_it_is_read(tmp_path, encoder):
    save_encoder(with_language(encoder, "de", GERMAN), tmp_path / "more")
    save_encoder(encoder, tmp_path / "less")
    (tmp_path / "more" / "languages").rename(tmp_path / "less" / "languages")
    with pytest.raises(EncoderError, match=r"languages/de: its tokenizer has \d+ ids, but the encoder has embeddings"):
        load_encoder(tmp_path / "less")


def test_copies_keep_languages_and_a_new_tokenizer_has_none(encoder, other_tokenizer):
    german = with_language(encoder, "de", GERMAN)
    assert with_weights(german, weights_of(german)).languages == german.languages
    assert with_weights(german, weights_of(german), tokenizer=other_tokenizer).languages == {}
    assert replace(german, name="another").reading("de").tokenizer is german.languages["de"]


def test_a_given_encoder_keeps_its_languages_but_not_with_another_tokenizer(encoder, other_tokenizer, store):
    german = with_language(encoder, "de", GERMAN)
    kept = babelscope.load(german, name="mine", store=store).build()
    line = GERMAN[0]
    assert torch.equal(states(kept.reading("de"), line), states(german.reading("de"), line))
    assert babelscope.load(german, other_tokenizer, name="other", store=store).build().languages == {}


@pytest.mark.parametrize("read", [["en"], ["de"], ["ka"], ["en", "ka"], ["de", "ka"]])
def test_a_training_changes_the_embeddings_of_what_it_reads_alone(read):
    """Weight decay shrinks all embeddings that a training has, also those that no text of it can have."""
    whole = with_language(with_language(kind_with_marks("BPE"), "de", GERMAN), "ka", GEORGIAN)
    part = reading_only(whole, read)
    ends = {code: max(tokenizer.get_vocab().values()) + 1 for code, tokenizer in whole.languages.items()}
    size = max([ends["de"] - len(own_of(whole, "de")), *(ends[code] for code in read if code in ends)])
    assert part.model.config.vocab_size == size
    assert list(part.languages) == [code for code, end in ends.items() if end <= size]
    halved = with_weights(part, {name: weight / 2 for name, weight in weights_of(part).items()})
    after = with_the_rest(halved, whole, read)
    seen = {number for code in read for number in pieces_of(whole.reading(code))}
    unseen = {number for code in ("en", "de", "ka") for number in pieces_of(whole.reading(code))} - seen
    for name, weight in weights_of(after).items():
        before = weights_of(whole)[name]
        if name not in names_per_piece(whole):
            assert torch.equal(weight, before / 2), name
            continue
        assert torch.equal(weight[sorted(seen)], before[sorted(seen)] / 2)
        assert torch.equal(weight[sorted(unseen)], before[sorted(unseen)])


def own_of(encoder: Encoder, language: str) -> set[int]:
    """The ids of the pieces that a language alone has."""
    others = (encoder.tokenizer, *(each for code, each in encoder.languages.items() if code != language))
    return pieces_of(encoder.reading(language)) - {k for other in others for k in pieces_of_tokenizer(other)}


def pieces_of(encoder: Encoder) -> set[int]:
    return pieces_of_tokenizer(encoder.tokenizer)


def pieces_of_tokenizer(tokenizer) -> set[int]:
    """The ids that are no fillers, by how they are spelled."""
    return {number for number, piece in enumerate(spelled_pieces(tokenizer)) if piece}


def test_what_is_read_first_may_come_after_a_language_that_is_not_read():
    """As in the folder of a tuned model that a language was brought into."""
    german = with_language(kind_with_marks("BPE"), "de", GERMAN)
    turned = replace(german, tokenizer=german.languages["de"], languages={"en": german.tokenizer})
    part = reading_only(turned, ["de"])
    assert list(part.languages) == ["en"]
    assert torch.equal(foreign_pieces(part), foreign_pieces(german.reading("de")))


def test_what_cannot_be_brought_in_is_refused(encoder):
    german = with_language(encoder, "de", GERMAN)
    tokenizer = german.languages["de"]
    rows = random_rows(encoder, len(own_pieces(encoder, tokenizer)), 0, "de")
    with pytest.raises(InputError, match="reads de already"):
        bring_in(german, {"de": tokenizer}, rows)
    with pytest.raises(InputError, match=r"own ids do not follow the \d+ embeddings of tiny"):
        bring_in(german, {"nl": tokenizer}, rows)
    with pytest.raises(InputError, match=r"'\.\./nl' is no code of a language"):
        bring_in(encoder, {"../nl": tokenizer}, rows)
    with pytest.raises(InputError, match="2 words of text give no piece"):
        own_vocabulary(encoder, ["ab cd"])
    with pytest.raises(InputError, match=r"vocabularies of their own \(de\)"):
        extend_vocabulary(german, GEORGIAN, 5)
