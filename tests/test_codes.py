"""The codes that data sets name languages by, from those that people give."""

from __future__ import annotations

import pytest

from babelscope.core.errors import InputError
from babelscope.corpora.codes import code_among


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
    ],
)
def test_codes_name_languages_that_files_are_named_by(given_code, there, expected):
    assert code_among(given_code, there) == expected


@pytest.mark.parametrize("code", ["arz", "hr", "xx", "", "../x", "qaa", "de-"])
def test_codes_that_name_nothing_there_are_refused(code):
    with pytest.raises(InputError, match="there are ara, cmn_Hans, hbs"):
        code_among(code, ("hbs", "cmn_Hans", "ara"))
