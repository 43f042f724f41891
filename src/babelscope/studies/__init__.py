"""The built-in studies, one file each, found by themselves.

A study is a module with `Parameters` (what `--with` can change) and `PROFILES` (for each profile a function from these
parameters to a `Study`), or a YAML file. Its name is the file's, with `-` for `_`. A package of one's own adds its
studies by `STUDIES.add("my_package.studies")` in a module that its entry point `babelscope.plugins` names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from babelscope.core.errors import InputError, StudyError, did_you_mean
from babelscope.core.outside import given_path
from babelscope.core.plugins import import_plugins
from babelscope.core.validation import declare, validate
from babelscope.core.yaml import read_yaml
from babelscope.study.declare import Study, load_study

YAML = (".yaml", ".yml")
DEFAULT_PROFILE = "world"


@dataclass(frozen=True)
class BuiltIn:
    """A study that goes by a name: a module, or a YAML file."""

    name: str
    origin: ModuleType | Path

    @property
    def profiles(self) -> tuple[str, ...]:
        """What can stand after `@`; a YAML file has none."""
        return () if isinstance(self.origin, Path) else tuple(self.origin.PROFILES)

    @property
    def default(self) -> str:
        """The profile that needs no download, where there is one."""
        return DEFAULT_PROFILE if DEFAULT_PROFILE in self.profiles else next(iter(self.profiles), DEFAULT_PROFILE)

    @property
    def question(self) -> str:
        """What it asks, in a line: the first paragraph of a module's docstring, without the name before it."""
        if isinstance(self.origin, Path):
            return str(read_yaml(self.origin).get("question", ""))
        paragraph = (self.origin.__doc__ or "").partition("\n\n")[0]
        return paragraph.removeprefix(f"{self.name}:").strip()

    @property
    def parameters(self) -> dict[str, Any]:
        """What `--with` can change, with defaults; of a YAML file it is any of its keys."""
        if isinstance(self.origin, Path):
            return {}
        return {key: field.default for key, field in self.origin.Parameters.model_fields.items()}

    def study(self, profile: str | None, changes: Mapping[str, Any]) -> Study:
        """The study of a profile (None: the default one), with changes.

        Raises:
            InputError: it has no such profile.
            DataError, StudyError: the file, the parameters or the declaration are at fault.
        """
        if isinstance(self.origin, Path):
            if profile is not None:
                raise InputError(f"{self.name} has no profiles; leave out @{profile}")
            return load_study(self.origin, dict(changes))
        module, chosen = self.origin, profile if profile is not None else self.default
        if chosen not in module.PROFILES:
            near = did_you_mean(chosen, self.profiles)
            raise InputError(f"{self.name} has no profile {chosen!r}{near}; there are {', '.join(self.profiles)}")
        asked = f"{self.name}{'' if profile is None else f'@{profile}'} --with"
        given = validate(module.Parameters, dict(changes), asked)
        profile_of = module.PROFILES[chosen]
        study = declare(lambda: given.applied_to(profile_of(given)), asked, Study)
        if unused := given.unused():
            raise StudyError(asked, [f"{key}: {self.name}@{chosen} has no use for it here" for key in unused])
        return study


class _Studies(Mapping[str, BuiltIn]):
    """The studies of the packages that were added, by name. A module is imported when its study is asked for."""

    def __init__(self) -> None:
        self._packages: list[str] = []

    def add(self, package: str) -> None:
        """Add the studies of a package: its modules that have `PROFILES`, and its YAML files."""
        if package not in self._packages:
            self._packages.append(package)

    def __getitem__(self, name: str) -> BuiltIn:
        matches = [study for package in self._all() if (study := _of_package(package, name))]
        if not matches:
            raise KeyError(name)
        if len(matches) > 1:
            raise InputError(
                f"two studies are named {name!r}, in {matches[0].origin} and {matches[1].origin}: rename one"
            )
        return matches[0]

    def __iter__(self) -> Iterator[str]:
        names = {_name_of(path) for package in self._all() for folder in _folders(package) for path in folder.iterdir()}
        # `first-look` is where people begin.
        return (name for name in sorted(names, key=lambda name: (name != "first-look", name)) if name in self)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _all(self) -> list[str]:
        import_plugins()
        return self._packages


STUDIES = _Studies()
STUDIES.add(__name__)


def _folders(package: str) -> list[Path]:
    spec = find_spec(package)
    return [Path(place) for place in (spec.submodule_search_locations if spec else None) or ()]


def _name_of(path: Path) -> str:
    return path.stem.replace("_", "-")


def _of_package(package: str, name: str) -> BuiltIn | None:
    for folder in _folders(package):
        for path in folder.glob("*.*"):
            if _name_of(path) != name or path.stem.startswith("_"):
                continue
            if path.suffix in YAML:
                return BuiltIn(name, path)
            if path.suffix == ".py" and hasattr(module := _imported(f"{package}.{path.stem}", path), "PROFILES"):
                return BuiltIn(name, module)
    return None


def _imported(module: str, path: Path) -> ModuleType:
    try:
        return import_module(module)
    except Exception as error:  # whatever somebody else's module raises
        raise InputError(
            f"{path}: {type(error).__name__}: {error}", "Mend the file, or uninstall its package"
        ) from error


def find_study(name: str, changes: Mapping[str, Any]) -> Study:
    """The built-in study NAME[@PROFILE], or the study in a YAML file; `changes` are its parameters or keys.

    Raises:
        InputError: there is no such study or profile, or a file has a study of a built-in name.
        DataError, StudyError: the file, the parameters or the declaration are at fault.
    """
    if name.endswith(YAML) or given_path(name).is_file():
        _check_keys(name, changes)
        study = load_study(given_path(name), dict(changes))
        check_own_name(study.name, name)
        return study
    base, at, profile = name.partition("@")
    if base not in STUDIES:
        near = did_you_mean(base, STUDIES)
        if name and not near and given_path(name).is_dir():
            raise InputError(f"{name} is a folder; give the YAML file of a study")
        raise InputError(f"no study is named {base!r}{near}; there are {', '.join(STUDIES)}, or give a YAML file")
    return STUDIES[base].study(profile if at else None, changes)


def check_own_name(name: str, declared_in: str) -> None:
    """Refuse the name of a built-in study for one of the user's own (`InputError`)."""
    if name.partition("@")[0] in STUDIES:
        raise InputError(
            f"{declared_in}: {name!r} is the name of a built-in study, whose published numbers and command its "
            "report would have; give this one another name"
        )


def _check_keys(file: str, changes: Iterable[str]) -> None:
    """Refuse what only built-in studies have, whose parameters stand for several keys of a declaration."""
    for key in changes:
        if key not in Study.model_fields and (having := [name for name in STUDIES if key in STUDIES[name].parameters]):
            raise InputError(
                f"--with {key}: a parameter of built-in studies such as {having[0]}; of {file} give the keys that it "
                "declares, such as --with tasks.pos.sizes.train=100"
            )
