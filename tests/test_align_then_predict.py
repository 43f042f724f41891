"""What the study align-then-predict consists of."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.errors import InputError, StudyError
from babelscope.measures.similarity import SentenceSimilarity
from babelscope.report.sections.redrawn_layers.reinitialised import layers_of
from babelscope.steps import Tune
from babelscope.studies import find_study
from babelscope.studies.align_then_predict import PUD, TREEBANKS
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.surgery import parse_operation
from babelscope.world import FAMILY


def tuned(study: Study) -> int:
    return len(study.tasks) * len(study.surgeries) * len(study.seeds)


@pytest.mark.parametrize("study", ["align-then-predict", "alignment-by-layer"])
def test_layers_that_no_encoder_has_are_refused_before_they_are_counted(study):
    with pytest.raises(StudyError, match=r"layers: .*1000"):
        find_study(study, {"layers": 10**9})


def test_layers_are_drawn_anew_in_twos():
    names = [surgery.name if surgery else None for surgery in find_study("align-then-predict", {}).surgeries]
    assert names == [None, "reinit:layers=0+1", "reinit:layers=2+3", "reinit:layers=4+5"]
    assert [layers_of([parse_operation(name)]) for name in names[1:]] == [(0, 1), (2, 3), (4, 5)]
    others = ("reinit", "reinit:layers=0+1,part=attention", "reverse", "drop:last=1")
    assert [layers_of([parse_operation(text)]) for text in others] == [()] * 4
    assert layers_of([parse_operation("reinit:layers=0+1"), parse_operation("reverse")]) == ()
    assert len(find_study("align-then-predict@paper", {}).surgeries) == 7


def test_the_world_compares_untuned_and_tuned_encoders():
    study = find_study("align-then-predict", {})
    steps = compile_study(study).steps.values()
    assert sum(isinstance(step, Tune) for step in steps) == tuned(study) == 3 * 4 * 3
    # Untuned, the encoder as it is counts once for all seeds.
    assert sum(isinstance(step, SentenceSimilarity) for step in steps) == tuned(study) + 1 + 3 * 3
    seen = tuple(f"world:{code}" for code, member in FAMILY.items() if member.seen)
    assert len(seen) == 6 and {transfer.evaluate for transfer in study.tasks.values()} == {seen}
    (measure,) = study.measures
    assert (measure.source, *measure.targets) == seen
    with pytest.raises(InputError, match="sources: 'qag' cannot be one here; allowed are qaa, qab, qac, qad, qae, qaf"):
        find_study("align-then-predict", {"sources": ["qag"]})


def test_other_sources_and_encoders_can_be_given():
    study = find_study("align-then-predict", {"sources": ["qaa", "qad"], "layers": 4, "encoder": "world-pairs"})
    assert list(study.tasks) == [f"{task}-{code}" for code in ("qaa", "qad") for task in ("pos", "parsing", "ner")]
    assert [one.source for one in study.measures] == ["world:qaa", "world:qad"] and len(study.surgeries) == 3
    with pytest.raises(InputError, match="sources: 'fr' cannot be one here; allowed are en, ru, ar"):
        find_study("align-then-predict@real", {"sources": ["fr"]})


WORD = "1\tone\t_\tX\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Treebanks of a sentence, and entities of a word."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    for name, code in [(f"UD_{language}-PUD", code) for code, language in PUD.items()]:
        split_files(tmp_path / "ud" / name, f"{code}_pud-ud-{{}}.conllu", ("test",), f"# {code}\n{WORD}")
    for code, name in TREEBANKS.items():
        splits = ("train", "dev") if code == "en" else ("dev",)
        split_files(tmp_path / "ud" / name, f"{code}_x-ud-{{}}.conllu", splits, "# {}\n" + WORD * 20)
    for code in PUD:
        split_files(tmp_path / "wikiann" / code, "{}.txt", ("train", "dev", "test"), f"{code}{{}} B-PER\n\n")


def split_files(folder: Path, name: str, splits: tuple[str, ...], text: str) -> None:
    folder.mkdir(parents=True)
    for split in splits:
        (folder / name.format(split)).write_text(text.replace("{}", split), encoding="utf-8")


@pytest.mark.parametrize(("profile", "tasks"), [("real", 2), ("paper", 3 * 3)])
@pytest.mark.parametrize("scale", ["full", "small"])
def test_real_data_are_planned(stand_ins, encoder_folder, profile, tasks, scale):
    given = {"encoder": str(encoder_folder), "layers": 2, "scale": scale}
    study = find_study(f"align-then-predict@{profile}", given)
    steps = compile_study(study).steps.values()
    assert sum(isinstance(step, Tune) for step in steps) == tasks * 2 * len(study.seeds)
    (english, *_) = study.measures
    assert english.source == "UD_English-PUD" and len(english.targets) == (9 if profile == "real" else 18)
    heads = {name: one.head for name, one in study.tasks.items() if one.task == "parsing"}
    assert set(heads.values()) == ({"align-then-predict"} if profile == "paper" else {None})


def test_the_published_targets_are_all_but_the_source():
    """The authors' code lists eighteen parallel treebanks beside English."""
    study = find_study("align-then-predict@paper", {})
    targets = {measure.source: set(measure.targets) for measure in study.measures}
    assert set(targets) == {"UD_English-PUD", "UD_Russian-PUD", "UD_Arabic-PUD"}
    languages = "Arabic Chinese Czech Finnish French German Hindi Indonesian Italian Japanese Korean Polish Portuguese"
    languages += " Russian Spanish Swedish Thai Turkish"
    assert targets["UD_English-PUD"] == {f"UD_{language}-PUD" for language in languages.split()}
    assert all(len(others) == 18 and source not in others for source, others in targets.items())
    assert {len(task.evaluate) for task in study.tasks.values()} == {19}


def test_real_languages_are_brought_in_with_distillation_and_without():
    distilled, undistilled = find_study("align-then-predict@real", {}).encoders
    assert distilled.distil and not undistilled.distil and distilled.languages == undistilled.languages
    (small,) = find_study("align-then-predict@real", {"scale": "small"}).encoders
    assert small.distil is None and small.languages["de"] == ("ntrex:deu:lines-1-1597",)
