"""The codes that data sets name languages by, from those that people give."""

from __future__ import annotations

import pytest

from babelscope.core.errors import InputError
from babelscope.corpora.codes import code_among, known_as, same_language


@pytest.mark.parametrize(
    ("given_code", "there", "expected"),
    [
        ("de", ("deu", "nds"), "deu"),
        ("deu", ("de",), "de"),
        ("wo", ("wol",), "wol"),
        ("zh", ("cmn_Hans", "cmn_Hant", "yue"), "cmn_Hans"),
        ("zh", ("zho-CN", "zho-TW"), "zho-CN"),
        ("zh", ("cmn_Hans", "cmn_Hant", "zho"), "zho"),
        ("zh-Hant", ("cmn_Hans", "cmn_Hant"), "cmn_Hant"),
        ("sr", ("hbs", "hrv", "srp_Cyrl", "srp_Latn"), "srp_Cyrl"),
        ("sr-Latn", ("srp_Cyrl", "srp_Latn"), "srp_Latn"),
        ("ar", ("ara", "ara_Latn", "arz"), "ara"),
        ("ar", ("arb", "arz"), "arb"),
        ("fa", ("pes", "prs"), "pes"),
        ("sw", ("swh",), "swh"),
        ("no", ("nno", "nob"), "nob"),
        ("pt", ("por", "por-BR"), "por"),
        ("pt-BR", ("por", "por-BR"), "por-BR"),
        ("es", ("es_LA",), "es_LA"),
        ("ckb", ("ckb-Arab", "kmr"), "ckb-Arab"),
        ("tl", ("tgl",), "tgl"),
        ("zh-Hant", ("zho-CN", "zho-TW"), "zho-TW"),
        ("zh-TW", ("zho_Hans", "zho_Hant"), "zho_Hant"),
        ("sr-RS", ("srp_Cyrl", "srp_Latn"), "srp_Cyrl"),
        ("es-Latn", ("spa", "spa-MX"), "spa"),
        ("fa-Arab", ("pes",), "pes"),
        ("pt-BR", ("por_Latn", "por-BR"), "por-BR"),
        ("pt-BR", ("por_Latn",), "por_Latn"),
    ],
)
def test_codes_name_languages_that_files_are_named_by(given_code, there, expected):
    assert code_among(given_code, there) == expected


@pytest.mark.parametrize(
    ("given_code", "there"),
    [
        ("sr-Latn", "sr-RS"), ("pt-PT", "pt-BR"), ("zh-TW", "cmn_Hans"), ("pt-BR", "pt-Latn-PT"),
        ("ca-valencia", "ca-Latn"),
    ],
)  # fmt: skip
def test_another_place_or_script_is_another_text(given_code, there):
    with pytest.raises(InputError, match="there is no language"):
        code_among(given_code, (there,))


@pytest.mark.parametrize("code", ["arz", "hr", "xx", "", "../x", "qaa", "de-"])
def test_codes_that_name_nothing_there_are_refused(code):
    with pytest.raises(InputError, match="there are ara, cmn_Hans, hbs"):
        code_among(code, ("hbs", "cmn_Hans", "ara"))


def test_a_code_that_is_misspelled_is_told_the_nearest():
    with pytest.raises(InputError, match=r"there is no language 'itt' \(did you mean ita\?\); there are deu, ita"):
        code_among("itt", ("ita", "deu"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("de", "deu"), ("zh", "cmn"), ("zh", "zho-CN"), ("fa", "pes"), ("et", "ekk"), ("sw", "swh"), ("ar", "arb"),
        ("lv", "lvs"), ("no", "nob"), ("nb", "no"), ("ps", "pbt"), ("sr", "srp_Cyrl"), ("pt-BR", "por"), ("qab", "qab"),
    ],
)  # fmt: skip
def test_codes_of_one_language(first, second):
    assert same_language(first, second) and same_language(second, first)
    assert known_as(first, ["en", second]) == second and known_as(second, ["en", first]) == first


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("de", "it"), ("qaa", "qab"), ("nb", "nn"), ("no", "nn"), ("zh", "yue"), ("ar", "arz"), ("hr", "sr"),
        ("", "de"), ("ug>uyghur", "ug"),
    ],
)  # fmt: skip
def test_codes_of_two_languages(first, second):
    assert not same_language(first, second) and not same_language(second, first)
    assert known_as(first, [second]) == known_as(second, [first]) == ""


@pytest.mark.parametrize(("first", "second"), [("sr", "sr-Latn"), ("zh", "cmn_Hant"), ("ug", "ug-Latn")])
def test_text_in_another_script_is_of_the_language_but_not_known_by_its_code(first, second):
    assert same_language(first, second) and known_as(first, [second]) == known_as(second, [first]) == ""
    assert known_as("zh-TW", ["zh", "cmn_Hant"]) == "cmn_Hant"


def test_a_code_itself_comes_before_another_of_its_language():
    assert known_as("deu", ["de", "deu"]) == "deu"
