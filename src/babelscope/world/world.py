"""The world as a source of data: text, treebanks, parallel sentences, code-switched text, all from one seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.examples import Parallel, Sentence, SentencePair, Tagged
from babelscope.world.chance import Chance
from babelscope.world.concepts import Concept
from babelscope.world.family import LANGUAGES, Member, typological_distance
from babelscope.world.judgements import DRAWS, Judgement
from babelscope.world.languages import FAMILY
from babelscope.world.lexicon import SCRIPTS, Lexicon, cognate_share, coin_lexicon, coin_names, inherit, shared_names
from babelscope.world.meaning import Clause, draw_sentence
from babelscope.world.pairs import draw_pairs
from babelscope.world.realise import Node, form, realise, write
from babelscope.world.violations import violate

VERSION = 2
"""Raise it whenever the same call would give other data: it is part of every key that rests on the world."""

SPLITS = ("train", "dev", "test")


class Relatedness(NamedTuple):
    """`cognates`: share of concepts (0 to 1) whose roots are of one origin. `typology`: `typological_distance`."""

    cognates: float
    typology: float


class Lexicons(dict[str, Lexicon]):
    """Language code -> concept -> root; each is made when it is first asked for, after its parent's."""

    def __init__(self, seed: int):
        super().__init__()
        self._seed = seed

    def __missing__(self, code: str) -> Lexicon:
        member, chance = LANGUAGES[code], Chance("lexicon", self._seed, code)
        if member.lexicon_of:
            lexicon = self[member.lexicon_of]
        elif member.parent:
            lexicon = inherit(chance, self[member.parent], member.changes, member.replaced, code)
        else:
            lexicon = coin_lexicon(chance, coin_names(Chance("names", self._seed)), code)
        return self.setdefault(code, lexicon)


