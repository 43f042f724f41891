"""Parallel texts that are compared: treebanks by the names of their sentences, translations of one collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from babelscope.core.errors import StudyError
from babelscope.steps.plan import Plan, check_data
from babelscope.study.compile import compile_study
from similarity_study import compared, study

pytestmark = pytest.mark.usefixtures("in_process")


def treebank(data: Path, language: str, code: str, ids: list[str]) -> None:
    """A test split whose sentences say their own id, in two words without a space between them."""
    folder = data / "ud" / f"UD_{language}-PUD"
    folder.mkdir(parents=True)
    sentences = (
        f"# sent_id = {one}\n# text = {code}{one}\n"
        f"1\t{code}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n2\t{one}\t_\tX\t_\t_\t1\tdep\t_\t_\n\n"
        for one in ids
    )
    (folder / f"{code}_pud-ud-test.conllu").write_text("".join(sentences), encoding="utf-8")


@pytest.fixture
def pud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path / "data"))
    ids = [f"n{number}" for number in range(6)]
    treebank(tmp_path / "data", "English", "en", ids)
    treebank(tmp_path / "data", "French", "fr", [*reversed(ids), "n9"])
    treebank(tmp_path / "data", "German", "de", [one for one in ids if one not in ("n2", "n5")])
    return tmp_path / "data"


def real(folder: Path, *targets: str, **changes: Any) -> Plan:
    similarity = {"source": "UD_English-PUD", "targets": targets, "sentences": 5} | changes
    return compile_study(study(folder, similarity, surgeries=[None]))


def test_treebanks_are_aligned_by_the_names_of_sentences(encoder_folder, pud):
    (step,) = compared(real(encoder_folder, "UD_French-PUD"))
    assert step.texts.pairs == [("fr", "UD_English-PUD+UD_French-PUD")]
    english, french = step.texts.read()
    assert english == [f"enn{number}" for number in range(5)]
    assert french == [f"frn{number}" for number in range(5)]


def test_treebanks_that_are_not_parallel_are_refused_before_anything_is_computed(encoder_folder, pud):
    plan = real(encoder_folder, "UD_French-PUD", "UD_German-PUD")
    with pytest.raises(StudyError) as caught:
        check_data(plan.steps.values())
    (fault,) = caught.value.faults
    assert "UD_German-PUD lacks 1 of the 5 sentences of UD_English-PUD to compare, the first with sent_id 'n2'" in fault
    assert "sent_id where they say the same" in fault
    check_data(real(encoder_folder, "UD_German-PUD", sentences=4, source="UD_German-PUD", targets=["UD_French-PUD"])
               .steps.values())  # fmt: skip


def test_other_content_of_a_parallel_treebank_has_another_key(encoder_folder, pud):
    (before,) = compared(real(encoder_folder, "UD_French-PUD"))
    file = pud / "ud" / "UD_French-PUD" / "fr_pud-ud-test.conllu"
    file.write_text(file.read_text().replace("fr\t", "FR\t"))
    (after,) = compared(real(encoder_folder, "UD_French-PUD"))
    assert before.key != after.key


@pytest.fixture
def translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """English lines with translations; a French line is empty, and one English line comes twice."""
    folder = tmp_path / "data" / "ntrex"
    folder.mkdir(parents=True)
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path / "data"))
    lines = {
        "src.eng": ["One.", "Two.", "Three.", "Two.", "Five."],
        "ref.deu": ["Eins.", "Zwei.", "Drei.", "Zwo.", "Fünf."],
        "ref.fra": ["Un.", "Deux.", "", "Deux !", "Cinq."],
    }
    for name, text in lines.items():
        (folder / f"newstest2019-{name}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    return folder


def test_translations_are_compared_where_all_languages_have_them(encoder_folder, translated):
    (step,) = compared(real(encoder_folder, "ntrex:de", "ntrex:fr", source="ntrex:en"))
    assert step.texts.codes == ("en", "de", "fr")
    assert step.texts.pairs == [("de", "ntrex:de"), ("fr", "ntrex:fr")]
    assert step.texts.read() == [["One.", "Two.", "Five."], ["Eins.", "Zwei.", "Fünf."], ["Un.", "Deux.", "Cinq."]]
    (part,) = compared(real(encoder_folder, "ntrex:de:lines-2-5", source="ntrex:en", sentences=4))
    assert part.texts.read()[0] == ["Two.", "Three.", "Five."]


def test_translations_are_of_the_collection_of_their_source(encoder_folder, translated):
    with pytest.raises(StudyError, match="ntrex:de: it is no translation of flores:en; name targets flores:CODE"):
        real(encoder_folder, "ntrex:de", source="flores:en")
    apart = real(encoder_folder, "ntrex:de:lines-3-4", "ntrex:fr:lines-5-5", source="ntrex:en")
    with pytest.raises(StudyError, match="no sentence is in all of ntrex:de:lines-3-4, ntrex:fr:lines-5-5"):
        check_data(apart.steps.values())
