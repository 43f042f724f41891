"""Print the oldest version of each library that pyproject.toml allows, as pip's constraints: `make test-floors`.

All but torch's, whose old versions come with gigabytes of CUDA from PyPI; the Makefile says which is taken.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def floors(project: Path = PROJECT) -> Iterator[str]:
    """A line `NAME==VERSION` for each requirement of the package and of its extras that has a lower bound."""
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    requirements = chain(declared["dependencies"], *declared["optional-dependencies"].values())
    for requirement in sorted({*map(Requirement, requirements)}, key=str):
        for bound in requirement.specifier:
            if bound.operator == ">=" and requirement.name != "torch":
                yield f"{requirement.name}=={bound.version}"


if __name__ == "__main__":
    print(*floors(), sep="\n")