class World:
    """All languages for one seed. The same seed gives the same bytes everywhere.

    What is made of a language depends on its own definition and those of the languages that its words are from, not
    on which others there are.
    """

    def __init__(self, seed: int = 0):
        self.seed = seed
        self.lexicons = Lexicons(seed)

    def text(self, language: str, count: int, switched: float = 0.0) -> list[str]:
        """Non-parallel sentences for pre-training, words separated by spaces.

        `switched` is the share, of the words that have a meaning, replaced by the word for it of another language of
        the family that encoders have seen.
        Punctuation and digits are never replaced, and shared names look the same in every language: with 0.2 about a
        sixth of all words differ.
        """
        chance = Chance("switch", self.seed, language)
        trees = islice(self._trees(language, "text", language), count)
        return [" ".join(self._switched(tree, language, switched, chance)) for tree in trees]

    def text_pairs(self, language: str, count: int, switched: float = 0.0) -> list[str]:
        """Pairs of related sentences for pre-training, with the special piece `[SEP]` between them.

        The second sentence leaves something out, adds, denies or exchanges it, or says the same otherwise. Half of the
        pairs begin with a conjunction that says how they hang together: `if` where the second follows from the first
        or says the same otherwise, `but` where it contradicts it, `and` where neither. `switched` is as for `text`.
        """
        chance, inflect = Chance("switch pairs", self.seed, language), self._inflect(language)
        grammar = self.member(language).grammar
        lines = []
        for first, second, conjunction in islice(draw_pairs(Chance("pairs", self.seed, language)), count):
            trees = (realise(meaning, grammar) for meaning in (first, second))
            said = " [SEP] ".join(" ".join(self._switched(tree, language, switched, chance)) for tree in trees)
            lines.append(f"{inflect(conjunction, ())} {said}" if conjunction else said)
        return lines

    def treebank(self, language: str, split: str, count: int) -> list[Sentence]:
        """Annotated sentences. The test split says the same things in every language, the others do not."""
        trees = islice(self._treebank(language, split), count)
        return [write(tree, self._inflect(language), f"{language}-{split}-{k}") for k, tree in enumerate(trees, 1)]

    def entities(self, language: str, split: str, count: int) -> list[Tagged]:
        """The sentences of the treebank with BIO tags: a name, of one word or two, is a PER, a LOC or an ORG."""
        inflect = self._inflect(language)
        nodes = (list(tree.surface()) for tree in islice(self._treebank(language, split), count))
        return [Tagged([form(node, inflect) for node in each], [_entity(node) for node in each]) for each in nodes]

    def examples(self, language: str, task: str, split: str, count: int) -> list[SentencePair]:
        """Labelled sentences or pairs of the tasks inference, acceptability, sentiment, paraphrase and similarity.

        Labels are balanced. The test split says the same things in every language, the others do not.
        """
        if task not in DRAWS:
            raise InputError(f"the world has no task {task!r}; there are {', '.join(DRAWS)}")
        self.member(language)
        judgements = DRAWS[task](Chance("judgement", self.seed, task, split, _stream(language, split)))
        faults = Chance("violation", self.seed, split, language)
        return [self._example(judgement, language, task, faults) for judgement in islice(judgements, count)]

    def parallel(self, languages: Sequence[str], count: int) -> list[Parallel]:
        """The same new meanings in several languages, with word alignments."""
        meanings = islice(self._meanings("parallel", "all"), count)
        return [self._parallel(meaning, languages, f"parallel-{k}") for k, meaning in enumerate(meanings, 1)]

    def parallel_text(self, first: str, second: str, count: int) -> list[tuple[str, str]]:
        """Sentences to train on, each in two languages: words separated by spaces, meanings drawn for them alone."""
        grammars = [(self.member(code).grammar, self._inflect(code)) for code in (first, second)]
        meanings = islice(self._meanings("parallel text", "all"), count)
        said = ([_said(realise(meaning, grammar), inflect) for grammar, inflect in grammars] for meaning in meanings)
        return [(text, translation) for text, translation in said]

    def aligned_text(self, first: str, second: str, count: int) -> list[Parallel]:
        """The pairs of `parallel_text` with their words' meanings, which say which words translate each other."""
        meanings = islice(self._meanings("parallel text", "all"), count)
        return [self._parallel(meaning, (first, second), "") for meaning in meanings]

    def member(self, language: str) -> Member:
        """The definition of a language by its code; an unknown code is an `InputError`."""
        if language not in LANGUAGES:
            raise InputError(f"the world has no language {language!r}; there are {', '.join(LANGUAGES)}")
        return LANGUAGES[language]

    def relatedness(self, first: str, second: str) -> Relatedness:
        """How closely two languages are related: known from their making, not estimated from data."""
        for code in (first, second):
            self.member(code)
        return Relatedness(
            cognate_share(self.lexicons[first], self.lexicons[second]), typological_distance(first, second)
        )

    def _parallel(self, meaning: Clause, languages: Sequence[str], identifier: str) -> Parallel:
        trees = {code: realise(meaning, self.member(code).grammar) for code in languages}
        paths = {code: [node.meaning for node in tree.surface()] for code, tree in trees.items()}
        number: dict[str | None, int] = {None: -1}
        for path in (path for code in languages for path in paths[code]):
            number.setdefault(path, len(number) - 1)
        return Parallel(
            {code: write(tree, self._inflect(code), identifier) for code, tree in trees.items()},
            {code: tuple(number[path] for path in paths[code]) for code in languages},
        )

    def _meanings(self, *stream: str) -> Iterator[Clause]:
        chance = Chance("meaning", self.seed, *stream)
        while True:
            yield draw_sentence(chance)

    def _treebank(self, language: str, split: str) -> Iterator[Node]:
        return self._trees(language, f"treebank-{split}", _stream(language, split))

    def _example(self, judgement: Judgement, language: str, task: str, faults: Chance) -> SentencePair:
        grammar, inflect = self.member(language).grammar, self._inflect(language)
        wrong = task == "acceptability" and judgement.label == "0"
        first = violate(faults, judgement.first, grammar) if wrong else realise(judgement.first, grammar)
        second = realise(judgement.second, grammar) if judgement.second else None
        return SentencePair(_said(first, inflect), _said(second, inflect) if second else None, judgement.label)

    def _trees(self, language: str, *stream: str) -> Iterator[Node]:
        grammar = self.member(language).grammar
        return (realise(meaning, grammar) for meaning in self._meanings(*stream))

    def _inflect(self, language: str) -> Inflector:
        member = self.member(language)
        return Inflector(self.lexicons[language], member)

    def _switched(self, tree: Node, language: str, share: float, chance: Chance) -> Iterator[str]:
        others = [code for code, member in FAMILY.items() if member.seen and code != language]
        for node in tree.surface():
            switch = share and node.concept and chance.happens(share)
            yield form(node, self._inflect(chance.pick(others) if switch else language))


def _stream(language: str, split: str) -> str:
    """The meanings of a split: the language's own, but for the test split, which all languages share."""
    if split not in SPLITS:
        raise InputError(f"the world has no split {split!r}; there are {', '.join(SPLITS)}")
    return "all" if split == "test" else language


def _said(tree: Node, inflect: Inflector) -> str:
    return " ".join(form(node, inflect) for node in tree.surface())


def _entity(node: Node) -> str:
    """The BIO tag of a word."""
    if node.upos != "PROPN" or node.concept is None:
        return "O"
    return f"{'I' if node.deprel == 'flat' else 'B'}-{node.concept.category}"


class Inflector:
    """Writes a concept with its suffixes in one language's script."""

    def __init__(self, lexicon: Lexicon, member: Member):
        self.lexicon, self.grammar = lexicon, member.grammar
        self.script = SCRIPTS[member.language.script]

    def __call__(self, concept: Concept, features: tuple[str, ...]) -> str:
        """The written form of a concept."""
        root = self.lexicon[concept].form
        if concept in shared_names():
            return root
        endings = (self.grammar.ending(concept.upos, feature) for feature in features)
        return (root + "".join(endings)).translate(self.script)
