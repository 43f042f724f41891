"""What advice says of a language: its name, its letters, its nearest, and what is published of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from transformers import PreTrainedTokenizerFast

from babelscope.advise import facts
from babelscope.advise.facts import Fact, published, stripped
from babelscope.advise.page import seen_section
from babelscope.advise.raw import code_notes
from babelscope.core.languages import language_name
from babelscope.measures.formulas.overlap import Coverage


def fact(unknown, letters=None, nearest=()):
    return Fact("world-natural", letters, Coverage(9, unknown, 2.0, 1.0), list(nearest), True, False)


def test_an_encoder_that_does_not_know_the_letters_is_said_not_to():
    section = seen_section({"Grek": 1.0}, [fact(0.9), fact(0.8, "world")], [], [])
    assert "world-natural cannot read this text: 80% of the words" in section.findings[-1]
    assert [line[-1].text for line in section.tables[0].lines] == ["too few known subwords to say"] * 2
    latin = fact(0.1, "world", [("mt", 0.5), ("afr", 0.25), ("qab", 0.2)])
    section = seen_section({"Grek": 1.0}, [fact(0.9), latin], [], [])
    assert not any("does not know" in said for said in section.findings)
    assert section.tables[0].lines[1][-1].text == "Maltese 50%, Afrikaans 25%, qab (near) 20%"


def test_letters_that_lose_their_accents_are_named():
    """By an uncased BERT's tokenizer; a letter that is none without its sign stays, and so does all in a cased one."""
    plain, bert = Tokenizer(WordPiece({"[UNK]": 0})), Tokenizer(WordPiece({"[UNK]": 0}))
    bert.normalizer = BertNormalizer(lowercase=True)
    uncased, cased = (PreTrainedTokenizerFast(tokenizer_object=made) for made in (bert, plain))
    lines = ["Il-mara ċkejkna żżur ħutha", "Għandu żewġ ktieb", "żagħżugħ"]
    assert stripped(uncased, lines) == ("ż", "ċ", "ġ")
    assert stripped(cased, lines) == ()
    section = seen_section({"Latn": 1.0}, [fact(0.0)._replace(stripped=("ż", "ċ", "ġ"))], [], [])
    assert any("reads ż, ċ and ġ without their marks" in said for said in section.findings)


def test_a_decoder_is_said_not_to_be_adapted():
    section = seen_section({"Latn": 1.0}, [fact(0.0)._replace(decoder=True)], [], [])
    assert "Read from left to right, so that nothing adapts them here: world-natural." in section.findings


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("mt", "Maltese"),
        ("ckb", "Sorani"),
        ("prs", "Persian (Afghanistan)"),
        ("zh-TW", "Chinese (Taiwan)"),
        ("gsw-ZH", "Swiss German"),
        ("qaz", "qaz"),
        ("x", "x"),
    ],
)
def test_names_of_languages(code, name):
    assert language_name(code) == name


def test_published_verdicts_come_first():
    assert published("wo", "Latn") == ["Wolof: Intermediate for mBERT (the study had 10,000 sentences of raw text)"]
    (maltese,) = published("mt", "Latn")
    assert maltese == (
        "Maltese: tried with mBERT and 50,000 sentences of raw text; how hard it was found is not in our tables"
    )
    of_others = "of other languages in its script, related or not, for mBERT"
    assert published("nl", "Latn") == [f"{of_others}: Swiss German Easy and Wolof Intermediate"]
    assert published("xx", None) == published("qag", "Latn") == []


@pytest.mark.parametrize("code", ["fo", "fao", "sr", "gsw", "sw", "no", "nb", "ps", "xx"])
def test_a_language_is_not_its_own_nearest(monkeypatch, code):
    there = ["fao", "dan", "srp-Cyrl", "srp-Latn", "gsw-ZH", "swh", "nob", "nno", "pbt"]
    monkeypatch.setattr(facts, "available_ntrex", lambda: there)
    monkeypatch.setattr(facts, "find_file", lambda *given: SimpleNamespace(read=lambda: ["een"]))
    itself = {"no": ["nob"], "nb": ["nob"], "ps": ["pbt"]}
    itself |= {"fo": ["fao"], "fao": ["fao"], "sr": ["srp-Cyrl", "srp-Latn"], "gsw": ["gsw-ZH"], "sw": ["swh"]}
    assert list(facts.references(code)) == [other for other in there if other not in itself.get(code, [])]
    assert "qaa" not in facts.references("qaa") and "qag" not in facts.references("qaa")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("mt", None),
        ("qah", None),
        ("xx", "xx is not a language code that is known here, so it is a label alone"),
        ("maltese", "its code is mt"),
        ("cy", "Welsh: no transliteration made for the language and no published verdict are known here."),
    ],
)
def test_a_code_that_nothing_is_known_of_is_a_label(code, said):
    assert code_notes(code) == [] if said is None else said in code_notes(code)[0]


@pytest.mark.parametrize(("one", "other"), [("fo", "fao"), ("sd", "snd-Arab"), ("ug", "uig")])
def test_any_code_of_a_language_has_its_published_verdict(one, other):
    assert published(one, "Latn") == published(other, "Latn") != published("xx", "Latn")
    assert code_notes(one) == code_notes(other) == []
