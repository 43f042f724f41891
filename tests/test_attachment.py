import os
import random
from dataclasses import replace
from pathlib import Path

import pytest
from udtools import udeval

from babelscope.core.errors import InputError
from babelscope.core.examples import DEPREL, UPOS, Multiword, Sentence, Tree, Word
from babelscope.corpora.conllu import read_conllu, write_conllu
from babelscope.tasks.attachment import (
    ATTACHMENTS,
    NO_PUNCTUATION,
    attachment_scores,
    attachment_shares,
    count_attachments,
    universal,
)

RELATIONS = ("nsubj", "nsubj:pass", "obl", "obl:agent", "punct", "acl:relcl", "acl")


def random_heads(words, chance):
    """A tree: each word hangs on one that is there already."""
    order = chance.sample(range(1, words + 1), words)
    heads = {word: chance.choice(order[:place]) if place else 0 for place, word in enumerate(order)}
    return [heads[word] for word in range(1, words + 1)]


def random_sentence(number, chance):
    heads = random_heads(chance.randint(1, 9), chance)
    deprels = [chance.choice(RELATIONS) if head else "root" for head in heads]
    pairs = zip(heads, deprels, strict=True)
    words = tuple(Word(chance.choice("abAB"), chance.choice(UPOS), head, deprel) for head, deprel in pairs)
    start = chance.randint(1, len(words))
    multiwords = (Multiword(start, min(start + 2, len(words)), "ab"),) if start < len(words) else ()
    return Sentence(f"s{number}", words, multiwords)


def descendants(heads, word):
    found = {word}
    while (more := {w for w, head in enumerate(heads, start=1) if head in found} - found) != set():
        found |= more
    return found


def damaged(words, chance, rate):
    """The gold tree with some words hung elsewhere and some relations changed; still a tree with one root."""
    heads = [word.head for word in words]
    deprels = [word.deprel for word in words]
    for place, word in enumerate(words):
        if word.head and chance.random() < rate:
            allowed = set(range(1, len(words) + 1)) - descendants(heads, place + 1)
            heads[place] = chance.choice(sorted(allowed))
        if word.head and chance.random() < rate:
            deprels[place] = chance.choice(RELATIONS)
    return Tree(heads, deprels)


def officially(gold, trees, folder):
    """(LAS, UAS) as udtools computes them from files."""
    system = []
    for sentence, tree in zip(gold, trees, strict=True):
        triples = zip(sentence.words, *tree, strict=True)
        system.append(replace(sentence, words=tuple(word._replace(head=h, deprel=d) for word, h, d in triples)))
    loaded = []
    for name, sentences in (("gold", gold), ("system", system)):
        write_conllu(folder / name, sentences)
        loaded.append(udeval.load_conllu_file(str(folder / name)))
    scores = udeval.evaluate(*loaded)
    return scores["LAS"].f1, scores["UAS"].f1


def test_a_thousand_random_cases_equal_udtools(tmp_path):
    chance = random.Random(0)
    for case in range(1000):
        gold = [random_sentence(number, chance) for number in range(chance.randint(1, 3))]
        trees = [damaged(sentence.words, chance, 0.4) for sentence in gold]
        counted = count_attachments([sentence.words for sentence in gold], trees)
        shares = tuple(right.sum() / counted.words.sum() for right in (counted.labelled, counted.heads))
        assert shares == officially(gold, trees, tmp_path), case


@pytest.mark.skipif("BABELSCOPE_DATA" not in os.environ, reason="BABELSCOPE_DATA is not set")
@pytest.mark.parametrize("name", ["French-GSD", "German-GSD", "English-EWT", "Turkish-IMST"])
def test_real_treebanks_equal_udtools(name, tmp_path):
    """With multiword tokens, empty nodes, spaces in words and relations with subtypes."""
    chance = random.Random(name)
    gold = read_conllu(next((Path(os.environ["BABELSCOPE_DATA"]) / "ud" / f"UD_{name}").glob("*test.conllu.gz")))
    assert any(sentence.multiwords for sentence in gold)
    trees = [damaged(sentence.words, chance, 0.2) for sentence in gold]
    las, uas = attachment_scores([sentence.words for sentence in gold], trees)[:2]
    assert 0.5 < las.value < uas.value < 0.95
    assert (las.value, uas.value) == officially(gold, trees, tmp_path)


