"""The languages of the study unseen-languages: their treebanks, entities, raw text, and other letters."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.languages import language_name
from babelscope.core.tasks import TaskName
from babelscope.corpora.letters import lettered
from babelscope.corpora.sources import ALL
from babelscope.corpora.transliteration import PERMUTE
from babelscope.studies.multilingual import READ
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, SCRATCH
from babelscope.world import World

CONTROL = f"{PERMUTE}1"
"""After a transliteration: its letters exchanged at random."""
MASAKHANER, WIKIANN = "masakhaner2:", "wikiann:"


class Language(NamedTuple):
    """An unseen language, or a control: its data sets by task, its raw text, and the other letters it is tried in."""

    code: str
    data: dict[TaskName, str]
    text: str | None
    """None: nothing is adapted to it, as for controls, which the encoder has seen."""
    letters: tuple[str, ...] = ()
    labelled: Mapping[TaskName, int] = MappingProxyType({})
    """How many labelled sentences there are to train on, where they are few; 0: none."""
    sentences: int | None = None
    """Of the text, at most."""
    parallel: str | None = None
    """English sentences with their translations, which can bring it into an encoder."""

    def trains(self, task: TaskName, shots: int) -> bool:
        """Whether so many labelled sentences can be trained on: as many as there are always can, if there are any."""
        there = self.labelled.get(task, ALL)
        return 0 < shots <= there or (shots == ALL and there > 0)


class Cell(NamedTuple):
    """A language in its own or in other letters."""

    language: Language
    letters: str | None

    @property
    def name(self) -> str:
        """What its encoders are named after."""
        return self.lettered(self.language.code)

    def lettered(self, name: str) -> str:
        """The name of data in these letters."""
        return lettered(name, self.letters)

    @property
    def recipes(self) -> tuple[str, ...]:
        """What is done to the encoder before it is tuned."""
        return (AS_IT_IS,) if self.language.text is None else (AS_IT_IS, ADAPTED, SCRATCH)

    @property
    def parallel(self) -> str | None:
        """Translated sentences in these letters."""
        return None if self.letters else self.language.parallel

    def recipe(self, encoder: str, recipe: str) -> str:
        """What rows call the encoder of a recipe."""
        return encoder if recipe == AS_IT_IS else f"{recipe} {self.name}"


class Resources(NamedTuple):
    """What there is of a real language. What the published study had is in its slides (Muller, 2022)."""

    treebank: str | None = None
    entities: str | None = None
    """Its data set."""
    letters: str | None = None
    """The table that transliterates it."""
    ntrex: str | None = None
    """Its code in NTREX; without one, the profile `real` reads the training text of its treebank."""
    wikipedia: str | None = None
    """The code in the address of its Wikipedia."""
    sentences: int | None = None
    """Raw sentences that the published study had."""
    tenths: str | None = None
    """How its treebank, which has next to nothing but a test file, is divided where it is also trained on."""
    trained: int = ALL
    """Sentences to train on in its treebank, divided so."""


# Half of a treebank of 100 sentences is tested on, else a verdict would rest on ten.
RESOURCES = {
    "fo": Resources("UD_Faroese-OFT", "wikiann:fo", None, "fao", "fo", 297_000, "8-1-1", 966),
    "xmf": Resources(None, "wikiann:xmf", "mingrelian", None, "xmf", 29_000),
    "pcm": Resources("UD_Naija-NSC", "masakhaner2:pcm", None, None, "pcm", 237_000),
    "gsw": Resources("UD_Swiss_German-UZH", None, None, "gsw", "als", 250_000, "4-1-5", 40),
    "bm": Resources("UD_Bambara-CRB", "masakhaner2:bam", None, None, "bm", 1_000, "8-1-1", 821),
    "wo": Resources("UD_Wolof-WTB", "masakhaner2:wol", None, "wo", "wo", 10_000),
    "nrz": Resources("UD_Maghrebi_Arabic_French-Arabizi", None, None, None, None, 87_000),
    "mt": Resources("UD_Maltese-MUDT", "wikiann:mt", None, "mt", "mt", 50_000),
    "bxr": Resources("UD_Buryat-BDT", None, "cyrillic", None, "bxr", 7_000, "8-1-1", 726),
    "mhr": Resources(None, "wikiann:mhr", "mari", None, "mhr", 58_000),
    "myv": Resources("UD_Erzya-JR", None, "cyrillic", None, "myv", 20_000),
    "olo": Resources("UD_Livvi-KKPP", None, None, None, "olo", 9_400, "4-1-5", 42),
    "ug": Resources("UD_Uyghur-UDT", "wikiann:ug", "uyghur", "ug", "ug", 105_000),
    "sd": Resources(None, "wikiann:sd", None, "snd-Arab", "sd", 375_000),
    "ckb": Resources(None, "wikiann:ckb", "sorani", "ckb-Arab", "ckb", 380_000),
}
"""The fifteen languages that the slides list, in their order (they count seventeen)."""
PUBLISHED_LETTERS = {
    "cyrillic": "cyrillic-published", "mari": "cyrillic-published", "mingrelian": "georgian-published",
    "sorani": "sorani-published", "uyghur": "uyghur-published",
}  # fmt: skip
"""Table -> the one with the letters of the authors' code, where these are others."""
FEW_ENTITIES = ("fo", "xmf", "mt", "mhr", "ug", "sd")
"""Languages that WikiAnn has 100 sentences of to train on."""
CONTROLS = {"ar": "buckwalter", "ru": "cyrillic", "ja": "kana"}
"""Languages that the encoder has seen, and how they are transliterated: what does that alone do?"""
SOURCES: dict[TaskName, str] = {"pos": "UD_English-EWT", "parsing": "UD_English-EWT", "ner": "masakhaner2:hau"}
WIKIANN_SOURCE = "wikiann:en"
TASKS: tuple[TaskName, ...] = ("pos", "parsing", "ner")


