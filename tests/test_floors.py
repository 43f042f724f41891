"""The oldest versions that are allowed."""

from __future__ import annotations

from pathlib import Path

from floors import floors
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PINS = Path(__file__).parent.parent / "constraints.txt"


def test_a_lower_bound_is_a_constraint_and_torch_has_none(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\ndependencies = ["torch>=2.7", "langcodes[data]>=3.4", "numpy>=1.26,<3", "any"]\n'
        '[project.optional-dependencies]\nmore = ["peft>=0.21", "numpy>=1.26,<3", "pinned==0.1.0"]\n',
        encoding="utf-8",
    )
    assert list(floors(project)) == ["langcodes==3.4", "numpy==1.26", "peft==0.21"]


def test_what_tests_are_run_with_is_no_older_than_what_is_allowed():
    pins = dict(line.split("==") for line in PINS.read_text(encoding="utf-8").split())
    pins = {canonicalize_name(name): version for name, version in pins.items()}
    oldest = {canonicalize_name(floor.name): floor.specifier for floor in map(Requirement, floors())}
    assert len(oldest) > 20
    for name in oldest.keys() & pins.keys():
        (bound,) = oldest[name]
        assert Requirement(f"{name}>={bound.version}").specifier.contains(pins[name]), name
