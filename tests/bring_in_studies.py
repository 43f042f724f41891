"""Studies that bring languages into an encoder in several ways."""

from __future__ import annotations

from typing import Any

from babelscope.study.declare import Study
from command_line import declaration, transfer


def pairs_with(code: str) -> dict[str, Any]:
    return {"languages": ["qaa", code], "sentences": 60}


TEXTS = {code: [pairs_with(code)] for code in ("qab", "qae")}
TRAINED = {"learning_rate": 1e-3, "steps": 30, "tokens_per_batch": 256}
DISTILLED = {"name": "distilled", "languages": TEXTS, "distil": {"tuning": TRAINED}}
LATER = {"name": "later", "after_tuning": True, "languages": TEXTS}
BEFORE = {"name": "before", "languages": TEXTS, "rows": "spelling", "pieces": 100}
KNOWN = {"name": "known", "languages": TEXTS, "known": True, "after_tuning": True}


def declared(folder, *brought_in, **changes) -> Study:
    encoders = [str(folder), *({"encoder": str(folder)} | each for each in brought_in)]
    tasks = {"pos": transfer(baselines=[])}
    return Study.model_validate(
        declaration(folder, encoders=encoders, surgeries=[None], seeds=[0], tasks=tasks, retrieval=None) | changes
    )
