"""Print docs/study.schema.json, the JSON Schema of studies, which editors check YAML by: `make docs`."""

from __future__ import annotations

import json
from typing import Any

from babelscope.measures import Measure
from babelscope.study.declare import Study
from babelscope.surgery import Operation
from babelscope.tuning.strategy import Strategy

FAMILIES = (Measure, Operation, Strategy)
"""Declarations of which a key says which kind is meant."""
AS_TEXT = ("Operation", "Schedule", "Surgery")
"""What can be written as text, too, such as `drop:last=6`."""


def schema() -> dict[str, Any]:
    """What pydantic says of a study, with all kinds of the open families."""
    whole = Study.model_json_schema()
    shared = whole["$defs"]
    for family in FAMILIES:
        kinds = {kind.__name__: kind.model_json_schema() for kind in family.all_kinds().values()}
        for kind in kinds.values():
            shared |= kind.pop("$defs", {})
        shared |= kinds | {family.__name__: {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]}}
    for name in AS_TEXT:
        shared[f"{name}Mapping"] = shared[name]
        shared[name] = {"anyOf": [{"type": "string"}, {"$ref": f"#/$defs/{name}Mapping"}]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1, ensure_ascii=False, sort_keys=True))
