"""What published code did otherwise in tasks on words: each quirk against a slow computation of it."""

import copy
import itertools
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from babelscope.core.examples import Tagged
from babelscope.encoders.load import Encoder
from babelscope.encoders.windows import encode_words, pieces_of_words, repeating_windows
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.surface import Surface
from babelscope.steps import Evaluate, Tune
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.as_published import OF_ENTITIES, OF_TAGS, OF_TREES, PublishedQuirk
from babelscope.tasks.design import Design
from babelscope.tasks.export import load_model, save_model
from babelscope.tasks.models import task_model
from babelscope.tasks.ner import EntityTagging, bio_labels, compared_tags, evaluate_ner
from babelscope.tasks.spans import count_spans
from babelscope.tasks.tag import TaggedWindows, Tagger, Tagging
from command_line import declaration

pytestmark = pytest.mark.usefixtures("in_process")

ALL = get_args(PublishedQuirk)
LABELS = bio_labels(("LOC", "PER"))
WORDS = [word for word in ("the", "cat", "carries", "carriesfish", "bigoldtree", "dog") for _ in range(9)]


@pytest.fixture(scope="module")
def encoder(encoder):
    """A copy, since models leave it in training."""
    return Encoder(copy.deepcopy(encoder.model), encoder.tokenizer, encoder.name)


def test_every_quirk_is_of_some_kind_and_on_the_page():
    of = {"tagging": OF_TAGS, "entities": OF_ENTITIES, "parsing": OF_TREES}
    assert set(ALL) == {quirk for kind in of.values() for quirk in kind}
    page = (Path(__file__).parents[1] / "docs" / "underspecified.md").read_text(encoding="utf-8")
    for quirk, what in (OF_ENTITIES | OF_TREES).items():
        kinds = ", ".join(kind for kind, quirks in of.items() if quirk in quirks)
        assert f"| `{quirk}` | {kinds} | {what} |" in page


# --- windows