def source_of(task: TaskName, language: Language, usual: str) -> str:
    """What is trained on before a language's own sentences: English where its entities are of WikiAnn."""
    return WIKIANN_SOURCE if language.data[task].startswith(WIKIANN) else usual


def of_the_world(code: str) -> Language:
    """With a task's every data set; in the source's letters too, where they are not its own."""
    letters = () if World().member(code).language.script == "Latn" else ("world", f"world{CONTROL}")
    return Language(code, dict.fromkeys(TASKS, f"world:{code}"), code, letters)


def real_language(code: str, text: str | None) -> Language:
    """One of the table, or one whose treebank is named after its code; `text` is of one's own, if given.

    It has treebanks as they are, entities of MasakhaNER, and text of NTREX or of its treebank.

    Raises:
        InputError: there is no raw text of it, or no data of any task.
    """
    known = RESOURCES.get(code, Resources(f"UD_{code}", ntrex=code))
    own = f"ntrex:{known.ntrex}" if known.ntrex else None if known.tenths else known.treebank
    if text is None and own is None:
        raise InputError(
            f"{code}: NTREX lacks it and its treebank has next to no training text; give text of your own, such as "
            f"--with 'texts={{{code}: text:{code}:FILE}}'"
        )
    entities = known.entities if (known.entities or "").startswith(MASAKHANER) else None
    if not (known.treebank or entities):
        raise InputError(f"{code}: no treebank and no entities of it are known here; it is in @paper")
    labelled: dict[TaskName, int] = {"pos": 0, "parsing": 0} if known.tenths else {}
    parallel = f"ntrex:{known.ntrex}:{READ}" if known.ntrex else None
    data = _data(known.treebank, entities)
    return Language(code, data, text or own, _letters(known.letters), labelled, parallel=parallel)


def published_language(code: str, text: str | None) -> Language:
    """One of the published study, or a control, or another as `real_language` takes it; `text` is of one's own.

    Treebanks that have nothing but a test file are divided, entities are those of MasakhaNER or WikiAnn, text is
    Wikipedia's, as many sentences as the published study had, and letters are those of the authors' code.

    Raises:
        InputError: there is no raw text of it.
    """
    if code in CONTROLS:
        return Language(code, _data(None, f"{WIKIANN}{code}"), None, _published_letters(CONTROLS[code]))
    if code not in RESOURCES:
        return real_language(code, text)
    known = RESOURCES[code]
    if text is None and known.wikipedia is None:
        raise InputError(f"{code}: {_lacks_text(code)}")
    treebank = f"{known.treebank}:tenths-{known.tenths}" if known.tenths else known.treebank
    own = text or f"wikipedia:{known.wikipedia}"
    small = code in FEW_ENTITIES
    labelled: dict[TaskName, int] = {"pos": known.trained, "parsing": known.trained} | ({"ner": 100} if small else {})
    letters = _published_letters(known.letters)
    return Language(code, _data(treebank, known.entities), own, letters, labelled, known.sentences)


def labelled_sizes() -> dict[str, int]:
    """Data set -> its sentences to train on, as far as the table above says: divided treebanks, and few entities."""
    languages = [published_language(code, known.wikipedia or "text") for code, known in RESOURCES.items()]
    return {
        language.data[task]: size
        for language in languages
        for task, size in language.labelled.items()
        if task in language.data and size < ALL
    }


def published_codes(texts: Container[str]) -> tuple[str, ...]:
    """All languages of the published study that there is raw text of, or that text is given of, and the controls."""
    there = [code for code, known in RESOURCES.items() if known.wikipedia or code in texts]
    return (*there, *CONTROLS)


def left_out(languages: Sequence[Language], tasks: Container[TaskName], asked: bool) -> dict[str, str]:
    """What the published study has, or could have, and this one has not -> the reason.

    Tasks that are none of `tasks` need no reason, nor do other languages where some were `asked` for.
    """
    codes = [language.code for language in languages]
    absent = [] if asked else [code for code in RESOURCES if code not in codes]
    reasons = {language_name(code): _lacks_text(code) for code in absent}
    for language in languages:
        name = language_name(language.code)
        if language.code in RESOURCES and "pos" not in language.data and ("pos" in tasks or "parsing" in tasks):
            reasons[f"{name}, tagging and parsing"] = "the authors' code names no treebank of it"
        if language.code in RESOURCES and "ner" not in language.data and "ner" in tasks:
            reasons[f"{name}, named entities"] = "the authors' code names no entities of it, and MasakhaNER has none"
        if language.text is None:
            reasons[f"{name}, adaptation"] = "a control: the encoder was pre-trained on it; only entities, as published"
    return reasons


def _lacks_text(code: str) -> str:
    return (
        "it has no Wikipedia, and the text that was collected for the published study is in no source here; give text "
        f"of your own: --with 'texts={{{code}: text:{code}:FILE}}'"
    )


def _data(treebank: str | None, entities: str | None) -> dict[TaskName, str]:
    trees: dict[TaskName, str] = {"pos": treebank, "parsing": treebank} if treebank else {}
    return trees | ({"ner": entities} if entities else {})


def _published_letters(table: str | None) -> tuple[str, ...]:
    return _letters(table and PUBLISHED_LETTERS.get(table, table))


def _letters(table: str | None) -> tuple[str, ...]:
    return (table, f"{table}{CONTROL}") if table else ()