GOLD = (
    Word("it", "PRON", 2, "nsubj:pass"),
    Word("costs", "VERB", 0, "root"),
    Word("$", "SYM", 4, "nmod"),
    Word("5", "NUM", 2, "obj"),
    Word(".", "PUNCT", 2, "punct"),
)


def test_counts_by_hand():
    tree = Tree([2, 0, 2, 3, 2], ["nsubj", "root", "nmod", "obj", "obj"])
    everything = count_attachments([GOLD], [tree])
    assert [counts.tolist() for counts in everything] == [[5], [3], [2]]
    without = count_attachments([GOLD], [tree], NO_PUNCTUATION)
    assert [counts.tolist() for counts in without] == [[3], [2], [2]]


def test_scores_by_hand():
    tree = Tree([2, 0, 2, 3, 2], ["nsubj", "root", "nmod", "obj", "obj"])
    scores = attachment_scores([GOLD, GOLD], [tree, Tree([2, 0, 4, 2, 2], [word.deprel for word in GOLD])])
    assert {score.measure: score.value for score in scores} == {
        "las": 7 / 10, "uas": 8 / 10, "las.nopunct": 5 / 6, "uas.nopunct": 5 / 6,
    }  # fmt: skip
    assert all(score.low <= score.value <= score.high for score in scores)


def test_sentences_of_punctuation_alone_do_not_count_without_it():
    dots = (Word(".", "PUNCT", 0, "root"), Word(".", "PUNCT", 1, "punct"))
    trees = [Tree([0, 1], ["root", "punct"]), Tree([word.head for word in GOLD], [word.deprel for word in GOLD])]
    assert [score.measure for score in attachment_scores([dots], trees[:1])] == ["las", "uas"]
    assert [score.value for score in attachment_scores([dots, GOLD], trees)] == [1.0] * 4


def slow_share(measure, gold, trees):
    """Word by word."""
    right = words = 0
    for sentence, (heads, deprels) in zip(gold, trees, strict=True):
        for word, head, deprel in zip(sentence, heads, deprels, strict=True):
            if measure.endswith(".nopunct") and word.upos in ("PUNCT", "SYM"):
                continue
            alike = measure.startswith("uas") or deprel.split(":")[0] == word.deprel.split(":")[0]
            words, right = words + 1, right + (head == word.head and alike)
    return right / words


def test_shares_are_those_counted_word_by_word_and_those_of_an_evaluation():
    chance = random.Random(1)
    for _ in range(100):
        gold = [random_sentence(number, chance).words for number in range(4)]
        trees = [damaged(words, chance, 0.4) for words in gold]
        found = attachment_shares(tuple(ATTACHMENTS), gold, trees)
        assert found == {measure: slow_share(measure, gold, trees) for measure in ATTACHMENTS}
        assert found == {score.measure: score.value for score in attachment_scores(gold, trees)}


def test_sentences_without_a_word_that_counts_are_refused():
    dots, tree = (Word(".", "PUNCT", 0, "root"),), Tree([0], ["root"])
    assert attachment_shares(["las"], [dots], [tree]) == {"las": 1}
    with pytest.raises(InputError, match=r"those of 1 sentences: all .* PUNCT and SYM, which las\.nopunct leaves out"):
        attachment_shares(["las.nopunct"], [dots], [tree])


def test_trees_must_be_over_the_same_words():
    for wrong in ([], [Tree([0], ["root"])], [Tree([2, 0, 2, 2, 2], ["dep"])]):
        with pytest.raises(ValueError, match="argument"):
            count_attachments([GOLD], wrong)


def test_relations_lose_their_subtypes():
    assert [universal(deprel) for deprel in ("nsubj:pass", "obl:arg:x", "root")] == ["nsubj", "obl", "root"]
    assert len(set(DEPREL)) == 37
