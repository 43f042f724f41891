"""The languages of the world: lexicons, scripts, descent, word order and agreement."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.core.examples import Tagged
from babelscope.tasks.baselines.word_majority import WordMajority
from babelscope.tasks.kinds.tagging import score_labels
from babelscope.world import FAMILY, World
from babelscope.world.chance import Chance
from babelscope.world.concepts import NOUN_CLASSES, concepts_of, inventory
from babelscope.world.family import typological_distance
from babelscope.world.lexicon import OPEN_CLASSES, SCRIPTS, changed, shared_names
from babelscope.world.meaning import draw_sentence
from babelscope.world.realise import Node, realise

WORLD = World()
SCRIPT_NAMES = {"Latn": "LATIN", "Cyrl": "CYRILLIC", "Grek": "GREEK"}
COINED = [code for code, member in FAMILY.items() if not member.parent and not member.lexicon_of]
SHARED = {WORLD.lexicons["qaa"][name].form for name in shared_names()}
codes = st.sampled_from(list(FAMILY))
meanings = st.integers(0, 10**9).map(lambda number: draw_sentence(Chance("law", number)))
laws = settings(max_examples=200, deadline=None)


# Concepts


def test_antonyms_are_mutual_and_of_opposite_polarity():
    having = [concept for concept in inventory().values() if concept.antonym]
    assert len(having) > 40
    for concept in having:
        antonym = inventory()[concept.upos, concept.antonym]
        assert antonym.antonym == concept.name != antonym.name
        assert concept.polarity * antonym.polarity <= 0
        if concept.upos == "ADJ":
            assert concept.polarity == -antonym.polarity


def test_hypernyms_head_their_classes():
    for category, members in NOUN_CLASSES.items():
        hypernym, *others = (inventory()["NOUN", name] for name in members.split())
        assert hypernym.hypernym is None and hypernym.category == category
        assert others and all(other.hypernym == hypernym.name and other.category == category for other in others)


def test_verbs_and_adjectives_go_with_classes_that_exist():
    for concept in concepts_of("VERB") + concepts_of("ADJ"):
        assert concept.subjects and concept.subjects | (concept.objects or frozenset()) <= set(NOUN_CLASSES)


# Lexicons and scripts


@pytest.mark.parametrize("code", COINED)
def test_coined_roots_are_shared_by_two_concepts_at_most_and_never_within_a_part_of_speech(code):
    holders = defaultdict(list)
    for concept, root in WORLD.lexicons[code].items():
        holders[root.form].append(concept.upos)
    assert all(len(set(parts)) == len(parts) <= 2 for parts in holders.values())


@pytest.mark.parametrize("code", FAMILY)
def test_about_half_of_nouns_verbs_and_adjectives_share_their_root_with_another_part_of_speech(code):
    parts = defaultdict(set)
    for concept, root in WORLD.lexicons[code].items():
        parts[root.form].add(concept.upos)
    contents = [concept for upos in OPEN_CLASSES for concept in concepts_of(upos)]
    ambiguous = [concept for concept in contents if len(parts[WORLD.lexicons[code][concept].form]) > 1]
    assert 0.45 <= len(ambiguous) / len(contents) <= 0.7


@pytest.mark.parametrize("code", FAMILY)
def test_a_tagger_that_sees_only_the_word_fails_where_words_are_ambiguous(code):
    train, test = (
        [Tagged(sentence.forms, sentence.upos) for sentence in WORLD.treebank(code, split, count)]
        for split, count in (("train", 1500), ("test", 500))
    )
    ceiling = 0.93 if code == "qaa" else 0.95
    assert 0.85 < score_labels(WordMajority().fit(train)([words for words, _ in test]), test)[0].value < ceiling


def test_scripts_are_one_to_one_and_survive_normalisation():
    for script, letters in SCRIPTS.items():
        written = [chr(letter) if isinstance(letter, int) else letter for letter in letters.values()]
        assert len(set(written)) == len(written) in (0, 26)
        assert all(unicodedata.name(letter).startswith(SCRIPT_NAMES[script]) for letter in written)
        assert all(unicodedata.normalize("NFKC", letter) == letter == letter.lower() for letter in written)


@pytest.mark.parametrize("code", FAMILY)
def test_words_are_in_the_language_s_script_but_for_shared_names_and_digits(code):
    script = SCRIPT_NAMES[FAMILY[code].language.script]
    sentences = WORLD.treebank(code, "train", 300)
    words = {word for sentence in sentences for word in sentence.words if word.upos != "PUNCT"}
    assert any(word.form in SHARED for word in words)
    for word in words:
        if word.form not in SHARED and not word.form.isdigit():
            assert all(unicodedata.name(letter).startswith(script) for letter in word.form)
    assert {w.form for s in sentences for w in s.words if w.upos == "PUNCT"} == {".", ",", "?", "!"}


def test_qah_is_qag_letter_by_letter_and_back():
    there = SCRIPTS["Grek"]
    back = {ord(letter) if isinstance(letter, str) else letter: original for original, letter in there.items()}
    for first, second in zip(*(WORLD.treebank(code, "test", 300) for code in ("qag", "qah")), strict=True):
        words = [(a.form, b.form) for a, b in zip(first.words, second.words, strict=True) if a.form not in SHARED]
        assert all(latin.translate(there) == greek and greek.translate(back) == latin for latin, greek in words)
        assert [word[1:] for word in first.words] == [word[1:] for word in second.words]


# Descent


@pytest.mark.parametrize("code", [code for code, member in FAMILY.items() if member.parent])
def test_cognates_are_the_parent_s_roots_after_regular_sound_change(code):
    member = FAMILY[code]
    parent, daughter = WORLD.lexicons[member.parent], WORLD.lexicons[code]
    own = [concept for concept in parent if concept not in shared_names()]
    kept = [concept for concept in own if daughter[concept].coined_in == parent[concept].coined_in]
    assert all(daughter[concept] == changed(parent[concept], member.changes) for concept in kept)
    assert all(daughter[concept].coined_in == code for concept in own if concept not in kept)
    assert len(kept) / len(own) == pytest.approx(1 - member.replaced, abs=0.1)
    assert len(kept) / len(own) == WORLD.relatedness(member.parent, code).cognates
    assert all(daughter[name] == parent[name] for name in shared_names())


def test_relatedness_falls_from_near_to_middle_to_far_to_isolate():
    cognates = {code: WORLD.relatedness("qaa", code).cognates for code in FAMILY}
    assert cognates["qaa"] == 1
    assert min(cognates["qab"], cognates["qac"], cognates["qag"]) > cognates["qad"] + 0.2
    assert cognates["qad"] > cognates["qae"] + 0.2 > cognates["qaf"] + 0.4
    assert cognates["qaf"] == cognates["qai"] == WORLD.relatedness("qaf", "qai").cognates == 0
    assert WORLD.relatedness("qag", "qah") == (1, 0)
    assert typological_distance("qaa", "qab") < typological_distance("qaa", "qad") < typological_distance("qaa", "qae")


def test_relatedness_is_symmetric_and_a_language_is_most_related_to_itself():
    for first, second in combinations(FAMILY, 2):
        assert WORLD.relatedness(first, second) == WORLD.relatedness(second, first)
        assert WORLD.relatedness(first, first) == (1, 0)


# Word order, read off the treebanks


def side(sentence, number: int) -> str:
    return "before" if number < sentence.words[number - 1].head else "after"


def observed(code: str) -> dict[str, set[str]]:
    """Where dependents stand, by deprel; the subject of a copula (`cop-nsubj`) and of a verb apart."""
    seen = defaultdict(set)
    for sentence in WORLD.treebank(code, "train", 800):
        for number, word in enumerate(sentence.words, 1):
            if not word.head:
                continue
            head = sentence.words[word.head - 1]
            name = word.deprel if word.deprel != "nsubj" or head.upos == "VERB" else "cop-nsubj"
            if word.upos == "PART":
                name = "not"
            if word.upos != "PRON" or head.deprel != "acl:relcl":  # `who` has a place of its own
                seen[name].add(side(sentence, number))
    return seen


@pytest.mark.parametrize("code", FAMILY)
def test_dependents_stand_where_the_grammar_says(code):
    grammar, seen = FAMILY[code].grammar, observed(code)

    def where(after: bool) -> set[str]:
        return {"after" if after else "before"}

    assert seen["nsubj"] == where(grammar.order == "VSO")
    assert seen["obj"] == seen["obl"] == where(grammar.order != "SOV")
    assert seen["cop-nsubj"] == {"before"}
    assert seen["cop"] == seen["aux"] == where(grammar.order == "SOV")
    assert seen["amod"] == where(grammar.adjective_after)
    assert seen["case"] == seen["mark"] == where(grammar.postpositions)
    assert seen["nmod"] == where(not grammar.possessor_first)
    assert seen["acl:relcl"] == where(not grammar.relative_first)
    assert seen["det"] == where(grammar.determiner_after)
    assert seen["nummod"] == seen["cc"] == {"before"}
    assert seen["conj"] == seen["ccomp"] == seen["advcl"] == seen["flat"] == {"after"}


@pytest.mark.parametrize("code", FAMILY)
def test_negation_stands_on_one_side_of_verb_and_copula(code):
    for sentence in WORLD.treebank(code, "train", 400):
        for number, word in enumerate(sentence.words, 1):
            if word.upos == "PART":
                sisters = [k for k, w in enumerate(sentence.words, 1) if (w.head, w.deprel) == (word.head, "cop")]
                negated = sisters[0] if sisters else word.head
                assert (number > negated) == FAMILY[code].grammar.negation_after


# Agreement and case, on the trees


def edges(node: Node) -> Iterator[tuple[Node, Node]]:
    for child in (*node.before, *node.after):
        yield node, child
        yield from edges(child)


def child(node: Node, deprel: str) -> Node | None:
    return next((other for other in (*node.before, *node.after) if other.deprel == deprel), None)


def is_plural(subject: Node) -> bool:
    conjunct = child(subject, "conj")
    joined = conjunct is not None and child(conjunct, "cc").concept.name == "and"
    return joined or "plural" in subject.features or subject.concept.name == "they"


@given(meaning=meanings, code=codes)
@laws
def test_verbs_and_copulas_agree_with_their_subjects(meaning, code):
    root = realise(meaning, FAMILY[code].grammar)
    parent = {id(other): node for node, other in edges(root)}
    for head, subject in ((node, other) for node, other in edges(root) if other.deprel == "nsubj"):
        relative = subject.concept.name == "who"  # then the subject is the noun that the clause modifies
        plural = "plural" in parent[id(head)].features if relative else is_plural(subject)
        verb = child(head, "cop") or head
        assert verb.upos in ("AUX", "VERB")
        assert ("plural" in verb.features) == plural


@given(meaning=meanings, code=codes)
@laws
def test_adjectives_agree_where_the_language_has_it(meaning, code):
    grammar = FAMILY[code].grammar
    for noun, adjective in edges(realise(meaning, grammar)):
        if adjective.deprel == "amod":
            expected = bool(grammar.adjective_plural) and "plural" in noun.features
            assert adjective.features == (("plural",) if expected else ())


@given(meaning=meanings, code=codes)
@laws
def test_objects_and_what_is_joined_to_them_are_accusative_and_nothing_else_is(meaning, code):
    root = realise(meaning, FAMILY[code].grammar)
    parent = {id(other): node for node, other in edges(root)}
    for _, node in edges(root):
        role = parent[id(node)].deprel if node.deprel == "conj" else node.deprel
        assert ("accusative" in node.features) == (node.upos == "NOUN" and role == "obj")


@given(meaning=meanings, code=codes)
@laws
def test_languages_differ_in_words_for_a_meaning_only_by_articles(meaning, code):
    def said(grammar) -> list[tuple]:
        nodes = realise(meaning, grammar).surface()
        return sorted(
            (n.meaning, n.upos, n.deprel, n.concept.name if n.concept else n.text) for n in nodes if n.meaning
        )

    grammar = FAMILY[code].grammar
    missing = {"the"} if not grammar.definite_article else set()
    missing |= {"a"} if not grammar.indefinite_article else set()
    source = [word for word in said(FAMILY["qaa"].grammar) if not (word[1] == "DET" and word[3] in missing)]
    assert said(grammar) == source
    assert len({word[0] for word in source}) == len(source)
