"""The loss of distillation: against loops over links and sentences, in double precision."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.corpora.alignment.links import SoftLinks
from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Frame
from babelscope.encoders.tokenizer import train_wordpiece
from babelscope.tuning.distilling import Distillation, LinkedText, examples_of
from babelscope.tuning.teacher import Teacher
from families import FAMILIES
from small_english import ENGLISH
from tokenizer_kinds import made


@pytest.fixture(scope="module")
def teacher() -> Encoder:
    """Its states depend on what is around a word, as those of an encoder that learned something."""
    return made(train_wordpiece(ENGLISH, 120))


def random_text(seed: int, pairs: int = 5) -> LinkedText:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, 9, (pairs, 2))
    sources, targets = ([generator.integers(5, 40, length).tolist() for length in side] for side in lengths.T)
    links = [
        (pair, i, j, generator.uniform(0.02, 1))
        for pair, (m, n) in enumerate(lengths)
        for i in range(m)
        for j in range(n)
        if generator.random() < 0.4
    ]
    columns = zip(*links, strict=True) if links else ([], [], [], [])
    pair, source, target, weight = (np.array(column) for column in columns)
    places = (column.astype(np.int64) for column in (pair, source, target))
    return LinkedText("xx", sources, targets, SoftLinks(*places, weight.astype(float)))


def by_loops(student: Encoder, teacher: Encoder, text: LinkedText, layers: tuple[int, ...], itself: bool) -> float:
    """The oracle: a sentence at a time, a link at a time, in double precision."""
    frame = Frame.of(teacher.tokenizer)
    before, after = len(frame.before), len(frame.after)
    errors = weights = sentences = 0.0
    for number, (source, target) in enumerate(zip(text.sources, text.targets, strict=True)):
        target = source if itself else target
        with torch.no_grad():
            (own, others) = (
                [
                    layer[0].double()
                    for layer in encoder.backbone(
                        input_ids=torch.tensor([frame.around(ids)]), output_hidden_states=True
                    ).hidden_states
                ]
                for encoder, ids in ((student, target), (teacher, source))
            )
        links = [(i, j, w) for k, i, j, w in zip(*text.links, strict=True) if k == number]
        if itself:
            links = [(k, k, 1.0) for k in range(len(source))]
        links = [(before + i, before + j, w) for i, j, w in links]
        links += [(k, k, 1.0) for k in range(before)]
        links += [(before + len(source) + k, before + len(target) + k, 1.0) for k in range(after)]
        for i, j, weight in links:
            for layer in layers:
                errors += weight * float(((own[layer][j] - others[layer][i]) ** 2).mean()) / len(layers)
            weights += weight
        means = [states[-1][before : before + len(ids)].mean(0) for states, ids in ((own, target), (others, source))]
        sentences += float(((means[0] - means[1]) ** 2).mean())
    return errors / weights + sentences / len(text.sources)


def task_of(teacher: Encoder, text: LinkedText, layers: tuple[int, ...], share: float = 0.0) -> Distillation:
    frame = Frame.of(teacher.tokenizer)
    examples = examples_of(text, frame, 24)
    return Distillation(examples, Teacher(teacher, layers, [each.source for each in examples], "cpu"), share)


def loss_of(task: Distillation, student: Encoder) -> torch.Tensor:
    return task.loss(student.backbone, task.batch(np.arange(len(task.examples)), torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("layers", "itself"), [((1, 2), False), ((0,), False), ((2, 0), True)])
def test_the_loss_is_a_sum_over_links_and_sentences(family, layers, itself):
    teacher, student = (made(train_wordpiece(ENGLISH, 120), family) for _ in range(2))
    with torch.no_grad():
        for weight in student.model.parameters():
            weight.add_(0.05 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)))
    text = random_text(seed=7)
    ours = loss_of(task_of(teacher, text, layers, share=float(itself)), student)
    assert ours.item() == pytest.approx(by_loops(student, teacher, text, layers, itself), rel=2e-3)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.floats(0.1, 0.9), st.floats(0.1, 3))
def test_links_count_by_their_weights(teacher, seed, share, scale):
    """A link is as good as two that have its weight together, and no loss depends on the unit of weights."""
    text = random_text(seed)
    task = task_of(teacher, text, (1, 2))
    parts = [
        each._replace(
            places=np.concatenate([each.places, each.places], axis=1),
            weights=np.concatenate([share * each.weights, (1 - share) * each.weights]),
        )
        for each in task.examples
    ]
    split = replace(task, examples=parts)
    scaled = replace(task, examples=[each._replace(weights=scale * each.weights) for each in task.examples])
    student = made(teacher.tokenizer, hidden_act="relu")
    expected = loss_of(task, student).item()
    assert expected > 1e-3
    for other in (split, scaled):
        assert loss_of(other, student).item() == pytest.approx(expected, rel=1e-5)


def test_a_student_that_is_the_teacher_has_nothing_to_learn(teacher):
    student = copy.deepcopy(teacher)
    student.model.train()
    text = random_text(seed=3)
    gradients = {}
    for share in (0.0, 1.0):
        loss = loss_of(task_of(teacher, text, (1, 2), share), student)
        student.model.zero_grad()
        loss.backward()
        gradients[share] = torch.cat([p.grad.flatten() for p in student.backbone.parameters()]).norm().item()
    assert loss.item() < 1e-6
    assert gradients[1.0] < 2e-3 * gradients[0.0]
