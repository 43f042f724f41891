"""A language that is added to the world: it is found everywhere, and changes nothing of the others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import babelscope
from babelscope.core.errors import InputError
from babelscope.core.languages import Language
from babelscope.corpora.datasets import find
from babelscope.corpora.world_text import WorldText
from babelscope.engine.progress import language_labels
from babelscope.face.catalogue import catalogue
from babelscope.world import FAMILY, LANGUAGES, World
from babelscope.world.family import Grammar, Member
from babelscope.world.lexicon import sound_changes
from world_digest import digests

pytestmark = pytest.mark.usefixtures("in_process")

FILE = """\
from babelscope.core.languages import Language
from babelscope.world.family import Grammar, Member, register
from babelscope.world.lexicon import sound_changes

register(Member(
    Language("qty", "Qty", "Grek"), "unseen, daughter of the far one", Grammar("VSO", plural="x", past="lo"),
    parent="qae", changes=sound_changes("y>o"), replaced=0.3,
))
"""
DAUGHTER = Member(
    Language("qtz", "Qtz", "Grek"), "unseen, daughter of the far one", Grammar("VSO", plural="x", past="lo"),
    parent="qae", changes=sound_changes("y>o"), replaced=0.3,
)  # fmt: skip


@pytest.fixture
def daughter():
    yield LANGUAGES.register(DAUGHTER)
    LANGUAGES.registered.pop("qtz")


BEFORE = list(LANGUAGES)


@pytest.mark.parametrize("seen", [False, True])
def test_a_new_language_changes_nothing_of_the_others(seen):
    before = digests(5)
    LANGUAGES.register(replace(DAUGHTER, seen=seen))
    try:
        assert World(5).text("qtz", 3)
        assert digests(5) == before
        assert list(LANGUAGES) == [*BEFORE, "qtz"]
    finally:
        LANGUAGES.registered.pop("qtz")
    assert list(LANGUAGES) == BEFORE
    assert BEFORE[:9] == list(FAMILY)


def test_it_is_related_as_it_says(daughter):
    world = World()
    related = world.relatedness("qae", "qtz")
    assert related.cognates == pytest.approx(0.7, abs=0.06)
    assert world.relatedness("qaa", "qtz").cognates < world.relatedness("qaa", "qae").cognates
    assert world.relatedness("qaf", "qtz").cognates == 0
    greek = [letter for line in world.text("qtz", 50) for letter in line if letter.isalpha() and not letter.isascii()]
    assert greek and all("α" <= letter <= "ϡ" for letter in greek)
    assert world.text("qtz", 50, switched=0.3) != world.text("qtz", 50)


@pytest.mark.parametrize("task", ["pos", "parsing", "ner", "mlm", "inference"])
def test_it_is_a_data_set_of_every_task(daughter, task):
    data = find(task, "world:qtz", "test", 7)
    assert (data.name, data.code, len(data.read())) == ("world:qtz", "qtz", 7)


def test_it_can_be_pre_trained_on(daughter):
    assert len(WorldText(language="qtz", sentences=5, pairs=2, switched=0.2).read()) == 7


def test_it_is_listed_and_named(daughter):
    _, lines = catalogue("languages")
    assert ("world:qtz", "Grek", DAUGHTER.role, "unseen") in lines
    labels = language_labels(["qtz", "qaa"])
    assert list(labels.items()) == [("qaa", "qaa source (Latn)"), ("qtz", f"qtz {DAUGHTER.role} (Grek)")]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"language": Language("fao", "Faroese", "Latn")}, "'fao': not the code of an artificial language"),
        ({"language": Language("qaa", "Qaa", "Grek")}, "qaa: there is another language of that code"),
        ({"language": Language("qtz", "Qtz", "Arab")}, "qtz: no script 'Arab'; there are Latn, Cyrl, Grek"),
        ({"parent": "qax"}, "qtz: no language 'qax' to take words from; there are qaa, qab"),
        ({"lexicon_of": "qtz"}, "qtz: no language 'qtz' to take words from"),
    ],
)
def test_what_cannot_be_a_language_is_refused(changes, problem):
    with pytest.raises(InputError, match=problem):
        LANGUAGES.register(replace(DAUGHTER, **changes))
    assert list(LANGUAGES) == BEFORE


def test_the_same_language_may_be_registered_again(daughter):
    assert LANGUAGES.register(replace(daughter)) == LANGUAGES["qtz"]


def test_another_package_can_bring_one(tmp_path):
    """Its module is imported when the languages are first asked for, and may use the world itself."""
    (tmp_path / "other.py").write_text(f"from babelscope.world import World\n{FILE}World().text('qty', 1)\n")
    about = tmp_path / "other-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[babelscope.plugins]\nother = other\n")
    source = Path(babelscope.__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{tmp_path}"}
    codes = (
        "from babelscope.world import World; World().member('qty')",
        "from babelscope.corpora.datasets import find; find('pos', 'world:qty', 'test', 1).read()",
    )
    for code in codes:
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_a_file_in_the_folder_is_a_language(tmp_path):
    """Of at most 15 lines, and no other file; in a copy of the package, with no other package installed."""
    assert len(FILE.splitlines()) <= 15
    package = Path(babelscope.__file__).parent
    for room in ("core", "world"):
        shutil.copytree(package / room, tmp_path / "babelscope" / room)
    shutil.copy(package / "__init__.py", tmp_path / "babelscope")
    (tmp_path / "babelscope" / "world" / "languages" / "qty.py").write_text(FILE, encoding="utf-8")
    code = (
        "import json; from babelscope.world import LANGUAGES, World;"
        "print(json.dumps([list(LANGUAGES), World().text('qty', 3), World().text('qaa', 3, switched=0.3)]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    codes, text, others = json.loads(subprocess.check_output([sys.executable, "-S", "-c", code], env=environment))
    assert codes == [*BEFORE, "qty"]
    assert len(text) == 3
    assert others == World().text("qaa", 3, switched=0.3)
