"""The codes that data sets name languages by, from the code that a person gives: `de` is `deu`, `zh` is `cmn_Hans`."""

from __future__ import annotations

import re
from collections.abc import Collection

from langcodes import Language, LanguageTagError

from babelscope.core.errors import InputError

_USUAL = {
    "ar": ("arb",), "fil": ("tgl", "fil"), "gsw": ("gsw-BE",), "no": ("nob",), "ps": ("pbt",),
    "sr": ("srp_Cyrl", "srp-Cyrl"), "zh": ("cmn_Hans", "zho-CN"),
}  # fmt: skip
"""What is meant by a code where a data set has the language in several scripts, places or varieties, or by another
code that the standards keep apart: the first of these that there is."""


def code_among(given: str, there: Collection[str]) -> str:
    """The one of the codes in `there` that names the language of `given`: that code itself, or one of another length.

    A script or place is matched if one is given (`zh-Hant`, `pt_BR`). A macrolanguage's code names its one member.

    Raises:
        InputError: there is none, or there are several; lists them.
    """
    if given in there:
        return given
    fitting = _same(given, there) or _members(given, there)
    plain = [code for code in fitting if not suffix(code)]
    for codes in (fitting, plain, _usual(given, there)):
        if len(codes) == 1:
            return codes[0]
    if fitting:
        raise InputError(f"{given!r} can be {', '.join(fitting)} there; name one of them")
    raise InputError(f"there is no language {given!r}; there are {', '.join(sorted(there)) or 'none'}")


def same_language(first: str, second: str) -> bool:
    """Whether two codes name one language, wherever it is spoken or however it is written: `de` and `DE-AT`, `deu`."""
    return _three_letters(first) == _three_letters(second) is not None


def _same(given: str, there: Collection[str]) -> list[str]:
    return [code for code in sorted(there) if same_language(given, code) and suffix(given) in ("", suffix(code))]


def _members(given: str, there: Collection[str]) -> list[str]:
    """Languages that the macrolanguage `given` has among its members: `pes` of `fa`."""
    tag = _tag(given)
    if tag is None:
        return []
    fitting = [(code, member) for code in sorted(there) if (member := _tag(code))]
    return [
        code
        for code, member in fitting
        if member.language != tag.language == member.prefer_macrolanguage().language
        and suffix(given) in ("", suffix(code))
    ]


def _usual(given: str, there: Collection[str]) -> list[str]:
    tag = _tag(given)
    usual = _USUAL.get(tag.language or "", ()) if tag and not suffix(given) else ()
    return [code for code in usual if code in there][:1]


def _tag(code: str) -> Language | None:
    try:
        return Language.get(code)
    except LanguageTagError:
        return None


def _three_letters(code: str) -> str | None:
    try:
        return Language.get(code, normalize=False).to_alpha3()
    except (LanguageTagError, LookupError):
        return None


def suffix(code: str) -> str:
    """The script or place of a code, in small letters: `hant` of `cmn_Hant`."""
    return re.split("[-_]", code.lower(), maxsplit=1)[1] if re.search("[-_]", code) else ""
