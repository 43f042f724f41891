"""The encoder that studies of real languages use where no other is given: languages brought into an English one."""

from __future__ import annotations

from babelscope.measures.similarity import Similarity
from babelscope.study.encoders import BringingIn, DeclaredEncoder, Distillation
from babelscope.tuning.settings import Tuning

ENGLISH = "all-MiniLM-L6-v2"
"""The English encoder (BERT; six layers of 384): from the package that the extra `english` installs."""
LINES = 1597
"""Of NTREX: as many are read, the first ones; the other 400 are held out."""
READ, HELD_OUT = f"lines-1-{LINES}", "lines-1598-1997"
TEXTS = {
    "ar": (f"ntrex:arb:{READ}", "flores:ara", "tatoeba:ara", "tico:ar"),
    "bg": (f"ntrex:bul:{READ}", "flores:bul", "tatoeba:bul"),
    "cs": (f"ntrex:ces:{READ}", "flores:ces", "tatoeba:ces"),
    "de": (f"ntrex:deu:{READ}", "flores:deu", "tatoeba:deu"),
    "el": (f"ntrex:ell:{READ}", "flores:ell", "tatoeba:ell"),
    "es": (f"ntrex:spa:{READ}", "flores:spa", "tatoeba:spa", "tico:es_LA"),
    "et": (f"ntrex:est:{READ}", "flores:est", "tatoeba:est"),
    "eu": (f"ntrex:eus:{READ}", "flores:eus", "tatoeba:eus"),
    "fa": (f"ntrex:fas:{READ}", "flores:pes", "tatoeba:pes", "tico:fa"),
    "fr": (f"ntrex:fra:{READ}", "flores:fra", "tatoeba:fra", "tico:fr"),
    "he": (f"ntrex:heb:{READ}", "flores:heb", "tatoeba:heb"),
    "hi": (f"ntrex:hin:{READ}", "flores:hin", "tatoeba:hin", "tico:hi"),
    "hu": (f"ntrex:hun:{READ}", "flores:hun", "tatoeba:hun"),
    "it": (f"ntrex:ita:{READ}", "flores:ita", "tatoeba:ita"),
    "ja": (f"ntrex:jpn:{READ}", "flores:jpn", "tatoeba:jpn"),
    "nl": (f"ntrex:nld:{READ}", "flores:nld", "tatoeba:nld"),
    "pt": (f"ntrex:por:{READ}", "flores:por", "tatoeba:por", "tico:pt_BR"),
    "ro": (f"ntrex:ron:{READ}", "flores:ron", "tatoeba:ron"),
    "ru": (f"ntrex:rus:{READ}", "flores:rus", "tatoeba:rus", "tico:ru"),
    "sv": (f"ntrex:swe:{READ}", "flores:swe", "tatoeba:swe"),
    "sw": (f"ntrex:swa:{READ}", "tatoeba:swa", "tico:sw"),
    "th": (f"ntrex:tha:{READ}", "flores:tha", "tatoeba:tha"),
    "tr": (f"ntrex:tur:{READ}", "flores:tur", "tatoeba:tur"),
    "ur": (f"ntrex:urd:{READ}", "flores:urd", "tatoeba:urd", "tico:ur"),
    "vi": (f"ntrex:vie:{READ}", "flores:vie", "tatoeba:vie"),
    "zh": (f"ntrex:zho-CN:{READ}", "flores:cmn_Hans", "flores:cmn_Hant", "tatoeba:zho", "tico:zh"),
}
"""By language, English sentences with their translations. `HELD_OUT` of NTREX are in none, to be tested on.
Wolof, Maltese, Uyghur, Faroese and others with treebanks are left out, so that there are languages unseen."""

PUD = {
    "ar": "UD_Arabic-PUD", "cs": "UD_Czech-PUD", "de": "UD_German-PUD", "en": "UD_English-PUD", "es": "UD_Spanish-PUD",
    "fr": "UD_French-PUD", "hi": "UD_Hindi-PUD", "ru": "UD_Russian-PUD", "tr": "UD_Turkish-PUD", "zh": "UD_Chinese-PUD",
}  # fmt: skip
"""English and nine of the languages, in five scripts: treebanks of the same sentences, which studies score."""
LEARNING_RATE = 2e-4
"""That tasks are tuned with, as fits an encoder so small."""
OF_BERT = 5e-5
"""Likewise, of an encoder of the size of BERT, as one that is given may be."""
DISTILLATION = Tuning(learning_rate=3e-4, steps=1000, tokens_per_batch=1024, max_length=128, threads=2)


def given_or_both(given: str | None, *, small: bool) -> tuple[DeclaredEncoder, ...]:
    """The encoder that is given; without one, the distilled one and beside it the undistilled one."""
    if given:
        return (given,)
    return (multilingual(small=small),) if small else (multilingual(), multilingual(distilled=False))


def rate_for(*given: str | None, own: float = LEARNING_RATE) -> float:
    """The learning rate of a study: BERT's where an encoder is given other than the small `ENGLISH`, else its own."""
    return OF_BERT if any(name and name != ENGLISH for name in given) else own


def held_out(*codes: str, sentences: int = 400) -> Similarity:
    """Retrieval of sentences whose translations no text above has, layer by layer."""
    targets = tuple(f"ntrex:{code}:{HELD_OUT}" for code in codes)
    return Similarity(source="ntrex:en", targets=targets, sentences=sentences, measures=("retrieval",))


def multilingual(*, distilled: bool = True, small: bool = False) -> BringingIn:
    """An English encoder that 26 languages in nine scripts are brought into; a small one has the news of NTREX alone,
    and is not distilled."""
    texts = {language: parallel[:1] if small else parallel for language, parallel in TEXTS.items()}
    distillation = None if small or not distilled else Distillation(tuning=DISTILLATION)
    kind = "-news" if small else "" if distilled else "-undistilled"
    return BringingIn(name=f"multilingual-MiniLM{kind}", encoder=ENGLISH, languages=texts, distil=distillation)
