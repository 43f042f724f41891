import numpy as np
import pytest
import sklearn.linear_model

from babelscope.core.errors import InputError
from babelscope.core.examples import SentencePair
from babelscope.tasks.baselines.bag_of_words import BagOfWords, word_counts
from babelscope.tasks.baselines.majority import Majority
from babelscope.tasks.metrics import score_texts as score_predictions


def score_texts(predict, examples, labels, measures):
    return score_predictions(predict([example.text for example in examples]), examples, labels, measures)


bag_of_words, majority = BagOfWords().fit, Majority().fit
WORDS = ["cat", "dog", "bird", "tree"]


def single(labels):
    """Texts whose class, or number, is how often they say "cat"."""
    chance = np.random.default_rng(0)
    texts = [" ".join(chance.choice(WORDS, 6)) for _ in range(80)]
    return [SentencePair(text, None, labels(text.split().count("cat"))) for text in texts]


def orders():
    """Pairs of which the second tells the first again, or in another order: bags cannot tell."""
    chance = np.random.default_rng(1)
    firsts = [list(chance.permutation(WORDS)) for _ in range(80)]
    return [
        SentencePair(" ".join(first), " ".join(first if k % 2 else first[::-1]), str(k % 2))
        for k, first in enumerate(firsts)
    ]


def test_words_are_counted():
    assert word_counts("The cat, the DOG.") == {"the": 2, "cat": 1, ",": 1, "dog": 1, ".": 1}
    assert word_counts("") == {}


def test_words_of_pairs_are_counted_by_where_they_are():
    assert word_counts(("the big cat", "The cat the end")) == {
        "1 the": 1, "1 big": 1, "1 cat": 1,
        "2 the": 2, "2 cat": 1, "2 end": 1,
        "both the": 1, "both cat": 1,
        "only 1 big": 1,
        "only 2 the": 1, "only 2 end": 1,
    }  # fmt: skip


def test_the_majority_equals_counting():
    examples = [SentencePair("a", None, label) for label in ("1", "0", "1")]
    assert majority(examples)(["x", "y"]) == ["1", "1"]
    assert majority(examples[:2])(["x"]) == ["0"]
    assert majority([SentencePair("a", None, number) for number in (1.0, 2.0, 4.5)])(["x"]) == [2.5]


def test_bags_learn_what_words_tell():
    examples = single(lambda count: "many" if count > 1 else "few")
    (accuracy,) = score_texts(bag_of_words(examples), examples, ("few", "many"), ["accuracy"])
    (chance,) = score_texts(majority(examples), examples, ("few", "many"), ["accuracy"])
    assert accuracy.value > 0.95 > 0.8 > chance.value
    (correlation,) = score_texts(bag_of_words(single(float)), single(float), (), ["pearson"])
    assert correlation.value > 0.99


def test_bags_do_not_learn_order():
    examples = orders()
    (accuracy,) = score_texts(bag_of_words(examples[:40]), examples[40:], ("0", "1"), ["accuracy"])
    assert accuracy.value == 0.5


def test_ridge_equals_the_closed_form():
    examples = single(float)
    counts = np.array([[example.first.split().count(word) for word in WORDS] for example in examples], dtype=float)
    gold = np.array([example.label for example in examples])
    centred = counts - counts.mean(0)
    weights = np.linalg.solve(centred.T @ centred + np.eye(4), centred.T @ (gold - gold.mean()))
    predicted = bag_of_words(examples)([example.first for example in examples])
    np.testing.assert_allclose(predicted, centred @ weights + gold.mean(), atol=1e-3)


def test_classes_equal_scikit_learns_own():
    examples = single(str)
    counts = np.array([[example.first.split().count(word) for word in WORDS] for example in examples])
    oracle = sklearn.linear_model.LogisticRegression(max_iter=2000).fit(counts, [one.label for one in examples])
    assert bag_of_words(examples)([one.first for one in examples]) == oracle.predict(counts).tolist()


def test_the_least_data():
    (one,) = examples = [SentencePair("cat", None, "1")]
    assert bag_of_words(examples)(["dog", ""]) == ["1", "1"]
    assert bag_of_words([one, SentencePair("dog", None, "0")])([]) == []
    for learn in (majority, bag_of_words):
        with pytest.raises(InputError, match="the data is empty"):
            learn([])
    with pytest.raises(InputError, match="label '1' in the data: the task has a, b"):
        score_texts(majority(examples), examples, ("a", "b"), ["accuracy"])
    with pytest.raises(InputError, match="'las' does not score 2 classes"):
        score_texts(majority(examples), examples, ("0", "1"), ["las"])
