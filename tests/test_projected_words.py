"""Words of real text by layer, from declaration to page: against the world, where it is known what translates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from babelscope.core.errors import InputError, StudyError
from babelscope.core.row import Row
from babelscope.corpora.conllu import write_conllu
from babelscope.encoders.load import load_encoder
from babelscope.encoders.tap import word_states
from babelscope.engine.recall import recall
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.formulas.alignment import flat_links, similarity_links
from babelscope.measures.formulas.projection import translation_share
from babelscope.measures.projecting import Project, ProjectWords
from babelscope.measures.projection import Projection
from babelscope.measures.similarity import Similarity
from babelscope.report.declared import report_of
from babelscope.report.section import sections_of
from babelscope.steps.plan import Plan
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from command_line import declaration
from toy_runs import execute

SENTENCES, SHOWN = 12, 6
CODES = {"English": "qaa", "German": "qab"}
REAL = {"measure": "projection", "source": "UD_English-PUD", "targets": ["UD_German-PUD"]}
USUAL = {"sentences": SENTENCES, "pairs": SHOWN, "library": "scikit-learn"}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Two languages of the world as treebanks of real ones, and what translates what as a file."""
    folder = tmp_path_factory.mktemp("data")
    parallel = World().parallel(list(CODES.values()), SENTENCES)
    for language, code in CODES.items():
        treebank = folder / "ud" / f"UD_{language}-PUD"
        treebank.mkdir(parents=True)
        write_conllu(treebank / "x_pud-ud-test.conllu", (one.sentences[code] for one in parallel))
    lines = [" ".join(f"{i}-{j}" for i, j in one.alignment("qaa", "qab")) for one in parallel]
    (folder / "gold.align").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def in_the_data_folder(data, monkeypatch) -> None:
    monkeypatch.setenv("BABELSCOPE_DATA", str(data))


def study(encoder: Path, *measures: dict[str, Any]) -> Study:
    changes = {"surgeries": [None], "seeds": [0], "tasks": {}, "retrieval": None, "measures": list(measures)}
    return Study.model_validate(declaration(encoder, **changes))


