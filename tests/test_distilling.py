"""Distillation: what a student is taught, what of the teacher is computed and kept, and what stays as it was."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.corpora.alignment.align import soft_links
from babelscope.corpora.alignment.links import SoftLinks
from babelscope.encoders.bring_in import bring_in, own_pieces, random_rows
from babelscope.encoders.load import Encoder
from babelscope.encoders.own_vocabulary import own_vocabulary
from babelscope.encoders.pieces import Frame, by_length, evaluation_tokens
from babelscope.encoders.tap import sentence_states
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.measures.retrieval import retrieval_accuracy
from babelscope.tuning.batches import Order
from babelscope.tuning.checkpoint import module_weights
from babelscope.tuning.distilling import LinkedText, distil, examples_of
from babelscope.tuning.settings import Tuning
from babelscope.tuning.teacher import Teacher
from small_english import ENGLISH
from taggers import StoppedError, same_weights, stop_at
from tokenizer_kinds import made

QUICK = Tuning(learning_rate=3e-3, epochs=3, tokens_per_batch=128)
SHARE = 1 / 6


LETTERS = {ord(letter): ord(letter) + 0x1000 for letter in "abcdefghijklmnopqrstuvwxyz"}
FOREIGN = [" ".join(line.translate(LETTERS).split()[::-1]) for line in ENGLISH]
"""The same in other letters and the other way round."""


@pytest.fixture(scope="module")
def teacher() -> Encoder:
    """Its states depend on what is around a word, as those of an encoder that learned something."""
    return made(train_wordpiece(ENGLISH, 120))


def with_language(teacher: Encoder, language: str = "xx") -> tuple[Encoder, LinkedText]:
    """A student that knows nothing of the language yet, and what it learns from."""
    own = own_vocabulary(teacher, FOREIGN, 200)
    student = bring_in(teacher, {language: own}, random_rows(teacher, len(own_pieces(teacher, own)), 1, language))
    source, target = (
        tokenizer(lines, add_special_tokens=False)["input_ids"]
        for tokenizer, lines in ((teacher.tokenizer, ENGLISH), (own, FOREIGN))
    )
    return student, LinkedText(language, source, target, soft_links(list(zip(source, target, strict=True))))


def weights_of(encoder: Encoder) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in module_weights(encoder.model).items()}


def first_pairs(text: LinkedText, count: int) -> LinkedText:
    links = SoftLinks(*(column[text.links.pair < count] for column in text.links))
    return text._replace(sources=text.sources[:count], targets=text.targets[:count], links=links)


# --- the teacher


def passes(encoder: Encoder) -> list[int]:
    """How many sequences each pass through the encoder has; more are added as they come."""
    counted: list[int] = []
    encoder.backbone.register_forward_pre_hook(
        lambda module, args, kwargs: counted.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    return counted


def test_a_source_is_read_once_for_all_languages_and_epochs(teacher, tmp_path):
    teacher = copy.deepcopy(teacher)
    student, text = with_language(teacher)
    counted = passes(teacher)
    distil(student, teacher, [text, text._replace(language="yy")], tmp_path, tuning=QUICK, source_share=SHARE)
    distinct = {tuple(source) for source in text.sources}
    assert sum(counted) == len(distinct) < len(text.sources)
    lengths = np.array([len(source) + 2 for source in distinct])
    assert len(counted) == len(by_length(lengths, evaluation_tokens(teacher.model.device)))


def test_sources_that_a_short_run_does_not_come_to_are_not_read(teacher, tmp_path):
    teacher = copy.deepcopy(teacher)
    student, text = with_language(teacher)
    counted = passes(teacher)
    tuning = Tuning(steps=3, tokens_per_batch=128)
    distil(student, teacher, [text], tmp_path, tuning=tuning, source_share=SHARE, seed=2)
    lengths = np.array([2 + max(map(len, pair)) for pair in zip(text.sources, text.targets, strict=True)])
    read = {tuple(text.sources[k]) for turn in Order(lengths, tuning, 2).turns() for k in turn.batch}
    assert sum(counted) == len(read) < len(text.sources) / 2


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(0, 29), min_size=1, max_size=8), max_size=6), st.integers(0, 300_000))
def test_states_are_those_of_sentences_read_alone_whatever_memory_there_is(teacher, requests, memory):
    frame = Frame.of(teacher.tokenizer)
    sentences = [
        tuple(frame.around(teacher.tokenizer(line, add_special_tokens=False)["input_ids"])) for line in ENGLISH
    ]
    sentences = sorted(set(sentences))[:30] * 2
    taught = Teacher(teacher, (2, 0), sentences, "cpu", memory)
    for request in requests:
        for number, known in zip(request, taught.states([sentences[k] for k in request]), strict=True):
            with torch.no_grad():
                ids = torch.tensor([sentences[number]])
                layers = teacher.backbone(input_ids=ids, output_hidden_states=True).hidden_states
            expected = torch.stack([layers[2][0], layers[0][0]])
            torch.testing.assert_close(known.pieces.float(), expected, rtol=1e-3, atol=1e-3)
            torch.testing.assert_close(known.mean.float(), expected[0, 1:-1].mean(0), rtol=1e-3, atol=1e-3)
    assert sum(state.nbytes for known in taught.kept.values() for state in known) <= memory


# --- training


def retrieved(student: Encoder, teacher: Encoder, lines: slice) -> float:
    """The share of sentences that the student's reading of their translation finds."""
    source = sentence_states(teacher, ENGLISH[lines])
    target = sentence_states(student.reading("xx"), FOREIGN[lines])
    return float(retrieval_accuracy(target[-1], source[-1]))


