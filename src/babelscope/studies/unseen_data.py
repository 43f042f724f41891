"""The languages of the study unseen-languages: their treebanks, entities, raw text, and other letters."""

from __future__ import annotations

from typing import NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.tasks import TaskName
from babelscope.corpora.transliteration import PERMUTE
from babelscope.world import World

CONTROL = f"{PERMUTE}1"
"""After a transliteration: its letters exchanged at random."""


class Language(NamedTuple):
    """An unseen language: its data sets by task, its raw text, and the other letters that it is tried in."""

    code: str
    data: dict[TaskName, str]
    text: str
    letters: tuple[str, ...] = ()
    untrained: tuple[TaskName, ...] = ()
    """Tasks that there are no labelled sentences to train on for."""


class Resources(NamedTuple):
    """What there is of a real language."""

    treebank: str
    entities: str | None = None
    """Its code in MasakhaNER."""
    letters: str | None = None
    """The table that transliterates it."""
    trained: bool = True
    """False: its treebank has next to nothing but a test set."""
    ntrex: bool = True
    """Whether NTREX has it; else the training text of its treebank is what is read."""


RESOURCES = {
    "wo": Resources("UD_Wolof-WTB", entities="wol"),
    "mt": Resources("UD_Maltese-MUDT"),
    "ug": Resources("UD_Uyghur-UDT", letters="uyghur"),
    "pcm": Resources("UD_Naija-NSC", entities="pcm", ntrex=False),
    "myv": Resources("UD_Erzya-JR", letters="cyrillic", ntrex=False),
    "bm": Resources("UD_Bambara-CRB", entities="bam", trained=False, ntrex=False),
    "bxr": Resources("UD_Buryat-BDT", letters="cyrillic", trained=False, ntrex=False),
    "gsw": Resources("UD_Swiss_German-UZH", trained=False),
}
SOURCES: dict[TaskName, str] = {"pos": "UD_English-EWT", "parsing": "UD_English-EWT", "ner": "masakhaner2:hau"}


def of_the_world(code: str) -> Language:
    """With a task's every data set; in the source's letters too, where they are not its own."""
    letters = () if World().member(code).language.script == "Latn" else ("world", f"world{CONTROL}")
    data: dict[TaskName, str] = dict.fromkeys(("pos", "parsing", "ner"), f"world:{code}")
    return Language(code, data, code, letters)


def has_text(code: str) -> bool:
    """Whether there is raw text of a real language without any of one's own: NTREX's, or that of labelled sentences."""
    known = RESOURCES.get(code)
    return known is None or known.ntrex or known.trained


def real_language(code: str, text: str | None) -> Language:
    """One of the table, or one whose data sets are named after its code; `text` is of one's own, if given.

    Raises:
        InputError: there is no raw text of it.
    """
    known = RESOURCES.get(code, Resources(f"UD_{code}"))
    if text is None and not has_text(code):
        raise InputError(
            f"{code}: NTREX lacks it and its treebank has next to no training text; give text of your own, such as "
            f"--with 'texts={{{code}: text:{code}:FILE}}'"
        )
    data: dict[TaskName, str] = {"pos": known.treebank, "parsing": known.treebank}
    if known.entities:
        data["ner"] = f"masakhaner2:{known.entities}"
    letters = (known.letters, f"{known.letters}{CONTROL}") if known.letters else ()
    untrained: tuple[TaskName, ...] = () if known.trained else ("pos", "parsing")
    return Language(code, data, text or (f"ntrex:{code}" if known.ntrex else known.treebank), letters, untrained)