@pytest.fixture(scope="module")
def ran(data, encoder_folder, tmp_path_factory) -> tuple[Study, Plan, Store]:
    """The world's own words, and the same as real ones aligned in all three ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BABELSCOPE_DATA", str(data))
        declared = study(
            encoder_folder,
            {"measure": "projection", "source": "qaa", "targets": ["qab"]} | USUAL,
            REAL | USUAL | {"alignments": [str(data / "gold.align")]},
            REAL | USUAL | {"aligner": str(encoder_folder), "aligner_layer": 1},
            REAL | USUAL,
        )
        plan, store = compile_study(declared), Store(tmp_path_factory.mktemp("store"))
        store.prepare()
        for step in plan.steps.values():
            execute(step, store)
        return declared, plan, store


def rows_of(ran: tuple[Study, Plan, Store], aligned_by: str) -> list[Row]:
    _, plan, store = ran
    step = next(step for step in plan.steps.values() if isinstance(step, ProjectWords) and aligned_by in step.dataset)
    assert recall(store, step.key) == step
    return store.rows(step.key)


def shares(rows: list[Row]) -> list[float]:
    return [row.value for row in rows if row.measure == "translation share"]


def test_words_aligned_by_a_file_are_measured_as_those_of_the_world(ran):
    _, plan, store = ran
    world = next(step for step in plan.steps.values() if isinstance(step, Project))
    assert shares(store.rows(world.key)) == shares(rows_of(ran, "gold.align"))
    assert len(shares(rows_of(ran, "Markov"))) == 3


def test_rows_say_what_was_aligned_by_what_with_intervals(ran):
    file, name = aligned_by(ran)
    for by in (file, f"layer 1 of {name}", "hidden Markov models"):
        rows = rows_of(ran, by)
        assert {row.dataset for row in rows} == {f"UD_English-PUD+UD_German-PUD, aligned by {by}"}
        places = [row for row in rows if row.word is not None]
        assert len(places) == 2 * 2 * SHOWN * 3 and {row.language for row in places} == {"en", "de"}
        for row in rows:
            assert row.word is not None or row.language == "de"
            assert row.low is None or row.low <= row.value <= (row.high or 0)
    assert any(row.low is not None for row in rows_of(ran, "layer 1"))


def aligned_by(ran: tuple[Study, Plan, Store]) -> tuple[str, str]:
    """The file of alignments as it was given, and the encoder as rows name it."""
    step = next(step for step in ran[1].steps.values() if isinstance(step, Project))
    return ran[0].model_dump()["measures"][1]["alignments"][0], step.encoder.labels["encoder"]


def test_a_layer_aligns_the_words_that_all_layers_are_then_asked_for(ran, encoder_folder):
    parallel = World().parallel(["qaa", "qab"], SENTENCES)
    sentences = [(one.sentences["qaa"].forms, one.sentences["qab"].forms) for one in parallel]
    encoder = load_encoder(str(encoder_folder))
    first, second = (word_states(encoder, side) for side in zip(*sentences, strict=True))
    pairs = flat_links(similarity_links(first, second, 1, sentences), sentences)
    assert shares(rows_of(ran, "layer 1")) == pytest.approx(translation_share(first, second, pairs).tolist())


def test_the_page_says_what_aligned_the_words_and_whom_that_favours(ran):
    declared, plan, store = ran
    file, name = aligned_by(ran)
    rows = [row.labelled(kind="projection", key=key) for key in plan.steps for row in store.rows(key)]
    (section,) = [one for one in sections_of(report_of(declared, rows)) if one.title == "Words by layer"]
    titles = [figure.title for figure in section.figures]
    planes = [title for title in titles if title.startswith("Words in the plane")]
    assert len(planes) == 4 and sum(f"aligned by layer 1 of {name}" in title for title in planes) == 1
    (figure,) = [one for one in section.figures if one.title == f"Words nearest to a translation, {name}"]
    assert "it is favoured, and so are those beside it" in figure.caption
    world, real = section.tables
    assert len(world.lines) == 1 and len(real.lines) == 3 * 3
    assert {line[2].text for line in real.lines} == {file, f"layer 1 of {name}", "hidden Markov models"}
    lows = [row.low for row in rows if row.measure == "translation share" and row.low is not None]
    assert [line[5].number for line in real.lines if line[5].number is not None] == pytest.approx(100 * np.array(lows))


def test_the_worlds_languages_may_be_named_as_data(encoder_folder):
    named = [
        {"measure": "projection", "source": f"{prefix}qaa", "targets": [f"{prefix}qab"]} for prefix in ("", "world:")
    ]
    first, second = (list(compile_study(study(encoder_folder, one)).steps) for one in named)
    assert first == second


# What cannot be measured is said when it is planned.


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"targets": ["qab"]}, "measures.0.targets: UD_English-PUD, qab: words of the world are parallel to its own"),
        ({"source": "qaa", "targets": ["qab"], "aligner": "tiny"}, "measures.0: alignments and aligner are for real"),
        ({"source": "qzz", "targets": ["qab"]}, "measures.0.source: the world has no language 'qzz'"),
        ({"aligner": "other", "aligner_layer": 1}, "measures.0.aligner: no encoder is named other; there are"),
        ({"aligner": "tiny"}, "measures.0.aligner: a similarity of states is of one layer: give aligner_layer"),
        ({"aligner_layer": 1}, "measures.0.aligner: aligner_layer=1 is of an encoder that aligns"),
        ({"aligner": "tiny", "alignments": ["f"]}, "measures.0.aligner: aligner and alignments are given"),
        ({"alignments": ["f", "g"]}, "measures.0.alignments: 2 files for 1 targets"),
        ({"alignments": ["none.align"]}, "measures.0.alignments.0: none.align: cannot be read"),
        ({"targets": ["UD_Elvish-PUD"]}, "measures.0.targets.0: UD_Elvish-PUD: no language is named 'Elvish'"),
        ({"targets": ["UD_English-PUD"]}, "measures.0.targets.0: UD_English-PUD and UD_English-PUD are both en"),
    ],
)
def test_faults_are_found_before_anything_is_computed(encoder_folder, changes, fault):
    with pytest.raises(StudyError) as caught:
        compile_study(study(encoder_folder, REAL | changes))
    assert caught.value.faults[0].startswith(fault)


def test_an_aligner_has_the_layer(encoder_folder):
    with pytest.raises(StudyError, match=r"measures\.0\.aligner: aligner_layer=3, but .*tiny has 2 layers"):
        compile_study(study(encoder_folder, REAL | {"aligner": str(encoder_folder), "aligner_layer": 3}))


def test_treebanks_that_are_not_parallel(encoder_folder, data, tmp_path, monkeypatch):
    for language, start in (("English", 0), ("German", 1)):
        treebank = tmp_path / "ud" / f"UD_{language}-PUD"
        treebank.mkdir(parents=True)
        parallel = World().parallel(list(CODES.values()), SENTENCES)
        write_conllu(treebank / "x-ud-test.conllu", [one.sentences[CODES[language]] for one in parallel][start:])
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    with pytest.raises(StudyError) as caught:
        compile_study(study(encoder_folder, REAL))
    assert (
        "UD_German-PUD lacks 1 of the 12 sentences of UD_English-PUD to compare, the first with"
        in caught.value.faults[0]
    )


def test_too_few_words_for_a_picture(encoder_folder, data, tmp_path):
    (tmp_path / "one.align").write_text("0-0\n" + "\n" * (SENTENCES - 1), encoding="utf-8")
    plan = compile_study(study(encoder_folder, REAL | USUAL | {"alignments": [str(tmp_path / "one.align")]}))
    (step,) = (step for step in plan.steps.values() if isinstance(step, ProjectWords))
    with pytest.raises(InputError, match=r"one\.align: 1 aligned words in 12 sentence pairs; a picture needs 2"):
        step.execute(FinishedSteps(Store(tmp_path / "store")))


def test_the_profiles_on_real_data_freeze_and_draw_as_published():
    paper, real = (find_study(f"alignment-by-layer@{profile}", {}) for profile in ("paper", "real"))
    frozen = [(schedule.freeze, schedule.frozen_dropout) for schedule in paper.schedules if schedule]
    assert frozen == [(-1, False), *((n, True) for n in range(12)), (8, False)]
    for declared in (paper, real):
        (words,) = (measure for measure in declared.measures if isinstance(measure, Projection))
        assert words.source == "UD_English-PUD" and words.targets[0] == "UD_Chinese-PUD" and words.aligner is None
        (sentences,) = (measure for measure in declared.measures if isinstance(measure, Similarity))
        assert sentences.measures == ("retrieval",)
    small = find_study("alignment-by-layer@paper", {"scale": "small", "layers": "6"})
    assert [schedule.name for schedule in small.schedules if schedule][-2:] == ["freeze:5,frozen_dropout", "freeze:4"]
    assert {measure.model_dump()["sentences"] for measure in small.measures} == {100}
