"""A report of rows that are made up: nine languages, an encoder and itself untrained."""

import numpy as np

from babelscope.core.row import Row
from babelscope.report import Report

LABELS = {
    "qaa": "source", "qab": "near", "qac": "near, other script", "qad": "middle", "qae": "far", "qaf": "isolate",
    "qag": "unseen close relative", "qah": "unseen, other script", "qai": "unseen isolate",
}  # fmt: skip
LEVELS = {"natural": [97, 93, 88, 84, 79, 70, 85, 66, 52], "reinit": [91, 82, 45, 52, 47, 44, 71, 42, 40]}


def synthetic_rows() -> list[Row]:
    """Nine languages, an encoder and itself untrained, three seeds, two baselines, curves, and an odd measure."""
    draw = np.random.default_rng(0)
    rows = []
    shared = {"study": "demo", "task": "pos", "train_languages": "qaa", "kind": "score"}
    for surgery in (None, "reinit"):
        run = shared | {"encoder": "natural", "surgery": surgery}
        for seed in range(3):
            for code, level in zip(LABELS, LEVELS[surgery or "natural"], strict=True):
                value = level / 100 + draw.normal(0, 0.008)
                test = run | {"language": code, "dataset": f"world:{code}", "split": "test", "seed": seed}
                rows.append(Row("accuracy", value, "share", low=value - 0.01, high=value + 0.01, **test))
                rows += [Row("coverage", 1.0, "share", **test), Row("words", 4321, "words", **test)]
            for step in range(50, 301, 50):
                curve = run | {"seed": seed, "step": step, "kind": "curve"}
                rows.append(Row("accuracy", 0.95 - 10 / step, "share", split="dev", dataset="world:qaa", **curve))
                rows.append(Row("loss", 20 / step + draw.uniform(0, 0.05), split="train", **curve))
    for name, level in (("most-frequent-tag", 0.25), ("word-majority", 0.6)):
        for code in LABELS:
            rows.append(Row("accuracy", level, "share", **shared, encoder=name, language=code, split="test"))
    for layer in range(3):
        rows.append(
            Row("retrieval", 0.3 * layer, "share", kind="retrieval", encoder="natural", language="qab", layer=layer)
        )
    return rows


def synthetic_report() -> Report:
    question = "What does part-of-speech tagging learned in one language carry over to the others?"
    provenance = {
        "versions": {"torch": "2.13.0", "numpy": "2.4.6"},
        "seeds": [0, 1, 2],
        "wall seconds": 201.4,
        "steps": 66,
    }
    return Report("First look", question, synthetic_rows(), "name: first-look\nseeds: [0, 1, 2]\n", LABELS, provenance)
