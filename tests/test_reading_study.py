"""A study, the command line and Python on an encoder's folder with a language that has a tokenizer of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

import babelscope as bs
from babelscope.core.errors import InputError, StudyError
from babelscope.core.row import Row
from babelscope.corpora.conllu import read_conllu, write_conllu
from babelscope.corpora.datasets import find
from babelscope.encoders.load import load_encoder, save_encoder
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.measures.retrieval import Retrieve
from babelscope.measures.similarity import SentenceSimilarity
from babelscope.steps import Evaluate, Tune
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from command_line import babelscope, declaration, transfer
from test_reading import bilingual, plain  # noqa: F401

pytestmark = pytest.mark.usefixtures("in_process")

QUICK = {"learning_rate": 3e-3, "steps": 12}
MEASURES = [
    {"measure": "retrieval", "source": "qaa", "targets": ["qab"], "sentences": 10},
    {"measure": "similarity", "source": "world:qaa", "targets": ["world:qab"], "sentences": 10, "tuned": ["pos"]},
]


class Ran(NamedTuple):
    """A study that has run."""

    store: Store
    plan: Plan

    def rows(self, kind: type, encoder: str) -> list[Row]:
        """Of all steps of a kind that are about an encoder, by its folder's name."""
        steps = [key for key, step in self.plan.steps.items() if isinstance(step, kind)]
        rows = [row for key in steps for row in self.store.rows(key)]
        return [row for row in rows if row.encoder.endswith(encoder)]


@pytest.fixture(scope="module")
def folder(bilingual, plain, tmp_path_factory) -> Path:  # noqa: F811
    """Encoders that differ by the tokenizers of languages alone."""
    folder = tmp_path_factory.mktemp("encoders")
    save_encoder(bilingual, folder / "own")
    save_encoder(replace(bilingual, languages={}), folder / "alike")
    return folder


@pytest.fixture(scope="module")
def ran(folder, tmp_path_factory) -> Ran:
    task = transfer(train=["world:qaa"], evaluate=["world:qaa", "world:qab", "world:qab>world"], tuning=QUICK)
    declared = declaration(
        folder / "own",
        encoders=[str(folder / name) for name in ("own", "alike")],
        seeds=[0],
        surgeries=[None],
        tasks={"pos": task | {"baselines": []}},
        measures=MEASURES,
    )
    plan = compile_study(Study.model_validate({key: value for key, value in declared.items() if key != "retrieval"}))
    store = Store(tmp_path_factory.mktemp("store") / "store")
    assert not run_plan(plan, store).failed
    return Ran(store, plan)


def values(rows: list[Row], **wanted: object) -> list[float]:
    return [row.value for row in rows if all(getattr(row, name) == value for name, value in wanted.items())]


def test_a_study_reads_a_language_with_its_own_tokenizer_and_all_else_as_ever(ran):
    for kind, own_languages in ((Evaluate, {"qab"}), (Retrieve, {"qab"}), (SentenceSimilarity, {"qab"})):
        own, alike = (ran.rows(kind, name) for name in ("own", "alike"))
        languages = {row.language for row in own}
        assert own_languages <= languages
        for language in languages:
            found, plainly = (values(rows, language=language) for rows in (own, alike))
            assert found and (found != plainly) == (language in own_languages), (kind, language)
    assert {row.language for row in ran.rows(Evaluate, "own")} == {"qaa", "qab", "qab>world"}


def test_mixed_batches_of_two_tokenizers_are_refused(folder, store):
    tuned = bs.load(folder / "own", store=store)
    quick = {"learning_rate": 3e-3, "steps": 3}
    with pytest.raises(StudyError, match=r"training on qaa, qab: .*(.|\n)*`batches: one-language`"):
        tuned.tune("pos", ["world:qaa", "world:qab"], sizes={"train": 20, "dev": 5}, tuning=quick)
    apart = quick | {"batches": "one-language"}
    assert tuned.tune("pos", ["world:qaa", "world:qab"], sizes={"train": 20, "dev": 5}, tuning=apart).rows()


@pytest.fixture
def gold(tmp_path) -> Path:
    write_conllu(tmp_path / "gold.conllu", find("pos", "world:qab", "test", 12).read())
    return tmp_path / "gold.conllu"


def test_predictions_in_a_language_by_key_and_by_folder(ran, gold, tmp_path):
    step = next(
        step for step in ran.plan.steps.values()
        if isinstance(step, Tune) and step.labels["encoder"].endswith("own")
    )  # fmt: skip
    exported = babelscope("export", step.key, "-o", tmp_path / "model", "--store", ran.store.folder)
    assert exported.status == 0, exported.errors
    accuracy = {}
    for source in (step.key, tmp_path / "model"):
        for language in ("", "qab"):
            output = tmp_path / f"{Path(source).name}{language}.conllu"
            chosen = ("--language", language) if language else ()
            answer = babelscope("predict", source, gold, "-o", output, "--store", ran.store.folder, *chosen)
            assert answer.status == 0, answer.errors
            pairs = [
                one.upos == two.upos
                for sentences in zip(read_conllu(gold), read_conllu(output), strict=True)
                for one, two in zip(*(sentence.words for sentence in sentences), strict=True)
            ]
            accuracy[source, language] = sum(pairs) / len(pairs)
    sources = (step.key, tmp_path / "model")
    from_key, from_folder = ([accuracy[source, language] for language in ("", "qab")] for source in sources)
    assert from_key == from_folder and from_key[0] != from_key[1]
    refused = babelscope("predict", tmp_path / "model", gold, "-o", tmp_path / "no", "--language", "qac")
    assert refused.status == 2 and "qac has no tokenizer of its own in this model; qab, qah have" in refused.errors


def test_a_model_without_own_tokenizers_reads_any_language(ran, gold, tmp_path):
    step = next(
        step for step in ran.plan.steps.values() if isinstance(step, Tune) and step.labels["encoder"].endswith("alike")
    )
    for name, chosen in (("one", ()), ("two", ("--language", "qab"))):
        output = tmp_path / f"{name}.conllu"
        assert babelscope("predict", step.key, gold, "-o", output, "--store", ran.store.folder, *chosen).status == 0
    assert (tmp_path / "one.conllu").read_text() == (tmp_path / "two.conllu").read_text()


def test_python_reads_as_the_study_does(ran, folder, store):
    encoder = bs.load(folder / "own", store=store)
    assert (
        encoder.build(language="qab").tokenizer.get_vocab() == load_encoder(folder / "own").languages["qab"].get_vocab()
    )
    parallel = World().parallel(["qaa", "qab"], 10)
    first, second = ([" ".join(one.sentences[code].forms) for one in parallel] for code in ("qaa", "qab"))
    found = bs.similarity(encoder, first, second, languages=(None, "qab")).tolist()
    rows = [row for row in ran.rows(SentenceSimilarity, "own") if row.task is None]
    assert found == values(rows, measure="linear CKA (debiased)", language="qab")
    assert bs.similarity(encoder, first, second).tolist() != found
    tuned = encoder.tune("pos", "world:qaa", sizes={"train": 20, "dev": 5}, tuning={"steps": 2})
    assert bs.similarity(tuned, first, second, languages=(None, "qab")).tolist() != found
    assert tuned.build(language="qab").tokenizer.get_vocab() != tuned.build().tokenizer.get_vocab()
    for call in (encoder.build, tuned.build):
        with pytest.raises(InputError, match="qac has no tokenizer of its own in this model; qab, qah have"):
            call(language="qac")
