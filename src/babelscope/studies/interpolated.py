"""What the study `underspecified` is made of: pairs of languages, the models of each, and the lines between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from babelscope.measures.angle import Angles
from babelscope.measures.interpolation import Interpolation
from babelscope.measures.surface import Part
from babelscope.study.declare import Sizes, Transfer
from babelscope.tuning.settings import Tuning

SHOTS = (20, 100)
"""How many examples of the target there are; half of them are trained on where the other half chooses the point."""
PARTS: tuple[Part, ...] = ("encoder", "head")
"""What is interpolated alone (footnote 2): the paper finds that the encoder does as all weights do, and the head next
to nothing."""
COARSE_ALPHAS = tuple(quarter / 4 for quarter in range(-2, 7))
"""For a first look at a plane: 81 models in place of 441."""
FEW_SHOT_ALPHAS = tuple(tenth / 10 for tenth in range(16))


class Pair(NamedTuple):
    """A language that is tuned on, and one that is to gain from it."""

    source: str
    target: str


class Setting(NamedTuple):
    """One task of the study."""

    data: Callable[[str], str]
    """From a language's code to its data set."""
    pairs: Sequence[Pair]
    sizes: Sizes
    tuning: Tuning
    source_examples: int | None = None
    """Training examples of a source, if not as many as of other languages."""
    planes: Sequence[Pair] = ()
    """Of the pairs: those whose plane is drawn."""
    plane_alphas: tuple[float, ...] | None = None
    """Places along each direction of a plane, if not the usual 21."""
    parts: Sequence[Pair] = ()
    """Of the pairs: those whose lines are also drawn for the encoder alone and for the head alone."""
    few_shot: Sequence[Pair] = ()
    """Of the pairs: those that are also trained on few examples of the target."""
    head: str | None = None
    quirks: tuple[str, ...] = ()
    """What is done as the published code did it."""
    measure: str | None = None
    """What selects the best step and is interpolated, if not the task's usual one."""


def _names(task: str, pair: Pair) -> tuple[str, str, str]:
    """Of the transfers: source alone, target alone, both."""
    return f"{task}-{pair.source}", f"{task}-{pair.target}", f"{task}-{pair.source}-{pair.target}"


def of_pairs(task: str, setting: Setting, sentences: int) -> tuple[list[Interpolation], list[Angles]]:
    """The lines, planes and angles between the models of every pair, scored on so many sentences at most."""
    between: list[Interpolation] = []
    angles: list[Angles] = []
    for pair in setting.pairs:
        source, target, both = _names(task, pair)
        angles.append(Angles(tasks=(both, source, target)))
        evaluate = tuple(setting.data(code) for code in pair)
        scored = partial(Interpolation, evaluate=evaluate, sentences=sentences)
        lines = [(source, both), (target, both)]
        between += [scored(tasks=line) for line in lines]
        if pair in setting.planes:
            between.append(scored(tasks=(both, source, target), alphas=setting.plane_alphas))
        between += [scored(tasks=line, part=part) for part in PARTS for line in lines if pair in setting.parts]
    return between, angles


def transfers(task: str, setting: Setting) -> dict[str, Transfer]:
    """Every language alone, every pair, and the pairs with few examples of the target."""

    sources = {pair.source for pair in setting.pairs}
    more, others = setting.source_examples, setting.sizes.train

    def transfer(*codes: str, evaluate: Sequence[str], shots: int | None = None) -> Transfer:
        train = tuple(more if code in sources else others for code in codes) if more else others
        sizes = setting.sizes.model_copy(update={"train": train})
        return Transfer.model_validate(
            {
                "task": task, "head": setting.head, "train": [setting.data(code) for code in codes],
                "evaluate": [setting.data(code) for code in evaluate], "sizes": sizes, "tuning": setting.tuning,
                "shots": shots, "measure": setting.measure, "quirks": setting.quirks,
            }
        )  # fmt: skip

    alone = dict.fromkeys(code for pair in setting.pairs for code in pair)
    targets = {code: [pair.target for pair in setting.pairs if pair.source == code] for code in alone}
    made = {f"{task}-{code}": transfer(code, evaluate=[code, *targets[code]]) for code in alone}
    made |= {_names(task, pair)[2]: transfer(*pair, evaluate=pair) for pair in setting.pairs}
    for pair, shots in _few_shots(setting):
        made[f"{_names(task, pair)[2]}-{shots}"] = transfer(*pair, evaluate=pair[1:], shots=shots)
    return made


def _few_shots(setting: Setting) -> Iterator[tuple[Pair, int]]:
    """Pairs and numbers of examples of the target to train on: all of them, and the half of them."""
    for pair in setting.few_shot:
        yield from ((pair, count) for count in sorted({n for shots in SHOTS for n in (shots, shots // 2)}))


def of_few_shots(task: str, setting: Setting) -> Iterator[Interpolation]:
    """From the source's model to that of half the examples: the other half chooses the point, the test set judges."""
    for pair in setting.few_shot:
        source, _, both = _names(task, pair)
        for half in (shots // 2 for shots in SHOTS):
            line = {"tasks": (source, f"{both}-{half}"), "evaluate": (setting.data(pair.target),)}
            given = {"alphas": FEW_SHOT_ALPHAS} | line
            yield Interpolation.model_validate(given | {"split": "dev", "sentences": half})
            yield Interpolation.model_validate(given | {"split": "test", "sentences": setting.sizes.test})


def of_chance(task: str, setting: Setting) -> Iterator[Interpolation]:
    """A random direction from every source's models: how flat it is where training did not lead."""
    for source in dict.fromkeys(pair.source for pair in setting.pairs):
        sentences = min(setting.sizes.dev, 100)
        yield Interpolation(
            tasks=(f"{task}-{source}",), random=1, evaluate=(setting.data(source),), sentences=sentences
        )


def of_seeds(task: str, setting: Setting) -> Iterator[Interpolation]:
    """The models of every source, from seed to seed."""
    for source in dict.fromkeys(pair.source for pair in setting.pairs):
        targets = [pair.target for pair in setting.pairs if pair.source == source]
        evaluate = tuple(setting.data(code) for code in (source, *targets))
        yield Interpolation(tasks=(f"{task}-{source}",), evaluate=evaluate, split="test", sentences=setting.sizes.test)
