"""The codes that data sets name languages by, from the code that a person gives: `de` is `deu`, `zh` is `cmn_Hans`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from babelscope.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from langcodes import Language

_USUAL = {
    "ar": ("arb",), "fil": ("tgl", "fil"), "gsw": ("gsw-BE",), "no": ("nob",), "ps": ("pbt",),
    "sr": ("srp_Cyrl", "srp-Cyrl"), "zh": ("cmn_Hans", "zho-CN"),
}  # fmt: skip
"""What is meant by a code where a data set has the language in several scripts, places or varieties, or by another
code that the standards keep apart: the first of these that there is."""
_MEMBERS = {"nb": "no", "pbt": "ps"}
"""Members that a macrolanguage's code usually means, as above, although the standards do not say so."""


def checked_code(given: str) -> str:
    """A code as it was given, which is part of names, and of a folder's.

    Raises:
        ValueError: it has other characters than codes have.
    """
    if not re.fullmatch(r"[A-Za-z][\w-]{0,49}", given):
        raise ValueError("should be the code of a language, letters, digits and dashes, such as mt")
    return given


def code_among(given: str, there: Collection[str]) -> str:
    """The one of the codes in `there` that names the language of `given`: that code itself, or one of another length.

    A script or place is matched if one is given (`zh-Hant`, `pt_BR`); a script and a place are matched by what is
    usually written there. A macrolanguage's code names its one member.

    Raises:
        InputError: there is none, or there are several; lists them.
    """
    if given in there:
        return given
    meant = _same(given, there) or _members(given, there)
    exact = [code for code in meant if suffix(given) in ("", suffix(code))]
    fitting = exact or [code for code in meant if script_in_place(given, code)]
    plain = [code for code in fitting if not suffix(code)]
    for codes in (fitting, plain, _usual(given, there)):
        if len(codes) == 1:
            return codes[0]
    if fitting:
        raise InputError(f"{given!r} can be {', '.join(fitting)} there; name one of them")
    near = did_you_mean(given, sorted(there))
    raise InputError(f"there is no language {given!r}{near}; there are {', '.join(sorted(there)) or 'none'}")


def same_language(first: str, second: str) -> bool:
    """Whether two codes name one language, wherever it is spoken or however it is written: `de` and `DE-AT`, `deu`.

    So do a macrolanguage's code and that of the member which it usually means: `zh` and `cmn_Hans`, `et` and `ekk`.
    """
    return first == second or _meant(first) == _meant(second) is not None


def shortest(code: str) -> str:
    """The shortest code of the very language, without script and place: `fo` for `fao`, `ckb` for `ckb-IQ`."""
    tag = _tag(code)
    return (tag.language if tag else None) or code


@lru_cache(maxsize=4096)
def language_of(code: str) -> str:
    """One code for all codes of a language: `de` for `deu` and `de-Latn`; of what is none, the code itself."""
    return _meant(code) or code


def known_as(given: str, there: Iterable[str]) -> str:
    """The code in `there` that text of `given` goes by: that code itself, or one of the same language and script.

    Empty if there is none.
    """
    codes = tuple(there)
    same = (code for code in codes if written_language(code) == written_language(given))
    return given if given in codes else next(same, "")


@lru_cache(maxsize=4096)
def written_language(code: str) -> tuple[str, str | None]:
    """A language by one code, and its script: that of the code, or the usual one."""
    return language_of(code), _script(code)


def _meant(code: str) -> str | None:
    """The shortest code of the language, which is its macrolanguage's where that usually means it."""
    tag = _tag(code)
    return _MEMBERS.get(tag.language or "", tag.prefer_macrolanguage().language) if tag else None


def _script(code: str) -> str | None:
    """What a language is written in: by the code, or as it usually is."""
    tag = _tag(code)
    return type(tag).make(_meant(code), script=tag.script, territory=tag.territory).maximize().script if tag else None


def _same(given: str, there: Collection[str]) -> list[str]:
    named = _three_letters(given)
    return [
        code for code in sorted(there)
        if named == _three_letters(code) is not None
    ]  # fmt: skip


@lru_cache(maxsize=4096)
def script_in_place(first: str, second: str) -> bool:
    """Whether of two codes of a language one names a script, and the other's place, or the language, is written in it.

    So it is of `mlt_Latn` and `mt-MT`, `zh-Hant` and `zh-TW`, `es-Latn` and `es`; not of `sr-Latn` and `sr-RS`.
    """
    tags = [tag for code in (first, second) if (tag := _tag(code)) and not tag.variants]
    scripts = {tag.maximize().script for tag in tags}
    places = {tag.territory for tag in tags if tag.territory}
    return len(tags) == 2 and len(scripts) == 1 and len(places) < 2 and sum(bool(tag.script) for tag in tags) == 1


def _members(given: str, there: Collection[str]) -> list[str]:
    """Languages that the macrolanguage `given` has among its members: `pes` of `fa`."""
    tag = _tag(given)
    if tag is None:
        return []
    fitting = [(code, member) for code in sorted(there) if (member := _tag(code))]
    return [
        code for code, member in fitting if member.language != tag.language == member.prefer_macrolanguage().language
    ]


def _usual(given: str, there: Collection[str]) -> list[str]:
    tag = _tag(given)
    usual = _USUAL.get(tag.language or "", ()) if tag and not suffix(given) else ()
    return [code for code in usual if code in there][:1]


def _tag(code: str) -> Language | None:
    from langcodes import Language, LanguageTagError

    try:
        return Language.get(code)
    except LanguageTagError:
        return None


def _three_letters(code: str) -> str | None:
    from langcodes import Language, LanguageTagError

    try:
        return Language.get(code, normalize=False).to_alpha3()
    except (LanguageTagError, LookupError):
        return None


def suffix(code: str) -> str:
    """The script or place of a code, in small letters: `hant` of `cmn_Hant`."""
    return re.split("[-_]", code.lower(), maxsplit=1)[1] if re.search("[-_]", code) else ""
