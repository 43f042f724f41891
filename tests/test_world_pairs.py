"""The world's text in pairs: sentences that a conjunction joins, which follows from what they mean."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from babelscope.corpora.world_text import WorldText
from babelscope.encoders.load import load_encoder
from babelscope.encoders.places import SHIPPED
from babelscope.world import FAMILY, World
from babelscope.world.chance import Chance
from babelscope.world.pairs import CONJUNCTIONS, draw_pairs
from babelscope.world.world import VERSION, Inflector
from meanings import canonical, judged

WORLD = World()


def test_pairs_are_two_sentences_of_which_half_say_how_they_hang_together():
    lines = WORLD.text_pairs("qaa", 1000)
    inflect = Inflector(WORLD.lexicons["qaa"], FAMILY["qaa"])
    starts = tuple(inflect(word, ()) + " " for word in CONJUNCTIONS.values())
    assert all(line.count(" [SEP] ") == 1 and line.endswith(" .") for line in lines)
    assert sum(line.startswith(starts) for line in lines) / 1000 == pytest.approx(0.5, abs=0.06)
    assert len(set(lines)) > 950


def test_the_conjunction_of_a_pair_says_what_follows():
    """By truth in all worlds, or for rewordings by what they say."""
    seen = Counter()
    for first, second, conjunction in islice(draw_pairs(Chance("pairs test")), 800):
        if conjunction and not first.coordinate and not first.subject.conjunct:
            opposite = second._replace(negated=not second.negated)
            expected = {CONJUNCTIONS[judged(first, second)].name}
            expected |= {"if"} if canonical(first) == canonical(second) else set()
            expected |= {"but"} if canonical(first) == canonical(opposite) else set()
            assert conjunction.name in expected
            seen[conjunction.name] += 1
    assert min(seen[name] for name in ("if", "and", "but")) > 40


def test_words_of_pairs_are_switched_as_those_of_text():
    natural, switched = (" ".join(WORLD.text_pairs("qac", 600, share)).split() for share in (0.0, 0.2))
    assert sum(a != b for a, b in zip(natural, switched, strict=True)) / len(natural) == pytest.approx(0.17, abs=0.03)


def test_declared_text_has_its_pairs_after_its_sentences_and_none_by_default():
    text = WorldText(language="qaa", sentences=30, pairs=20, switched=0.2)
    assert text.read() == WORLD.text("qaa", 30, 0.2) + WORLD.text_pairs("qaa", 20, 0.2)
    assert text.natural() == WorldText(language="qaa", sentences=30)
    assert text.natural().read() == WORLD.text("qaa", 30)


def test_text_without_pairs_is_dumped_as_it_was_before_there_were_any_so_its_keys_stay():
    assert WorldText(language="qaa", sentences=30).model_dump(mode="json") == {
        "language": "qaa", "sentences": 30, "switched": 0.0, "seed": 0, "world_version": VERSION,
    }  # fmt: skip
    assert WorldText(language="qaa", sentences=30, pairs=1).model_dump(mode="json")["pairs"] == 1


def test_what_separates_a_pair_is_the_piece_that_a_classifier_reads_there():
    tokenizer = load_encoder(SHIPPED / "world-natural").tokenizer
    for line in WORLD.text_pairs("qaa", 20):
        first, second = line.split(" [SEP] ")
        assert tokenizer(line)["input_ids"] == tokenizer(first, second)["input_ids"]
