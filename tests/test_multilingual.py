"""The encoder of studies of real languages, and the English one that it is made of, which another package holds."""

from __future__ import annotations

import csv
import sys
from importlib.resources import files

import pytest

from babelscope.core.errors import EncoderError
from babelscope.encoders.load import load_encoder, save_encoder
from babelscope.encoders.places import PACKAGED, installed_folder, locate
from babelscope.studies import STUDIES, find_study
from babelscope.studies.multilingual import TEXTS, held_out, multilingual
from babelscope.study.encoders import BringingIn

NAME, (PACKAGE, FOLDER) = next(iter(PACKAGED.items()))


@pytest.fixture
def package(tmp_path, monkeypatch, encoder):
    """A package of that name which holds a tiny encoder."""
    folder = tmp_path / "site" / PACKAGE
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('this code is not run')\n", encoding="utf-8")
    save_encoder(encoder, folder / FOLDER)
    monkeypatch.syspath_prepend(tmp_path / "site")
    return folder / FOLDER


def test_an_encoder_in_another_package_goes_by_its_name(package, encoder):
    assert installed_folder(NAME) == package
    place = locate(NAME)
    assert (place.name, place.path) == (NAME, str(package))
    assert place.content == locate(str(package)).content
    assert load_encoder(NAME).tokenizer.get_vocab() == encoder.tokenizer.get_vocab()
    assert PACKAGE not in sys.modules


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr("babelscope.encoders.places.find_spec", lambda name: None)
    with pytest.raises(EncoderError, match=r"(?s)its package is not installed.*babelscope\[english\]"):
        locate(NAME)


def test_all_text_that_it_is_made_with_is_public_at_pinned_commits():
    table = (files("babelscope.corpora") / "parallel_texts.csv").read_text(encoding="utf-8")
    public = {f"{row['collection']}:{row['code']}" for row in csv.DictReader(table.splitlines())}
    named = {name.removesuffix(":lines-1-1597") for texts in TEXTS.values() for name in texts}
    assert named <= public
    assert all(name.endswith(":lines-1-1597") for texts in TEXTS.values() for name in texts if "ntrex" in name)


def test_languages_with_treebanks_are_left_out():
    assert len(TEXTS) >= 20 and not {"wo", "mt", "ug", "fo", "bm", "pcm", "en"} & TEXTS.keys()
    small, undistilled = multilingual(small=True), multilingual(distilled=False)
    assert small.distil is None and undistilled.distil is None and undistilled.languages == TEXTS
    assert len({each.name for each in (small, undistilled, multilingual())}) == 3


@pytest.mark.parametrize("name", [name for name, study in STUDIES.items() if "real" in study.profiles])
def test_studies_of_real_languages_take_it_where_no_other_is_given(name):
    made = [encoder for encoder in find_study(f"{name}@real", {}).encoders if isinstance(encoder, BringingIn)]
    assert (multilingual() in made) == (name != "bring-in")
    small = find_study(f"{name}@real", {"scale": "small"}).encoders
    assert (multilingual(small=True) in small) == (name != "bring-in")
    assert not any(encoder.distil for encoder in small if isinstance(encoder, BringingIn))


def test_retrieval_is_of_lines_that_it_was_not_made_with():
    measure = held_out("de", "zh")
    assert measure.source == "ntrex:en" and measure.targets == ("ntrex:de:lines-1598-1997", "ntrex:zh:lines-1598-1997")
