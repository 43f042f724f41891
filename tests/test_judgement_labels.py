"""The world's sentence tasks are labelled rightly: by brute force over small worlds, and by other ways to the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.world import FAMILY, World
from babelscope.world.chance import Chance
from babelscope.world.edits import add, draw_plain, drop, edited, exchange, generalise, inference, oppose, specialise
from babelscope.world.family import Grammar
from babelscope.world.judgements import DRAWS, similarity
from babelscope.world.meaning import Clause, Nominal
from babelscope.world.realise import Node, realise
from babelscope.world.violations import letters, pattern, violate
from babelscope.world.world import Inflector
from meanings import canonical, facts, judged, judgements

WORLD = World()
EDITS = (drop, add, generalise, specialise, oppose, exchange)
codes = st.sampled_from(list(FAMILY))
numbers = st.integers(0, 10**9)
laws = settings(max_examples=100, deadline=None)


# Inference, by brute force over small worlds


@given(number=numbers, count=st.integers(0, 3), denied=st.tuples(st.booleans(), st.booleans()), swap=st.booleans())
@settings(max_examples=400, deadline=None)
def test_inference_is_truth_in_all_worlds(number, count, denied, swap):
    chance = Chance("law", number)
    first = second = draw_plain(chance)
    for _ in range(count):
        second = edited(chance, second, EDITS)
    first, second = first._replace(negated=denied[0]), second._replace(negated=denied[1])
    if swap:
        first, second = second, first
    assert inference(first, second) == judged(first, second)


def test_the_labels_of_inference_are_right():
    for premise, hypothesis, label in judgements("inference", 360):
        assert judged(premise, hypothesis) == label


def test_negations_and_lengths_go_with_no_label_of_inference():
    seen = defaultdict(Counter)
    for premise, hypothesis, label in judgements("inference", 720):
        length = len(facts(hypothesis)) - len(facts(premise))
        seen[label].update(premise=premise.negated, hypothesis=hypothesis.negated)
        seen[label].update(longer=length > 0, shorter=length < 0)
    for what in ("premise", "hypothesis"):
        assert len({counts[what] for counts in seen.values()}) == 1
        assert 0.2 < seen["neutral"][what] / 240 <= 0.5


# Sentiment, acceptability, similarity, paraphrase


def words(clause: Clause, code: str = "qaa") -> list[Node]:
    return list(realise(clause, FAMILY[code].grammar).surface())


def test_sentiment_is_that_of_the_one_polar_word_turned_round_by_a_negation_of_its_predicate():
    shown = Counter()
    for meaning, _, label in judgements("sentiment", 600):
        nodes = words(meaning)
        (polar,) = (node for node in nodes if node.concept and node.concept.polarity)
        denied = any(node.upos == "PART" for node in nodes) and polar.deprel == "root"
        assert label == ("1" if (polar.concept.polarity > 0) != denied else "0")
        shown[polar.deprel, denied] += 1
    assert min(shown["root", True], shown["root", False], shown["amod", False]) >= 150


def rearranged(clause: Clause) -> Iterator[Clause]:
    """All clauses with the same words: nouns and adjectives of a clause shared out anew, no adjective to a name."""
    sites = [
        ("subject", clause.subject),
        ("object", clause.object),
        ("oblique", clause.obliques and clause.obliques[0][1]),
    ]
    there = [(site, nominal) for site, nominal in sites if nominal]
    adjectives = [adjective for _, nominal in there for adjective in nominal.adjectives]
    for order in permutations([nominal for _, nominal in there]):
        nouns = [number for number, nominal in enumerate(order) if nominal.head.upos == "NOUN"]
        for places in product(nouns, repeat=len(adjectives)):
            shared = [
                nominal._replace(adjectives=tuple(a for a, p in zip(adjectives, places, strict=True) if p == number))
                for number, nominal in enumerate(order)
            ]
            yield _with_nominals(clause, dict(zip([site for site, _ in there], shared, strict=True)))


def _with_nominals(clause: Clause, nominals: dict[str, Nominal]) -> Clause:
    obliques = ((clause.obliques[0][0], nominals["oblique"]),) if clause.obliques else ()
    return clause._replace(subject=nominals["subject"], object=nominals.get("object"), obliques=obliques)


def surface(tree: Node) -> list[tuple]:
    return [(node.concept.name if node.concept else node.text, node.features) for node in tree.surface()]


@given(number=numbers, code=codes, denied=st.booleans())
@laws
def test_a_violation_misorders_words_or_misses_one_agreement_and_is_no_other_sentence(number, code, denied):
    chance, grammar = Chance("law", number), FAMILY[code].grammar
    meaning = draw_plain(chance, denied)
    right, wrong = surface(realise(meaning, grammar)), surface(violate(chance, meaning, grammar))
    if sorted(right) == sorted(wrong):
        assert wrong not in [surface(realise(other, grammar)) for other in rearranged(meaning)]
    else:
        (differing,) = [(a, b) for a, b in zip(right, wrong, strict=True) if a != b]
        assert differing[0][0] == differing[1][0]
        assert set(differing[0][1]) ^ set(differing[1][1]) == {"plural"}


@given(number=numbers, code=codes, denied=st.booleans())
@laws
def test_well_formed_clauses_match_the_pattern_of_their_language(number, code, denied):
    grammar = FAMILY[code].grammar
    tree = realise(draw_plain(Chance("law", number), denied), grammar)
    assert pattern(grammar).fullmatch(letters(tree))


@pytest.mark.parametrize("code", FAMILY)
def test_both_kinds_of_violation_are_seen_in_every_language(code):
    right = WORLD.treebank(code, "train", 1)  # a known split, so that an unknown code fails here
    grammar, chance, kinds = FAMILY[code].grammar, Chance("kinds", code), Counter()
    assert right
    for _ in range(300):
        meaning = draw_plain(chance)
        ours, theirs = surface(realise(meaning, grammar)), surface(violate(chance, meaning, grammar))
        kinds[sorted(ours) == sorted(theirs)] += 1
    assert min(kinds.values()) > 100


@pytest.mark.parametrize(("adjective_plural", "kinds"), [("", {True}), ("n", {True, False})])
def test_an_agreement_that_no_ending_shows_is_none_to_miss(adjective_plural, kinds):
    """A language may have no endings of verbs. What is wrong is seen all the same, by order or by an adjective."""
    grammar, chance, seen = (
        replace(FAMILY["qaa"].grammar, verb_plural="", adjective_plural=adjective_plural),
        Chance(1),
        set(),
    )
    for _ in range(300):
        meaning = draw_plain(chance)
        right, wrong = (shown(tree, grammar) for tree in (realise(meaning, grammar), violate(chance, meaning, grammar)))
        assert right != wrong
        seen.add(sorted(right) == sorted(wrong))
    assert seen == kinds


def shown(tree: Node, grammar: Grammar) -> list[str]:
    """The words as they can be told apart."""
    return [
        node.concept.name + "".join(grammar.ending(node.upos, feature) for feature in node.features)
        if node.concept else node.text for node in tree.surface()
    ]  # fmt: skip


def test_unacceptable_sentences_are_not_written_like_the_right_ones():
    for code in FAMILY:
        inflect = Inflector(WORLD.lexicons[code], FAMILY[code])
        meanings = islice(DRAWS["acceptability"](Chance("judgement", 0, "acceptability", "test", "all")), 100)
        for (meaning, _, label), example in zip(
            meanings, WORLD.examples(code, "acceptability", "test", 100), strict=True
        ):
            nodes = words(meaning, code)
            right = " ".join(inflect(node.concept, node.features) if node.concept else node.text for node in nodes)
            assert (example.first == right) == (label == "1")


def parts(clause: Clause) -> dict[str, frozenset]:
    """Path in the tree -> what stands there, all adjectives of a noun as one part, without articles and tense."""
    found = defaultdict(list)
    for node in words(clause):
        if node.concept and node.upos not in ("DET", "AUX"):
            path = "predicate" if node.deprel == "root" else node.meaning.rstrip("0123456789")
            found[path].append(node.concept.name)
    return {path: frozenset(names) for path, names in found.items()}


def test_similarity_is_the_share_of_parts_that_are_the_same():
    for first, second, label in judgements("similarity", 300):
        one, other = parts(first), parts(second)
        same = sum(one[path] == other.get(path) for path in one)
        assert label == pytest.approx(5 * same / len(one.keys() | other.keys()), abs=0.0051)


@given(number=numbers)
@laws
def test_similarity_is_symmetric_and_full_with_itself(number):
    chance = Chance("law", number)
    first = second = draw_plain(chance)
    second = edited(chance, second, EDITS)
    assert similarity(first, second) == similarity(second, first) <= similarity(first, first) == 5


def test_paraphrases_mean_the_same_and_near_misses_do_not():
    for first, second, label in judgements("paraphrase", 400):
        assert first != second
        assert (canonical(first) == canonical(second)) == (label == "1")
