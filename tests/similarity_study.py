"""A study of how alike sentences and their translations are, and its steps that compare them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from babelscope.measures.similarity import SentenceSimilarity
from babelscope.steps.plan import Plan
from babelscope.study.declare import Study
from command_line import declaration, transfer


def study(folder: Path, *similarities: dict[str, Any], **changes: Any) -> Study:
    measures = [{"measure": "similarity", **similarity} for similarity in similarities]
    base = declaration(folder, surgeries=[None, "reinit:layers=0"], retrieval=None, measures=measures)
    return Study.model_validate(base | {"tasks": {"pos": transfer(baselines=[], evaluate=["world:qaa"])}} | changes)


def compared(plan: Plan, pooling: str = "mean") -> list[SentenceSimilarity]:
    return [step for step in plan.steps.values() if isinstance(step, SentenceSimilarity) and step.pooling == pooling]