@pytest.mark.parametrize("head", [True, False])
def test_translations_are_learned_and_all_else_stays(teacher, tmp_path, head):
    before = weights_of(teacher)
    student, text = with_language(teacher)
    if not head:
        student = replace(student, model=student.backbone)
    started = weights_of(student)
    at_first = retrieved(student, teacher, slice(75, 90))
    tuning = QUICK.model_copy(update={"epochs": 20})
    history = distil(student, teacher, [first_pairs(text, 75)], tmp_path, tuning=tuning, source_share=0.2)
    losses = [point.value for point in history.points if point.measure == "loss"]
    assert losses[-1] < 0.6 * losses[0]
    assert at_first < 0.3 and retrieved(student, teacher, slice(75, 90)) > at_first + 0.4
    assert same_weights(weights_of(teacher), before)
    assert not student.model.training and student.has_mlm_head == head
    changed = {name for name, weight in weights_of(student).items() if not torch.equal(weight, started[name])}
    prefix = "bert." if head else ""
    assert changed == {name for name in started if name.startswith(prefix) and "position_ids" not in name} - {
        name for name in started if "token_type_ids" in name
    }
    if head:
        assert student.model.get_output_embeddings().weight is student.model.get_input_embeddings().weight


def test_the_source_is_kept_by_what_is_read_of_it(teacher, tmp_path):
    errors = []
    for share in (0.0, 0.5):
        student, text = with_language(teacher)
        distil(student, teacher, [text], tmp_path / str(share), tuning=QUICK, source_share=share)
        errors.append((sentence_states(student, ENGLISH) - sentence_states(teacher, ENGLISH)).square().mean().item())
    assert errors[1] < 0.5 * errors[0]


def test_a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one(teacher, tmp_path, monkeypatch):
    less = partial(Teacher, memory=125_000)  # not all states are kept
    monkeypatch.setattr("babelscope.tuning.distilling.Teacher", less)

    def run(folder, progress):
        student, text = with_language(teacher)
        quiet = {"tuning": QUICK, "source_share": SHARE, "seed": 3, "checkpoint_seconds": 0.0}
        return weights_of(student), distil(student, teacher, [text], folder, progress=progress, **quiet), student

    with pytest.raises(StoppedError):
        run(tmp_path / "stopped", stop_at(7))
    resumed = run(tmp_path / "stopped", lambda done, total, **numbers: None)
    whole = run(tmp_path / "whole", lambda done, total, **numbers: None)
    assert resumed[1] == whole[1]
    assert same_weights(weights_of(resumed[2]), weights_of(whole[2]))
    assert not same_weights(weights_of(whole[2]), whole[0])


# --- what is refused and left out


def test_pairs_that_are_empty_or_too_long_are_left_out(teacher):
    text = LinkedText("xx", [[5] * 22, [5], [], [6, 7]], [[5], [5] * 23, [5], [8]], soft_links([([6, 7], [8])]))
    text = text._replace(links=text.links._replace(pair=text.links.pair + 3))
    first, last = examples_of(text, Frame.of(teacher.tokenizer), 24)
    assert first.places.tolist() == [[0, 23], [0, 2]]
    assert last.source[1:-1] == (6, 7) and last.target[1:-1] == (8,)
    assert last.places.tolist() == [[0, 1, 2, 3], [0, 1, 1, 2]] and last.weights[[0, -1]].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"layers": (1, 3)}, "layers 1, 3: give one or more of 0 to 2, where 0 stands for the embeddings"),
        ({"layers": ()}, "layers none: give one or more"),
        ({"source_share": 1.5}, "source_share 1.5: give a share"),
        ({"tuning": QUICK.model_copy(update={"max_length": 2})}, "no training example"),
    ],
)
def test_what_cannot_be_distilled_is_refused(teacher, tmp_path, given, message):
    student, text = with_language(teacher)
    with pytest.raises(InputError, match=message):
        distil(student, teacher, [text], tmp_path, **{"tuning": QUICK, "source_share": SHARE} | given)


def test_layers_are_by_default_the_middle_and_the_last(teacher, tmp_path):
    results = []
    for layers in (None, (1, 2), (2,)):
        student, text = with_language(teacher)
        distil(
            student, teacher, [text], tmp_path / str(layers), tuning=Tuning(steps=2), layers=layers, source_share=SHARE
        )
        results.append(weights_of(student))
    assert same_weights(results[0], results[1]) and not same_weights(results[0], results[2])
