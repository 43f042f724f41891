"""Parallel sentences as declared values: a language and others, in which the same is said sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.examples import Sentence
from babelscope.corpora import datasets
from babelscope.corpora.conllu import given_ids
from babelscope.corpora.datasets import WORLD_PREFIX, FileData
from babelscope.corpora.parallel import SOURCE, NamedPairs, find_named_pairs
from babelscope.corpora.translations import COLLECTIONS
from babelscope.corpora.world_text import WorldLanguage, WorldVersion
from babelscope.world import World
from babelscope.world.world import VERSION


class WorldParallel(Declaration):
    """Sentences of the artificial world, realised in several of its languages."""

    kind: Literal["world"] = "world"
    languages: tuple[WorldLanguage, ...]
    """The source first."""
    sentences: PositiveInt
    seed: NonNegativeInt = 0
    world_version: WorldVersion = VERSION

    @property
    def codes(self) -> tuple[str, ...]:
        """By which languages' own tokenizers are found."""
        return self.languages

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Of every target: its language, and what rows call its sentences beside the source's."""
        source, *targets = self.languages
        return [(target, f"{WORLD_PREFIX}{source}-{target}") for target in targets]

    def read(self) -> list[list[str]]:
        """By language, in the order of `languages`: the sentences, words separated by spaces."""
        parallel = World(self.seed).parallel(self.languages, self.sentences)
        return [[" ".join(aligned.sentences[code].forms) for aligned in parallel] for code in self.languages]


class ParallelTreebanks(Declaration):
    """The first sentences of a treebank, and those of others that have the same `sent_id`, as PUD treebanks do."""

    kind: Literal["treebanks"] = "treebanks"
    treebanks: tuple[FileData, ...]
    """The source first."""
    sentences: PositiveInt
    """At most."""
    texts: Literal["as written"] = "as written"
    """A sentence is its text, `Sentence.written`. It was its syntactic words once: by this field the keys differ."""

    @property
    def name(self) -> str:
        """The source's."""
        return self.treebanks[0].name

    @property
    def codes(self) -> tuple[str, ...]:
        """By which languages' own tokenizers are found: with letters, where they are transliterated."""
        return tuple(treebank.code for treebank in self.treebanks)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Of every target: its language, and what rows call its sentences beside the source's."""
        source, *targets = self.treebanks
        return [(target.language, f"{source.name}+{target.name}") for target in targets]

    def read(self) -> list[list[str]]:
        """By treebank, in the order of `treebanks`: the sentences as they were written.

        Raises:
            InputError: a treebank lacks sentences of the source, or does not name its own.
        """
        wanted = sentence_ids(self.treebanks[0])[: self.sentences]
        parallel = (same_sentences(treebank, wanted, self.name) for treebank in self.treebanks)
        return [[sentence.written for sentence in sentences] for sentences in parallel]


class ParallelTranslations(Declaration):
    """Sentences of a collection in English, and their translations: those that all of several languages have."""

    kind: Literal["translations"] = "translations"
    texts: tuple[NamedPairs, ...]
    """The targets; English is the source of each."""
    sentences: PositiveInt
    """At most."""

    @property
    def codes(self) -> tuple[str, ...]:
        """By which languages' own tokenizers are found."""
        return (SOURCE, *(text.language for text in self.texts))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Of every target: its language, and what rows call its sentences beside the source's."""
        return [(text.language, text.name) for text in self.texts]

    def read(self) -> list[list[str]]:
        """By language, in the order of `codes`: the sentences.

        A sentence that is translated twice has its first translation.

        Raises:
            DataError: a file has changed since it was found.
            InputError: no sentence is translated in all texts.
        """
        translations = [dict(reversed(text.read())) for text in self.texts]
        _, *others = translations
        common = [english for english, _ in self.texts[0].read() if all(english in text for text in others)]
        wanted = list(dict.fromkeys(common))[: self.sentences]
        if not wanted:
            raise InputError(f"no sentence is in all of {', '.join(text.name for text in self.texts)}")
        return [wanted, *([text[english] for english in wanted] for text in translations)]


Parallel = Annotated[WorldParallel | ParallelTreebanks | ParallelTranslations, Field(discriminator="kind")]


def find_parallel(source: str, targets: Sequence[str], sentences: int, world_seed: int = 0) -> Parallel:
    """Parallel sentences by the names of their data.

    All are `world:CODE`; or treebanks, whose test splits are taken; or `ntrex:en` (or of another collection) and its
    translations, such as `ntrex:de:lines-1598-1997`. Whether treebanks are parallel is seen when they are read.

    Raises:
        InputError: there is no such data, some is of the world and some is not, or one is named twice.
    """
    names = (source, *targets)
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{twice} is given twice; a language is compared with others")
    if source in ENGLISH:
        return _translations(source, targets, sentences)
    in_world = [name.startswith(WORLD_PREFIX) for name in names]
    if not any(in_world):
        files = tuple(datasets.find_file("pos", name, "test") for name in names)
        return ParallelTreebanks(treebanks=files, sentences=sentences)
    if not all(in_world):
        other = names[in_world.index(False)]
        raise InputError(f"{other}: sentences of the world are parallel to its own alone; name all {WORLD_PREFIX}CODE")
    codes = tuple(name.removeprefix(WORLD_PREFIX) for name in names)
    for code in codes:
        datasets.check_world_language(code)
    datasets.check_number(source, sentences)
    return WorldParallel(languages=codes, sentences=sentences, seed=world_seed)


def sentence_ids(treebank: FileData) -> list[str]:
    """The `sent_id` of each sentence of a treebank.

    Raises:
        InputError: there is none in the file, so that the ids are ordinals: every treebank has those.
    """
    ids = [sentence.id for sentence in treebank.read()]
    numbers = {one for one in ids if one.isdecimal()}
    if unnamed := numbers and numbers - given_ids(treebank.path):
        problem = f"{treebank.name}: {len(unnamed):,} of its sentences have no sent_id"
        advice = "give each a comment `# sent_id = ID`, the same in both treebanks where they say the same"
        raise InputError(f"{problem}, by which parallel treebanks are compared; {advice}")
    return ids


def same_sentences(treebank: FileData, wanted: Sequence[str], source: str) -> list[Sentence]:
    """The sentences of a treebank that say what those of another say, in their order.

    Args:
        treebank: to read.
        wanted: the `sent_id` of each, as `sentence_ids` gives them.
        source: the name of the other treebank.

    Raises:
        InputError: the treebank lacks some, names the first; or it has no ids of its own.
    """
    by_id: dict[str, Sentence] = dict(zip(sentence_ids(treebank), treebank.read(), strict=True))
    if missing := [sentence_id for sentence_id in wanted if sentence_id not in by_id]:
        problem = f"{treebank.name} lacks {len(missing)} of the {len(wanted)} sentences of {source} to compare"
        advice = "Parallel treebanks, such as the PUD ones, have the same sent_id where they say the same."
        raise InputError(f"{problem}, the first with sent_id {missing[0]!r}", advice)
    return [by_id[sentence_id] for sentence_id in wanted]


ENGLISH = tuple(f"{collection}:{SOURCE}" for collection in COLLECTIONS)
"""How collections name the source of their translations."""


def _translations(source: str, targets: Sequence[str], sentences: int) -> ParallelTranslations:
    collection = source.removesuffix(SOURCE)
    if other := next((name for name in targets if not name.startswith(collection)), None):
        raise InputError(f"{other}: it is no translation of {source}; name targets {collection}CODE")
    return ParallelTranslations(texts=tuple(map(find_named_pairs, targets)), sentences=sentences)
