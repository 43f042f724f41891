"""A perplexity of a language model as it is, or after a surgery."""

from __future__ import annotations

from babelscope.core.row import Row


def a_row(surgery: str, language: str, seed: int, value: float, **labels: object) -> Row:
    shared = {"kind": "score", "encoder": "e", "task": "mlm", "train_languages": "qaa", "split": "test"} | labels
    named = None if surgery == "whole" else surgery
    key = f"{surgery} {language} {seed}"
    return Row("perplexity", value, key=key, surgery=named, language=language, dataset=language, seed=seed, **shared)
