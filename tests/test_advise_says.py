"""Advice on a language: what is said of what was given, of the text and of an outcome."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from babelscope.advise import floor
from babelscope.advise.labelled import labelled_notes
from babelscope.advise.outcome import Floor, Outcome, Placed
from babelscope.advise.outputs import Outputs
from babelscope.advise.raw import check_text, line_notes, match_notes, translation_note
from babelscope.advise.recipes import Recipe
from babelscope.advise.request import Request, command_line
from babelscope.advise.scores import Behind, interval_of
from babelscope.advise.sentences import better_one, exported_one, mean_of_rounds, tried_in_words, use_of_better, useless
from babelscope.advise.sentences import said as said_of
from babelscope.advise.undecided import unfinished
from babelscope.advise.writable import check_outputs
from babelscope.core.errors import InputError
from babelscope.core.examples import Sentence, Word
from babelscope.core.intervals import Interval
from babelscope.core.samples import Samples
from babelscope.corpora.conllu import write_conllu
from babelscope.study.verdicts import (
    ADAPTED,
    AS_IT_IS,
    BILSTM,
    EASY,
    HARD,
    INTERMEDIATE,
    SCRATCH,
    TOO_FEW,
    above,
    verdict_of,
)  # fmt: skip
from babelscope.world import World


def asked_of(text, **changes):
    return Request(language="nl", text=str(text), encoders=("world-natural",), **changes)


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (["# sent_id = 1", "1\tdie\tdie\tDET\t_\t_\t2\tdet\t_\t_"], "looks like CoNLL-U"),
        (["<!DOCTYPE html>", "<p>een</p>"], "looks like HTML"),
        (["een\ttwee", "drie\tvier"], "looks like a table"),
    ],
)
def test_a_text_that_is_none_is_refused(tmp_path, lines, kind):
    (tmp_path / "text").write_text("\n".join(lines * 20))
    with pytest.raises(InputError, match=kind):
        check_text(asked_of(tmp_path / "text"))


def test_odd_lines_of_the_text_are_counted(tmp_path):
    (tmp_path / "text").write_text("\n".join([*["een twee drie"] * 30, "", "", "woord " * 300]))
    empty, long, few = line_notes(asked_of(tmp_path / "text"))
    assert empty.startswith("2 lines of the text are empty") and long.startswith("1 line of the text has more than")
    assert few.startswith("The text has 25 sentences")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"store": "file/store"}, "--store .*: .*file is a file"),
        ({"export": "file/model"}, "--export .*: .*file is a file"),
        ({"export": "store/model"}, "in the store"),
        ({"page": "file/advice.html"}, "-o .*: .*file is a file"),
        ({"page": "model"}, "given for the page and for a folder"),
        ({"page": "advice.json"}, "goes there; give -o a page, such as advice.html"),
    ],
)
def test_places_are_tried_beforehand(tmp_path, changes, message):
    (tmp_path / "file").touch()
    given = {"page": "advice.html", "store": "store", "export": "model"} | changes
    outputs = Outputs(**{name: tmp_path / place for name, place in given.items()})
    with pytest.raises(InputError, match=message):
        check_outputs(outputs, run=True)


def test_the_command_is_written_out():
    outputs = Outputs(Path("my page.html"), export=Path("model"))
    line = command_line(asked_of("ntrex:nl", precision="bfloat16"), outputs, run=True)
    assert line.startswith("babelscope advise --run --language nl --text ntrex:nl ")
    assert line.endswith("--precision bfloat16 --output 'my page.html' --export model")


def behind_by(mean, low, high, p):
    return Behind(Interval(mean, low, high, None, 1), p, 1.0)


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        (behind_by(0.03, 0.01, 0.05, 0.01), "BiLSTM is better by 3.0 points [1.0, 5.0] on the test set"),
        (behind_by(0.03, 0.01, 0.05, 0.06), "on the test set that does not show: 3.0 points [1.0, 5.0]"),
        (behind_by(-0.03, -0.05, -0.01, 0.01), "on the test set that is the reverse: −3.0 points"),
        (behind_by(0.0, -0.01, 0.01, 0.9), "on the test set that does not show: 0.0 points"),
    ],
)
def test_what_the_dev_set_has_chosen_is_said_as_the_test_set_bears_it_out(behind, said):
    score = Interval(0.9, 0.8, 0.95, None, 1)
    best = Placed(Recipe(BILSTM, AS_IT_IS), 1, score, score, None, "")
    direct = Placed(Recipe("world-natural", AS_IT_IS), 1, score, score, behind, "")
    least = Floor("NOUN for every word", score, score, score, score)
    outcome = Outcome([best, direct], {}, direct, least, "0" * 64, "1" * 64, Path("a folder/store"), 0.02)
    assert said in better_one(outcome) and "rounds that both ran" not in better_one(outcome)
    longer = outcome._replace(placed=[best._replace(rounds=3), direct])
    assert "90.0% is the mean over 3 rounds), but has no encoder" in better_one(longer)
    assert use_of_better(outcome, asked_of("ntrex:nl")) == [
        "babelscope export 111111111111 --store 'a folder/store' -o better-model",
        "babelscope predict better-model FILE.conllu -o predicted.conllu",
    ]


def test_a_folder_that_does_not_hold_the_best_model_is_said_so():
    score, behind = Interval(0.9, 0.8, 0.95, None, 1), behind_by(0.03, 0.01, 0.05, 0.01)
    best = Placed(Recipe(BILSTM, AS_IT_IS), 1, score, score, None, "")
    direct = Placed(Recipe("world-natural", AS_IT_IS), 1, score, score, behind, "")
    least = Floor("NOUN for every word", score, score, score, score)
    outcome = Outcome([best, direct], {}, direct, least, "0" * 64, "1" * 64, Path("store"), 0.02)
    request, folder = asked_of("ntrex:nl"), Path("model")
    assert exported_one(outcome, request, folder).startswith("model does not hold the best model but world-natural as")
    assert exported_one(outcome, request, None).startswith("The best with an encoder that reads the language")
    alone = outcome._replace(placed=[direct])
    assert (exported_one(alone, request, folder), exported_one(alone, request, None)) == ("model holds this model.", "")


@pytest.mark.parametrize(
    ("verdict", "meaning"),
    [
        ("Easy (on dev sentences, rounds: 2)", "Easy (on dev sentences, rounds: 2): tuned as it is, it beats"),
        ("Hard (on dev sentences, rounds: 2)", "tuned as it is and adapted to the text, it does not beat"),
        (
            "undecided: Easy or Hard (on dev sentences, rounds: 2)",
            "undecided: Easy or Hard (on dev sentences, rounds: 2)",
        ),
    ],
)
def test_a_verdict_says_what_it_means(verdict, meaning):
    assert meaning in said_of(verdict) and ("undecided" in verdict) == (said_of(verdict) == verdict)


def test_a_verdict_says_what_it_was_reached_with():
    assert tried_in_words(asked_of("ntrex:nl", adaptation_steps=50)) == "That is after 50 steps of adaptation."
    hasty = tried_in_words(asked_of("ntrex:nl", search=False, parallel=("ntrex:nl",)))
    assert "without a search" in hasty and hasty.endswith("nothing of recipes that bring the language in.")


@pytest.mark.parametrize(
    ("rounds", "told"),
    [
        (1, "one round, over sentences alone,"),
        (2, "means over 2 rounds, over sentences alone,"),
        (3, "means over 3 rounds"),
    ],
)
def test_a_figure_says_what_its_intervals_are_over(rounds, told):
    assert mean_of_rounds(rounds) == told


def test_scores_are_cut_where_none_can_be():
    score = interval_of(Samples.of({0: 0.99, 1: 0.98, 2: 1.0}, {}))
    assert score.low is not None and score.low < 0.98 and score.high == 1.0


def test_a_plan_does_not_replace_a_verdict(tmp_path):
    page = tmp_path / "advice.html"
    title = "<title>Which encoder for Maltese?</title>"
    page.write_text(f"{title}<h2>The verdict</h2>", encoding="utf-8")
    outputs = Outputs(page, store=tmp_path / "store", export=None)
    with pytest.raises(InputError, match="has the verdict of a run, which a plan would replace; give another -o"):
        check_outputs(outputs, run=False)
    check_outputs(outputs, run=True)
    page.write_text(f"{title}<h2>The plan</h2>", encoding="utf-8")
    check_outputs(outputs, run=False)


@pytest.mark.parametrize(("language", "warned"), [("qaa", False), ("qai", True)])
def test_a_text_of_another_language_than_the_labelled_sentences_is_told(tmp_path, language, warned):
    write_conllu(tmp_path / "own.conllu", World().treebank("qaa", "train", 40))
    asked = asked_of(tmp_path / "text", labelled=str(tmp_path / "own.conllu"))
    notes = match_notes(asked, World().text(language, 300))
    assert bool(notes) == warned and all("are both of this language?" in note for note in notes)


@pytest.mark.parametrize(
    ("constant", "below", "said"),
    [
        (0.2, Interval(0.0, -0.02, 0.02, None, 1), "of no use, since it is no better than NOUN for every word"),
        (0.2, Interval(0.07, 0.05, 0.09, None, 1), "of no use, since it is hardly better than NOUN for every word"),
        (0.2, Interval(0.35, -0.05, 0.75, None, 1), "its use does not show beside NOUN for every word"),
        (0.2, Interval(0.3, 0.25, 0.35, None, 1), ""),
        (0.94, Interval(0.05, 0.04, 0.06, None, 1), ""),
        (0.94, Interval(0.01, 0.005, 0.02, None, 1), "of no use, since it is hardly better than NOUN for every word"),
        (1.0, Interval(0.0, 0.0, 0.0, None, 1), "its use does not show beside NOUN for every word"),
    ],
)
def test_a_model_about_as_good_as_a_constant_answer_is_of_no_use(constant, below, said):
    score = Interval(constant, constant, constant, None, 1)
    only = Placed(Recipe("world-natural", AS_IT_IS), 1, score, score, None, "")
    least = Floor("NOUN for every word", score, score, below, below)
    found = useless(Outcome([only], {}, only, least, "0" * 64, "0" * 64, Path("store"), 0.02))
    assert said in found and bool(said) == bool(found)


def test_a_model_that_has_learned_nothing_is_of_no_use_yet():
    nothing = Interval(0.0, 0.0, 0.0, None, 1)
    only = Placed(Recipe("world-natural", AS_IT_IS), 1, nothing, nothing, None, "", unlearned=True)
    least = Floor("O for every word", nothing, nothing, nothing, nothing)
    found = Outcome([only], {}, only, least, "0" * 64, "0" * 64, Path("store"), 0.02)
    assert "of no use yet, since it is no better than O for every word" in useless(found)
    assert "What may help: a longer training, more labelled sentences" in useless(found)
    (told,) = unfinished(found, asked_of("ntrex:nl"))
    assert told.startswith(
        "world-natural as it is was hardly better than a constant answer when its training ended. A "
    )


def test_the_floor_of_parsing_is_a_chain_toward_the_better_neighbour():
    def sentence(*heads):
        return Sentence("1", tuple(Word("w", "X", head, "dep" if head else "root") for head in heads))

    name, scored = floor._neighbour([sentence(0, 1, 2), sentence(0, 1, 1)])
    assert name == "every word on the one before it, as dep"
    assert scored([sentence(0, 1, 1, 1)]).numerators == (2,)
    name, scored = floor._neighbour([sentence(2, 3, 0)])
    assert name == "every word on the one after it, as dep"
    assert scored([sentence(2, 0)]).value == 1


def test_one_function_gives_the_verdict_from_gains_by_claim():
    more, less = 1, -1
    plain, adapted, scratch = (above(recipe, BILSTM) for recipe in (AS_IT_IS, ADAPTED, SCRATCH))
    assert verdict_of({plain: more, adapted: more}) == EASY
    assert verdict_of({plain: less, adapted: more, scratch: less}) == INTERMEDIATE
    assert verdict_of({plain: less, adapted: less}) == HARD
    assert verdict_of({plain: 0, adapted: more}) == "undecided: Easy or Intermediate"
    assert verdict_of({plain: None, adapted: more}) == verdict_of({plain: more, adapted: None}) == TOO_FEW
    assert verdict_of({plain: more}) is verdict_of({adapted: more, scratch: more}) is verdict_of({}) is None


@pytest.mark.parametrize("known", [False, True])
def test_test_sentences_that_are_trained_on_too_are_told(tmp_path, known):
    sentences = World().treebank("qaa", "train", 75) * 4 if known else World().treebank("qaa", "train", 300)
    write_conllu(tmp_path / "own.conllu", [replace(one, id=str(k)) for k, one in enumerate(sentences)])
    (tmp_path / "text").write_text("Other words .\n" * 40)
    said = labelled_notes(asked_of(tmp_path / "text", labelled=str(tmp_path / "own.conllu")))
    assert any("labelled sentences that test are also trained on" in line for line in said) == known == bool(said)
    assert labelled_notes(asked_of(tmp_path / "text")) == []


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (("dev", "train"), "that select are also trained on, so that the best is selected on what is trained on"),
        (("test", "dev"), "that test are also among those that select"),
        (("test", "text"), "that test are also in the text, so that what is adapted to it has read them"),
        (
            ("test", "pairs"),
            "that test are also in the translated sentences, so that what the language is brought into",
        ),
    ],
)
def test_sentences_that_are_read_for_two_purposes_are_told(tmp_path, seen, told):
    whole = World().treebank("qaa", "train", 200)
    parts = {
        "train": whole[:40],
        "dev": whole[40:70],
        "test": whole[70:100],
        "text": whole[100:150],
        "pairs": whole[150:],
    }
    parts[seen[0]] = [*parts[seen[1]][:10], *parts[seen[0]][:20]]
    (tmp_path / "own").mkdir()
    for split in ("train", "dev", "test"):
        write_conllu(tmp_path / "own" / f"nl_own-ud-{split}.conllu", parts[split])
    (tmp_path / "text").write_text("".join(f"{' '.join(one.forms)}\n" for one in parts["text"]))
    pairs = [f"source {number}\t{' '.join(one.forms)}\n" for number, one in enumerate(parts["pairs"])]
    (tmp_path / "pairs.tsv").write_text("".join(pairs))
    given = {"labelled": str(tmp_path / "own"), "parallel": (str(tmp_path / "pairs.tsv"),)}
    (said,) = labelled_notes(asked_of(tmp_path / "text", **given))
    assert said.startswith("10 of 30 labelled sentences") and told in said


def test_few_sentences_that_select_or_test_are_told(tmp_path):
    """Of one file a tenth each: with a hundred sentences they are ten, and with 290 the dev set is just too small."""
    (tmp_path / "text").write_text("Other words .\n" * 40)
    for count, told in ((100, "10 select and 10 test: with"), (290, "29 select and 29 test"), (300, None)):
        write_conllu(tmp_path / f"{count}.conllu", World().treebank("qaa", "train", count))
        said = labelled_notes(asked_of(tmp_path / "text", labelled=str(tmp_path / f"{count}.conllu")))
        assert (told in said[0]) if told else not said


def test_translated_sentences_are_told_of_where_the_text_has_some(tmp_path, monkeypatch):
    """A text of NTREX was translated from English, so that the language can be brought into an encoder, too."""
    request = asked_of(tmp_path / "text")
    for name, code, told in (("ntrex:mt", "mt", True), ("text:mt:own.txt", "mt", False), ("ntrex:en", "eng", False)):
        monkeypatch.setattr(type(request), "text_name", name)
        noted = translation_note(request.model_copy(update={"language": code}))
        assert [f"--parallel {name}" in line for line in noted] == [True] * told
    assert translation_note(request.model_copy(update={"language": "mt", "parallel": ("ntrex:mt",)})) == []
