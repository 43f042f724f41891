"""The scripts that a text's letters are of."""

from __future__ import annotations

import pytest

from babelscope.corpora.scripts import script_shares


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Щука", "Cyrl"),
        ("日本", "Hani"),
        ("ئۇيغۇر a", "Arab"),
        ("12 .", None),
        ("", None),
        ("ქართული", "Geor"),
        ("한국", "Hang"),
        ("ᐃᓄᒃᑎᑐᑦ ᐊᒻᒪ web", "Cans"),
        ("𞤆𞤵𞤤𞤢𞤪", "Adlm"),
        ("ꯃꯤꯇꯩ", "Mtei"),
        ("ꆈꌠ", "Yiii"),
        ("ꦗꦮ", "Java"),
        ("ᮞᮥᮔ᮪ᮓ", "Sund"),
        ("𑄌𑄋𑄴𑄟𑄳𑄦", "Cakm"),
        ("ᜆᜄᜎᜓᜄ᜔", "Tglg"),
        ("ꠍꠤꠟꠐꠤ", "Sylo"),
        ("ꤊꤢ", "Kali"),
        ("𐴌𐴟", "Rohg"),
        ("ꕙꔤ ok", "Zzzz"),
        ("ʻʻʻ", None),
        ("ｆｕｌｌ", "Latn"),
        ("人々々", "Hani"),
    ],
)
def test_the_script_of_most_letters_comes_first(text, script):
    assert next(iter(script_shares(text)), None) == script


def test_shares_of_scripts_are_of_letters():
    assert script_shares("ab Щ. 9") == {"Latn": pytest.approx(2 / 3), "Cyrl": pytest.approx(1 / 3)}
    assert script_shares("ꕙꔤꕙ a") == {"Zzzz": 0.75, "Latn": 0.25}