def as_the_published_code(words, longest):
    """Piece by piece: windows as pairs of their pieces and of the place of each word that counts."""
    found, pieces, places = [], [], {}
    for number, word in enumerate(words):
        if len(pieces) + len(word) >= longest:
            found.append((list(pieces), dict(places)))
            pieces, places = pieces[-(longest // 2) :], {}
        for place, piece in enumerate(word):
            if place == 0:
                places[number] = len(pieces)
            pieces.append(piece)
    return [*found, (pieces, places)]


@settings(max_examples=300, deadline=None)
@given(
    st.integers(4, 40).flatmap(
        lambda most: st.tuples(st.just(most), st.lists(st.integers(1, most // 2 - 1), max_size=60))
    )
)
def test_windows_repeat_the_last_half_of_the_one_before(case):
    """Words are shorter than half a window: the published code let longer ones go over its limit."""
    longest, widths = case
    pieces = iter(itertools.count())
    words = [[next(pieces) for _ in range(width)] for width in widths]
    found = [
        (window.pieces, dict(enumerate(window.places.tolist(), window.own_start)))
        for window in repeating_windows(words, longest - 1)
    ]
    assert found == (as_the_published_code(words, longest) if words else [])


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 12).flatmap(lambda room: st.tuples(st.just(room), st.lists(st.integers(1, room), max_size=40))))
def test_every_word_is_owned_once_and_read_whole_however_wide(case):
    room, widths = case
    words = [[(number, place) for place in range(width)] for number, width in enumerate(widths)]
    windows = list(repeating_windows(words, room))
    assert [w.own_start + k for w in windows for k in range(len(w.places))] == list(range(len(words)))
    for window in windows:
        assert len(window.pieces) <= room
        for number, place in enumerate(window.places.tolist(), window.own_start):
            assert window.pieces[place : place + widths[number]] == words[number]


def test_a_model_reads_as_many_pieces_as_the_published_code(encoder):
    """127 pieces of words and the special ones, of a longest sequence of 128; here 19 and 2 of 20."""
    design = Design("pos", max_length=20, quirks=("repeating-windows",))
    model = task_model(encoder, design)
    plain = task_model(encoder, design.model_copy(update={"quirks": ()}))
    task = model.training([Tagged(WORDS, ["NOUN"] * len(WORDS))], {})
    assert (model.module.max_length, plain.module.max_length) == (21, 20)
    (words,) = pieces_of_words(encoder.tokenizer, [WORDS])
    expected = as_the_published_code(words, 20)
    assert len(expected) > 3
    batch = task.batch(np.arange(len(expected)), torch.Generator())
    ends = batch.batch.attention_mask.sum(dim=1).tolist()
    assert [ids[1 : end - 1] for ids, end in zip(batch.batch.ids.tolist(), ends, strict=True)] == [
        pieces for pieces, _ in expected
    ]
    places = [
        row * batch.batch.ids.shape[1] + 1 + place for row, (_, own) in enumerate(expected) for place in own.values()
    ]
    assert batch.firsts.tolist() == places
    assert task.owners.tolist() == list(range(len(expected))), "a window counts as an example"
    assert model.with_encoder(encoder).module.max_length == 21
    no_longer = Design("pos", max_length=10**6, quirks=("repeating-windows",))
    assert task_model(encoder, no_longer).module.max_length == encoder.max_length


def test_text_is_labelled_in_the_same_windows(encoder):
    torch.manual_seed(0)
    tagger = Tagger(copy.deepcopy(encoder), ("a", "b", "c"), max_length=21, quirks=("repeating-windows",)).eval()
    nn.init.normal_(tagger.classifier.weight)
    windows = TaggedWindows.of(tagger, [Tagged(WORDS, ["a"] * len(WORDS))])
    read = encode_words(encoder.tokenizer, [WORDS], 21, repeating=True)
    assert [owned.tolist() for owned in windows.windows.owned] == [owned.tolist() for owned in read.owned]
    assert tagger.predict([WORDS]) == [[tagger.labels[number] for number in windows.classes(tagger)]]


# --- dropout


def dropped(model, run):
    """[words, hidden] or [sentences, words, hidden], bool: what dropout left out, where the last state is never 0."""
    seen = []
    handle = model.register_forward_pre_hook(lambda _, given: seen.append(given[0] == 0))
    run()
    handle.remove()
    return seen[0]


@pytest.mark.parametrize("shared", [False, True])
def test_dropout_of_tags_is_of_all_words_of_a_sentence(encoder, tagged, shared):
    torch.manual_seed(0)
    quirks = ("sentence-dropout",) if shared else ()
    tagger = Tagger(
        copy.deepcopy(encoder), tuple({label for _, labels in tagged for label in labels}), 0.5, quirks=quirks
    )
    task = Tagging(tagger, [Tagged(*one) for one in tagged[:3]])
    found = dropped(tagger.classifier, lambda: task.loss(tagger, task.batch(np.arange(3), torch.Generator())))
    ends = np.cumsum([len(words) for words, _ in tagged[:3]])
    sentences = np.split(found.numpy(), ends[:-1])
    assert all((sentence == sentence[0]).all() for sentence in sentences) == shared
    assert (sentences[0][0] != sentences[1][0]).any()
    assert 0.3 < found.float().mean() < 0.7
    assert not dropped(tagger.eval().classifier, lambda: tagger.predict([["the", "cat"]])).any()


def test_a_window_drops_units_of_its_own(encoder):
    """One sentence in several windows: words of the same window share them."""
    torch.manual_seed(0)
    quirks = ("sentence-dropout", "repeating-windows")
    tagger = Tagger(copy.deepcopy(encoder), ("a", "b"), 0.5, 21, quirks)
    task = Tagging(tagger, [Tagged(WORDS, ["a"] * len(WORDS))])
    windows = task.examples.windows.owned
    batch = task.batch(np.arange(len(windows)), torch.Generator())
    found = dropped(tagger.classifier, lambda: task.loss(tagger, batch))
    parts = np.split(found.numpy(), np.cumsum([len(owned) for owned in windows])[:-1])
    assert all((part == part[0]).all() for part in parts)
    assert len({part[0].tobytes() for part in parts}) == len(windows) > 3


# --- spans


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_entities_are_counted_window_by_window(encoder, data):
    """The sum over windows, each scored as a sentence of its own."""
    tags = st.lists(st.sampled_from(LABELS), min_size=len(WORDS), max_size=len(WORDS))
    gold, predicted = data.draw(tags), data.draw(tags)
    tagger = Tagger(encoder, LABELS, max_length=21, quirks=("repeating-windows", "cut-spans"))
    read = TaggedWindows.of(tagger, [Tagged(WORDS, gold)])
    assert len(read.windows.owned) > 3
    classes = np.asarray([LABELS.index(tag) for tag in predicted])
    found = count_spans(*compared_tags(tagger, read, classes, [Tagged(WORDS, gold)]))
    parts = [slice(owned[0], owned[-1] + 1) for owned in read.windows.owned]
    expected = count_spans([predicted[part] for part in parts], [gold[part] for part in parts])
    assert [int(counts.sum()) for counts in found] == [int(counts.sum()) for counts in expected]


def test_all_scores_of_entities_are_of_cut_ones(encoder):
    """One entity of all words, in several windows: what a tagger that finds it is said to have found."""
    sentence = Tagged(WORDS, ["B-LOC", *["I-LOC"] * (len(WORDS) - 1)])
    found = {}
    for quirks in ((), ("cut-spans",)):
        tagger = Tagger(copy.deepcopy(encoder), LABELS, max_length=21, quirks=quirks).eval()
        nn.init.zeros_(tagger.classifier.weight)
        tagger.classifier.bias.data = torch.tensor([1.0 if label == "I-LOC" else 0.0 for label in LABELS])
        (f1, *_), windows = evaluate_ner(tagger, [sentence]), TaggedWindows.of(tagger, [sentence])
        task = EntityTagging(tagger, [sentence], {"dev": [sentence]})
        assert task.evaluate(tagger) == {"dev": f1.value} == {"dev": 1.0}
        found[quirks] = f1.denominators[0] / 2
    assert found == {(): 1, ("cut-spans",): len(windows.windows.owned)}


# --- studies


def a_task(task, **more):
    return {
        "task": task, "train": ["world:qaa"], "evaluate": ["world:qab"], "sizes": {"train": 40, "dev": 10, "test": 8},
        "tuning": {"epochs": 4, "learning_rate": 3e-3, "max_length": 14, "dropout": 0.3}, "recurrent": {"epochs": 1},
    } | more  # fmt: skip


def test_the_paper_is_repeated_with_its_quirks_unless_told_otherwise():
    published, some, none = (
        {name: task.quirks for name, task in find_study("underspecified@paper", given).tasks.items()}
        for given in ({}, {"quirks": ["unscored-root", "cut-spans"]}, {"quirks": []})
    )
    kinds = {"pos": OF_TAGS, "ner": OF_ENTITIES, "parsing": OF_TREES.keys() - {"reversed-relations"}, "xnli": {}}
    for name in published:
        of = kinds[name.partition("-")[0]]
        assert published[name] == tuple(quirk for quirk in ALL if quirk in of)
        assert some[name] == tuple(quirk for quirk in of if quirk in ("unscored-root", "cut-spans"))
        assert none[name] == ()
    assert not any(task.quirks for task in find_study("underspecified", {"scale": "small"}).tasks.values())


@pytest.mark.parametrize(
    ("task", "quirk", "problem"),
    [
        ("pos", "cut-spans", "the quirk cannot be 'cut-spans'; allowed: sentence-dropout, repeating-windows"),
        (
            "parsing",
            "short",
            r"cannot be 'short' \(did you mean short-mean\?\); allowed: sentence-dropout, cut-sentences",
        ),
        ("inference", "cut-spans", "the quirk cannot be 'cut-spans'; allowed: none, leave it out"),
    ],
)
def test_a_quirk_of_another_kind_is_refused(encoder_folder, task, quirk, problem):
    with pytest.raises(ValueError, match=problem):
        Study.model_validate(declaration(encoder_folder, tasks={"one": a_task(task, baselines=[], quirks=[quirk])}))


def test_a_study_of_all_quirks_runs_scores_and_is_interpolated_alike(encoder_folder, tmp_path):
    """At the ends of a line are the scores of its models; a model that is saved and loaded says the same."""
    kinds = {"pos": OF_TAGS, "ner": OF_ENTITIES, "parsing": OF_TREES}
    line = {"measure": "interpolation", "evaluate": ["world:qab"], "split": "test", "sentences": 8, "alphas": [0, 1]}
    tasks, lines = {}, []
    for task, quirks in kinds.items():
        tasks |= {
            f"{task} {code}": a_task(task, train=[f"world:{code}"], quirks=list(quirks)) for code in ("qaa", "qab")
        }
        lines.append(line | {"tasks": [f"{task} qaa", f"{task} qab"]})
    study = declaration(encoder_folder, tasks=tasks, measures=lines, surgeries=[None], seeds=[0])
    plan = compile_study(Study.model_validate(study))
    plain = {name: transfer | {"quirks": []} for name, transfer in tasks.items()}
    others = compile_study(Study.model_validate(study | {"tasks": plain}))
    store = Store(tmp_path / "store")
    run_plan(plan, store)
    tuned = [step for step in plan.steps.values() if isinstance(step, Tune)]
    assert not {step.key for step in tuned} & others.steps.keys(), "quirks count in keys"
    turned = {
        name: transfer | {"quirks": [*transfer["quirks"][::-1], "sentence-dropout"]} for name, transfer in tasks.items()
    }
    again = compile_study(Study.model_validate(study | {"tasks": turned}))
    assert again.steps.keys() == plan.steps.keys(), "in whatever order they are named"
    ends = {}
    for step in plan.steps.values():
        for row in store.rows(step.key):
            if isinstance(step, Surface) and row.measure in ("accuracy", "f1", "las"):
                ends[row.task, ("qaa", "qab")[int(row.alpha1)]] = row.value
    scores = {
        (row.task, row.train_languages): row.value
        for step in plan.steps.values() if isinstance(step, Evaluate)
        for row in store.rows(step.key) if row.measure in ("accuracy", "f1", "las")
    }  # fmt: skip
    assert len(scores) == 6 and ends == pytest.approx(scores)
    results = FinishedSteps(store)
    for k, step in enumerate(tuned):
        model = step.model(results)
        save_model(model, tmp_path / f"model {k}")
        loaded = load_model(tmp_path / f"model {k}")
        assert loaded.design.quirks == step.quirks
        examples = step.dev[0].read()
        assert loaded.scores(examples) == model.scores(examples)
