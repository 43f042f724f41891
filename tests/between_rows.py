"""Rows of models between tuned ones, as a study would have them."""

from __future__ import annotations

from babelscope.core.row import Row
from babelscope.core.training import TrainedOn
from babelscope.report.model import Report

ALPHAS = (-0.5, 0.0, 0.5, 1.0, 1.5)
SEEDS = (0, 1, 2)
TARGETS = ("qab", "qac")


def row(measure: str, value: float, **labels: object) -> Row:
    """A score of a model, or of one between those that `path` names."""
    named = {"study": "s", "encoder": "one", "task": "pos", "split": "dev", "kind": "score"} | labels
    made = Row(measure, value, "share").labelled(**named)
    return along(str(labels["path"]), made.labelled(kind=labels.get("kind", "interpolation"))) if made.path else made


def along(path: str, row: Row) -> Row:
    """The same row of another path, from the model that its origin names."""
    origin = {"shots": None, **TrainedOn.read(path.split(" > ")[0]).columns}
    return row.labelled(path=path, **origin)


def score(origin: str, language: str, alpha: float, seed: int, target: str) -> float:
    """Some number that depends on everything."""
    away = abs(1 - alpha) * (0.02 if language == origin else 0.2)
    return 0.9 - away - 0.01 * seed * (1 - alpha) - 0.001 * len(target) * TARGETS.index(target)


def lines(encoder: str = "one", scale: float = 1.0) -> list[Row]:
    """How far scores are from 0.9 is scaled, a little more for the second target."""
    scales = {target: scale ** (1 + 0.1 * place) for place, target in enumerate(TARGETS)}
    return [
        row(
            "accuracy", 0.9 + scales[target] * (score(origin, language, alpha, seed, target) - 0.9),
            encoder=encoder, path=f"{origin} > qaa+{target}", language=language, alpha1=alpha, seed=seed,
        )
        for target in TARGETS
        for origin in ("qaa", target)
        for language in ("qaa", target)
        for alpha in ALPHAS
        for seed in SEEDS
    ]  # fmt: skip


def report(*rows: Row) -> Report:
    return Report("a study", "", rows)


def few(k: int, target: str, seed: int, best: float) -> list[Row]:
    """A line to the model of k examples, lowest loss at `best` on the k others; and the model of 2k."""
    shared = {"path": f"qaa > qaa+{target}:{k}", "language": target, "seed": seed}
    rows = [row("loss", (alpha - best) ** 2, alpha1=alpha, **shared) for alpha in ALPHAS]
    rows += [row("accuracy", 0.3, alpha1=alpha, **shared) for alpha in ALPHAS]
    rows += [row("accuracy", 0.5 + 0.1 * alpha, alpha1=alpha, split="test", **shared) for alpha in ALPHAS]
    trained = {"train_languages": f"qaa+{target}", "shots": 2 * k, "language": target, "seed": seed}
    return [*rows, row("accuracy", 0.58 + 0.01 * seed, split="test", **trained)]


def seeded(language: str, ends: tuple[float, float, float], mean: float) -> list[Row]:
    """Lines from seed to seed whose scores at the ends are these, a hump of the loss between, and the mean's score."""
    rows = []
    for seed in (0, 1):
        shared = {"path": "qaa > qaa", "language": language, "seed": seed, "split": "test"}
        values = {0.0: ends[seed], 0.5: 0.1, 1.0: ends[seed + 1]}
        rows += [row("accuracy", value, alpha1=alpha, **shared) for alpha, value in values.items()]
        losses = {0.0: 1.0, 0.5: 3.0 + seed, 1.0: 2.0}
        rows += [row("loss", value, alpha1=alpha, **shared) for alpha, value in losses.items()]
    shared = {"path": "qaa > qaa > qaa", "language": language, "split": "test"}
    return [*rows, row("accuracy", mean, alpha1=1 / 3, alpha2=1 / 3, **shared)]


def plane(seed: int) -> list[Row]:
    return [
        row(
            "accuracy", 0.8 - 0.1 * abs(one) - 0.2 * abs(other) - 0.1 * seed, path="qaa+qab > qaa > qab",
            language="qab", alpha1=one, alpha2=other, seed=seed,
        )
        for one in ALPHAS
        for other in ALPHAS
    ]  # fmt: skip


def angle_rows() -> list[Row]:
    shared = {"path": "qaa+qab > qaa > qab", "split": None, "kind": "angle", "part": "all"}
    return [
        one
        for seed in SEEDS
        for one in (
            row("angle", 50.0 + seed, seed=seed, **shared),
            row("norm ratio", 1.0, seed=seed, **shared),
            row("norm to first", 2.0, seed=seed, **shared),
            row("norm to second", 2.0, seed=seed, **shared),
        )
    ]
