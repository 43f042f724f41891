"""The encoder that studies of real languages use where no other is given: languages brought into an English one."""

from __future__ import annotations

from babelscope.measures.similarity import Similarity
from babelscope.study.encoders import BringingIn, DeclaredEncoder, Distillation
from babelscope.tuning.settings import Tuning

ENGLISH = "all-MiniLM-L6-v2"
"""The English encoder (BERT; six layers of 384): from the package that the extra `english` installs."""
TEXTS = {
    "ar": ("ntrex:arb:lines-1-1597", "flores:ara", "tatoeba:ara", "tico:ar"),
    "bg": ("ntrex:bul:lines-1-1597", "flores:bul", "tatoeba:bul"),
    "cs": ("ntrex:ces:lines-1-1597", "flores:ces", "tatoeba:ces"),
    "de": ("ntrex:deu:lines-1-1597", "flores:deu", "tatoeba:deu"),
    "el": ("ntrex:ell:lines-1-1597", "flores:ell", "tatoeba:ell"),
    "es": ("ntrex:spa:lines-1-1597", "flores:spa", "tatoeba:spa", "tico:es_LA"),
    "et": ("ntrex:est:lines-1-1597", "flores:est", "tatoeba:est"),
    "eu": ("ntrex:eus:lines-1-1597", "flores:eus", "tatoeba:eus"),
    "fa": ("ntrex:fas:lines-1-1597", "flores:pes", "tatoeba:pes", "tico:fa"),
    "fr": ("ntrex:fra:lines-1-1597", "flores:fra", "tatoeba:fra", "tico:fr"),
    "he": ("ntrex:heb:lines-1-1597", "flores:heb", "tatoeba:heb"),
    "hi": ("ntrex:hin:lines-1-1597", "flores:hin", "tatoeba:hin", "tico:hi"),
    "hu": ("ntrex:hun:lines-1-1597", "flores:hun", "tatoeba:hun"),
    "it": ("ntrex:ita:lines-1-1597", "flores:ita", "tatoeba:ita"),
    "ja": ("ntrex:jpn:lines-1-1597", "flores:jpn", "tatoeba:jpn"),
    "nl": ("ntrex:nld:lines-1-1597", "flores:nld", "tatoeba:nld"),
    "pt": ("ntrex:por:lines-1-1597", "flores:por", "tatoeba:por", "tico:pt_BR"),
    "ro": ("ntrex:ron:lines-1-1597", "flores:ron", "tatoeba:ron"),
    "ru": ("ntrex:rus:lines-1-1597", "flores:rus", "tatoeba:rus", "tico:ru"),
    "sv": ("ntrex:swe:lines-1-1597", "flores:swe", "tatoeba:swe"),
    "sw": ("ntrex:swa:lines-1-1597", "tatoeba:swa", "tico:sw"),
    "th": ("ntrex:tha:lines-1-1597", "flores:tha", "tatoeba:tha"),
    "tr": ("ntrex:tur:lines-1-1597", "flores:tur", "tatoeba:tur"),
    "ur": ("ntrex:urd:lines-1-1597", "flores:urd", "tatoeba:urd", "tico:ur"),
    "vi": ("ntrex:vie:lines-1-1597", "flores:vie", "tatoeba:vie"),
    "zh": ("ntrex:zho-CN:lines-1-1597", "flores:cmn_Hans", "flores:cmn_Hant", "tatoeba:zho", "tico:zh"),
}
"""By language, English sentences with their translations. `HELD_OUT` of NTREX are in none, to be tested on.
Wolof, Maltese, Uyghur, Faroese and others with treebanks are left out, so that there are languages unseen."""

HELD_OUT = "lines-1598-1997"
PUD = {
    "ar": "UD_Arabic-PUD", "cs": "UD_Czech-PUD", "de": "UD_German-PUD", "en": "UD_English-PUD", "es": "UD_Spanish-PUD",
    "fr": "UD_French-PUD", "hi": "UD_Hindi-PUD", "ru": "UD_Russian-PUD", "tr": "UD_Turkish-PUD", "zh": "UD_Chinese-PUD",
}  # fmt: skip
"""English and nine of the languages, in five scripts: treebanks of the same sentences, which studies score."""
LEARNING_RATE = 2e-4
"""That tasks are tuned with, as fits an encoder so small."""
DISTILLATION = Tuning(learning_rate=3e-4, steps=2000, tokens_per_batch=1024, max_length=128, threads=2)


def given_or_both(given: str | None, *, small: bool) -> tuple[DeclaredEncoder, ...]:
    """The encoder that is given; without one, the distilled one and beside it the undistilled one."""
    if given:
        return (given,)
    return (multilingual(small=small),) if small else (multilingual(), multilingual(distilled=False))


def rate_for(given: str | None) -> float:
    """The learning rate for an encoder that is given, which may be of the size of BERT, or for the default."""
    return 5e-5 if given else LEARNING_RATE


def held_out(*codes: str, sentences: int = 400) -> Similarity:
    """Retrieval of sentences whose translations no text above has, layer by layer."""
    targets = tuple(f"ntrex:{code}:{HELD_OUT}" for code in codes)
    return Similarity(source="ntrex:en", targets=targets, sentences=sentences, measures=("retrieval",))


def multilingual(*, distilled: bool = True, small: bool = False) -> BringingIn:
    """An English encoder that 26 languages in nine scripts are brought into; a small one has less text, and is not
    distilled."""
    texts = {language: parallel[:1] if small else parallel for language, parallel in TEXTS.items()}
    distillation = None if small or not distilled else Distillation(tuning=DISTILLATION)
    name = "multilingual-MiniLM" + ("" if distillation else "-undistilled")
    return BringingIn(name=name, encoder=ENGLISH, languages=texts, distil=distillation)
