"""The world's sentence tasks and entities: balanced, the same meanings in all languages, and rightly labelled."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.core.examples import SentencePair
from babelscope.core.tasks import TASKS
from babelscope.tasks.baselines.bag_of_words import BagOfWords
from babelscope.world import FAMILY, World
from babelscope.world.concepts import Concept, inventory
from babelscope.world.judgements import DRAWS
from babelscope.world.lexicon import SCRIPTS
from babelscope.world.world import Inflector

GOLDEN = "bb8ccb5a844ba0657bef37a0d9e3a797f43d58cb8d9f66644e8169c66167066f"
"""The digest of `sample`: raise `world.VERSION` where it must change."""

WORLD = World()
codes = st.sampled_from(list(FAMILY))
tasks = st.sampled_from(list(DRAWS))


def sample(world: World) -> str:
    """Some of everything, as text."""
    given = [
        [world.examples(code, task, split, 40) for code in FAMILY for task in DRAWS for split in ("train", "test")],
        [world.entities(code, "dev", 40) for code in FAMILY],
        [world.text_pairs(code, 60, 0.2) for code in FAMILY],
    ]
    return json.dumps(given)


def test_the_data_are_what_they_were():
    assert hashlib.sha256(sample(World()).encode()).hexdigest() == GOLDEN


def test_another_seed_gives_other_examples():
    assert World(1).examples("qaa", "inference", "test", 10) != WORLD.examples("qaa", "inference", "test", 10)
    assert World(1).text_pairs("qaa", 10) != WORLD.text_pairs("qaa", 10)


@given(code=codes, task=tasks, first=st.integers(0, 20), more=st.integers(0, 20))
@settings(max_examples=30, deadline=None)
def test_fewer_examples_are_the_beginning_of_more(code, task, first, more):
    assert WORLD.examples(code, task, "dev", first) == WORLD.examples(code, task, "dev", first + more)[:first]
    assert WORLD.text_pairs(code, first, 0.2) == WORLD.text_pairs(code, first + more, 0.2)[:first]
    assert WORLD.entities(code, "dev", first) == WORLD.entities(code, "dev", first + more)[:first]


@pytest.mark.parametrize("task", DRAWS)
def test_labels_are_those_of_the_task_and_alike_frequent(task):
    counts = Counter(example.label for example in WORLD.examples("qaa", task, "train", 360))
    if task == "similarity":
        degrees = Counter(round(float(label)) for label in counts.elements())
        assert degrees == dict.fromkeys(range(6), 60)
    else:
        assert counts == dict.fromkeys(TASKS[task].labels, 360 // len(TASKS[task].labels))


@pytest.mark.parametrize("task", DRAWS)
def test_pairs_are_pairs_and_sentences_sentences(task):
    for example in WORLD.examples("qaf", task, "train", 60):
        assert (example.second is not None) == TASKS[task].pair
        assert all(text.endswith(" .") and "  " not in text for text in (example.first, example.second) if text)


@pytest.mark.parametrize("task", DRAWS)
def test_the_training_examples_of_a_language_are_its_own_and_not_the_test_s(task):
    first, second = (WORLD.examples(code, task, "train", 200) for code in ("qag", "qah"))
    back = {ord(letter) if isinstance(letter, str) else letter: old for old, letter in SCRIPTS["Grek"].items()}
    assert sum(a.first == b.first.translate(back) for a, b in zip(first, second, strict=True)) < 20
    test = {(example.first, example.second) for example in WORLD.examples("qag", task, "test", 200)}
    assert len(test & {(example.first, example.second) for example in first}) < 10


# The same meanings in all languages


@cache
def forms_of(code: str) -> dict[str, set[Concept]]:
    inflect, forms = Inflector(WORLD.lexicons[code], FAMILY[code]), defaultdict(set)
    features = {
        "NOUN": ("plural", "accusative"),
        "VERB": ("plural", "past"),
        "AUX": ("plural", "past"),
        "ADJ": ("plural",),
    }
    for concept in inventory().values():
        for size in range(3):
            for chosen in combinations(features.get(concept.upos, ()), size):
                forms[inflect(concept, chosen)].add(concept)
    return forms


@pytest.mark.parametrize("task", DRAWS)
def test_the_test_split_means_the_same_in_every_language(task):
    source, source_forms = WORLD.examples("qaa", task, "test", 60), forms_of("qaa")
    for code in FAMILY:
        forms, examples = forms_of(code), WORLD.examples(code, task, "test", 60)
        assert [example.label for example in examples] == [example.label for example in source]
        for one, other in zip(source, examples, strict=True):
            assert all_said(one.first, source_forms, other.first, forms)
            assert all_said(one.second or "", source_forms, other.second or "", forms)


def all_said(text: str, forms: dict[str, set[Concept]], other: str, other_forms: dict[str, set[Concept]]) -> bool:
    """Whether each word of a text but articles, which some languages lack, may mean what a word of the other does."""
    theirs = [other_forms.get(word, set()) for word in other.split()]
    ours = [forms[word] for word in text.split() if word in forms]
    return all(any(meant & said for said in theirs) for meant in ours if all(one.upos != "DET" for one in meant))


@pytest.mark.parametrize("task", [task for task in DRAWS if task != "acceptability"])
def test_qah_says_what_qag_says_letter_by_letter(task):
    back = {ord(letter) if isinstance(letter, str) else letter: old for old, letter in SCRIPTS["Grek"].items()}
    latin, greek = (WORLD.examples(code, task, "test", 60) for code in ("qag", "qah"))
    for one, other in zip(latin, greek, strict=True):
        assert (one.first, one.second or "") == (other.first.translate(back), (other.second or "").translate(back))


# What gives nothing away


def accuracy(train: list[SentencePair], test: list[SentencePair]) -> float:
    predicted = BagOfWords().fit(train)([example.text for example in test])
    return sum(a == example.label for a, example in zip(predicted, test, strict=True)) / len(test)


@cache
def many(task):
    """To learn from, and to test on."""
    return [WORLD.examples("qaa", task, split, count) for split, count in (("train", 2000), ("test", 800))]


@pytest.mark.parametrize("task", ["inference", "paraphrase"])
@pytest.mark.parametrize("shown", ["first", "second"])
def test_one_sentence_of_a_pair_does_not_tell_the_label(task, shown):
    train, test = ([SentencePair(getattr(one, shown), None, one.label) for one in part] for part in many(task))
    assert accuracy(train, test) < 1 / len(TASKS[task].labels) + 0.08


BANDS = {"acceptability": (0.42, 0.56), "sentiment": (0.55, 0.75), "inference": (0.4, 0.62), "paraphrase": (0.5, 0.78)}


@pytest.mark.parametrize("task", BANDS)
def test_words_without_order_tell_little(task):
    low, high = BANDS[task]
    assert low < accuracy(*many(task)) < high


# Entities


@pytest.mark.parametrize("code", FAMILY)
def test_entities_are_the_names_of_the_treebank(code):
    seen = Counter()
    for tagged, sentence in zip(WORLD.entities(code, "test", 400), WORLD.treebank(code, "test", 400), strict=True):
        assert list(tagged.words) == sentence.forms
        for number, (word, label) in enumerate(zip(sentence.words, tagged.labels, strict=True), 1):
            assert (label == "O") == (word.upos != "PROPN")
            assert label.startswith("I-") == (word.deprel == "flat")
            if label.startswith("I-"):
                assert word.head == number - 1 and tagged.labels[number - 2] == "B" + label[1:]
            seen[label] += 1
    assert set(seen) == {"O", *(f"{position}-{kind}" for position in "BI" for kind in ("PER", "LOC", "ORG"))}


# Errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: WORLD.examples("qaa", "parsing", "train", 1), "no task 'parsing'; there are inference, acceptability"),
        (lambda: WORLD.examples("xyz", "inference", "train", 1), "no language 'xyz'; there are qaa"),
        (lambda: WORLD.examples("qaa", "inference", "validation", 1), "no split 'validation'; there are train"),
        (lambda: WORLD.entities("xyz", "train", 1), "no language 'xyz'"),
        (lambda: WORLD.text_pairs("xyz", 1), "no language 'xyz'"),
    ],
)  # fmt: skip
def test_what_the_world_does_not_have_is_answered_with_what_it_has(call, message):
    with pytest.raises(InputError, match=message):
        call()
