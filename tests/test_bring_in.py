"""Languages brought into an encoder: the rows of their own vocabularies, and what stays as it was."""

from __future__ import annotations

from dataclasses import replace

import huggingface_hub
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from transformers import AutoModel, AutoTokenizer

import babelscope
from babelscope.core.errors import EncoderError, InputError
from babelscope.core.hashing import folder_digest
from babelscope.encoders.aligned_text import AlignedLanguage, align_pieces
from babelscope.encoders.bring_in import (
    bring_in,
    linked_rows,
    own_pieces,
    random_rows,
    reading_only,
    spelled_rows,
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
from test_own_vocabulary import GERMAN, PUNCTUATION, kind_with_marks
from tokenizer_kinds import GEORGIAN as ONCE
from tokenizer_kinds import KINDS, LATIN, WITH_BYTES, kinds, made

GEORGIAN = ONCE * 2


def with_language(encoder: Encoder, language: str, lines: list[str]) -> Encoder:
    tokenizer = own_vocabulary(encoder, lines, 60)
    return bring_in(
        encoder, {language: tokenizer}, random_rows(encoder, len(own_pieces(encoder, tokenizer)), 3, language)
    )


def states(encoder: Encoder, line: str) -> torch.Tensor:
    with torch.no_grad():
        ids = torch.tensor([encoder.tokenizer(line)["input_ids"]])
        return encoder.backbone(input_ids=ids).last_hidden_state


def cut(encoder: Encoder, language: str, line: str) -> list[str]:
    return encoder.reading(language).tokenizer.tokenize(line)


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


ONE_PIECE_WORDS = made(train_wordpiece(LATIN * 3, 300), tie_word_embeddings=False)
"""An encoder that has a piece for each word of `LATIN`."""
WORDS = sorted({*" ".join(LATIN).split()})


def foreign(word: str) -> str:
    """In letters that the encoder does not have."""
    return word.translate({ord(letter): ord(letter) + 0x1000 for letter in word})


@settings(max_examples=15)
@given(st.permutations(WORDS), st.randoms(use_true_random=False))
def test_gold_links_of_one_piece_words_give_the_embeddings_of_translations(translations, random):
    """From sentences to rows, with any lexicon that is one to one, translations in any order, and no shrinkage."""
    encoder, lexicon = ONE_PIECE_WORDS, dict(zip(WORDS, map(foreign, translations), strict=True))
    pairs, links = [], []
    for line in LATIN * 3:
        words = line.split()
        order = random.sample(range(len(words)), len(words))
        pairs.append((line, " ".join(lexicon[words[k]] for k in order)))
        links.append([(k, place) for place, k in enumerate(order)])
    language = AlignedLanguage.learned(encoder, pairs, 300, links=links)
    rows = linked_rows(encoder, language.counts(encoder), shrinkage=0)
    after = bring_in(encoder, {"xx": language.tokenizer}, rows)
    for word, translation in lexicon.items():
        assert encoder.tokenizer.tokenize(word) == [word] and language.tokenizer.tokenize(translation) == [translation]
    assert len(names_per_piece(encoder)) == 4
    for name in names_per_piece(encoder):
        table = weights_of(after)[name]
        old, new = encoder.tokenizer.convert_tokens_to_ids(WORDS), list(lexicon.values())
        own = language.tokenizer.convert_tokens_to_ids(new)
        torch.testing.assert_close(table[own], table[old], rtol=0, atol=1e-6)
    for line in LATIN:
        translated = " ".join(lexicon[word] for word in line.split())
        torch.testing.assert_close(states(after.reading("xx"), translated), states(after, line))


WEIGHTS = st.sampled_from([0.0, 0.0, 0.02, 0.5, 1.0, 30.0])


@settings(max_examples=30)
@given(st.lists(st.lists(WEIGHTS, min_size=6, max_size=6), min_size=1, max_size=4), st.sampled_from([0.0, 0.3, 1.0]))
def test_linked_rows_are_shrunk_means_as_long_as_what_they_are_means_of(links, shrinkage):
    """The oracle: loops over links."""
    encoder = made(KINDS["lower-case WordPiece"](), tie_word_embeddings=False)
    made_rows = linked_rows(encoder, csr_array(np.asarray(links)), shrinkage)
    ordinary = [k for k in range(len(encoder.tokenizer)) if k not in encoder.tokenizer.all_special_ids]
    for name in names_per_piece(encoder):
        table = weights_of(encoder)[name].double().numpy()
        for weights, row in zip(links, made_rows[name].numpy(), strict=True):
            terms = [(weight, table[k]) for k, weight in enumerate(weights)]
            terms += [(shrinkage / len(ordinary), table[k]) for k in ordinary]
            if not sum(weight for weight, _ in terms):
                terms = [(1 / len(ordinary), table[k]) for k in ordinary]
            total = sum(weight for weight, _ in terms)
            mean = sum(weight * vector for weight, vector in terms) / total
            if table.ndim == 2:
                length = sum(weight * sum(vector**2) ** 0.5 for weight, vector in terms) / total
                mean = mean / sum(mean**2) ** 0.5 * length
            np.testing.assert_allclose(row, mean, rtol=1e-4, atol=1e-6)


def test_spelled_rows_are_means_of_what_the_encoder_makes_of_the_spelling():
    encoder = made(train_wordpiece([*LATIN, "unter"], 46))
    tokenizer = own_vocabulary(encoder, ["thebird thebird xthebird xthebird ჩიტს ჩიტს"], 60)
    rows = spelled_rows(encoder, tokenizer)
    pieces, ids = own_pieces(encoder, tokenizer), encoder.tokenizer.get_vocab()
    for name in names_per_piece(encoder):
        table = weights_of(encoder)[name]
        expected = {
            "thebird": table[encoder.tokenizer("thebird", add_special_tokens=False)["input_ids"]].mean(0),
            "##t": table[ids["##t"]],
            "ჩიტს": table[sorted(set(ids.values()) - set(encoder.tokenizer.all_special_ids))].mean(0),
        }
        for piece, row in expected.items():
            torch.testing.assert_close(rows[name][pieces.index(piece)], row)


@pytest.mark.parametrize("kind", ["Unigram", *WITH_BYTES])
def test_what_is_spelled_begins_a_word_only_where_the_piece_does(kind):
    encoder = made(KINDS[kind]())
    tokenizer = own_vocabulary(encoder, ["a the a the the"], 30)
    table, pieces = weights_of(encoder)[word_embeddings_name(encoder)], own_pieces(encoder, tokenizer)
    rows = spelled_rows(encoder, tokenizer)[word_embeddings_name(encoder)]
    for piece, spelled in (
        ("▁the", encoder.tokenizer.tokenize("a the")[len(encoder.tokenizer.tokenize("a")) :]),
        ("e", ["e"]),
    ):
        expected = table[encoder.tokenizer.convert_tokens_to_ids(spelled)].mean(0)
        torch.testing.assert_close(rows[pieces.index(piece)], expected)


def test_what_is_spelled_is_first_normalised():
    encoder = made(KINDS["lower-case WordPiece"]())
    tokenizer = own_vocabulary(encoder, ["mögen mögen", "xögen xögen"], 30)
    table, pieces = weights_of(encoder)[word_embeddings_name(encoder)], own_pieces(encoder, tokenizer)
    rows = spelled_rows(encoder, tokenizer)[word_embeddings_name(encoder)]
    for piece, letters in (("mögen", ["m", "##o", "##g", "##e", "##n"]), ("##ö", ["##o"])):
        expected = table[encoder.tokenizer.convert_tokens_to_ids(letters)].mean(0)
        torch.testing.assert_close(rows[pieces.index(piece)], expected)


def test_random_rows_have_mean_and_covariance_of_the_encoders():
    encoder = made(train_wordpiece(LATIN, 60))
    rows = random_rows(encoder, 40_000, 3, "de")
    ordinary = sorted(set(encoder.tokenizer.get_vocab().values()) - set(encoder.tokenizer.all_special_ids))
    for name in names_per_piece(encoder):
        table = weights_of(encoder)[name][ordinary].reshape(len(ordinary), -1)
        drawn = rows[name].reshape(40_000, -1)
        deviation = table.std(0).max()
        torch.testing.assert_close(drawn.mean(0), table.mean(0), rtol=0, atol=0.03 * deviation)
        torch.testing.assert_close(drawn.T.cov(), table.T.cov(), rtol=0, atol=0.05 * deviation**2)
    again, other, elsewhere = (random_rows(encoder, 9, *chosen) for chosen in ((3, "de"), (4, "de"), (3, "ka")))
    for name, row in random_rows(encoder, 9, 3, "de").items():
        assert torch.equal(row, again[name])
        assert not torch.equal(row, other[name]) and not torch.equal(row, elsewhere[name])


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
