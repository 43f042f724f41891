"""Trainings on languages that are read with different tokenizers: what goes where, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from babelscope.core.errors import StepError
from babelscope.core.row import Row
from babelscope.core.step import Step
from babelscope.corpora.datasets import find
from babelscope.corpora.parallel import WorldPairs
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.load import save_encoder, with_mlm_head
from babelscope.encoders.places import locate
from babelscope.encoders.state import weights_of, word_embeddings_name
from babelscope.encoders.vocabulary import foreign_pieces
from babelscope.engine.events import Failed
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.steps import Adapt, Evaluate, Load, Tune
from babelscope.tasks.measured import measured
from babelscope.tasks.mlm import MaskedLanguageModelling
from babelscope.tasks.models import InLanguage, training_task
from babelscope.tasks.quirky import QuirkyHeldOut, with_quirks
from babelscope.tuning.language import learn_language
from babelscope.tuning.settings import Tuning
from test_reading import bilingual, examples, made, plain  # noqa: F401
from toy_runs import execute

TASKS = [("pos", {}), ("parsing", {}), ("acceptability", {}), ("mlm", {})]
tasks = pytest.mark.parametrize(("task", "choices"), TASKS)
ONE_LANGUAGE = Tuning(epochs=1, tokens_per_batch=256, batches="one-language")


def in_languages(task: str, *languages: str) -> list[InLanguage]:
    return [InLanguage(language, examples(task, language)) for language in languages]


@tasks
def test_each_language_is_trained_on_as_its_own_tokenizer_reads_it(task, choices, bilingual):  # noqa: F811
    model = made(bilingual, task, **choices)
    parts = in_languages(task, "qaa", "qab", "qac")
    together = training_task(model, parts, {})
    alone = [made(bilingual.reading(language), task, **choices).training(given, {}) for language, given in parts]
    assert together.lengths.tolist() == np.concatenate([part.lengths for part in alone]).tolist()
    plainly = [made(bilingual, task, **choices).training(given, {}).lengths.tolist() for _, given in parts]
    assert alone[1].lengths.tolist() != plainly[1] and alone[2].lengths.tolist() == plainly[2]
    first = len(alone[0].lengths)
    batch = together.batch(np.arange(first, first + 5), torch.Generator().manual_seed(0))
    expected = alone[1].batch(np.arange(5), torch.Generator().manual_seed(0))
    assert torch.equal(together.loss(model.module, batch), alone[1].loss(model.module, expected))


@tasks
def test_each_dev_set_is_read_with_its_own_tokenizer(task, choices, bilingual):  # noqa: F811
    model = made(bilingual, task, **choices)
    main = "perplexity" if task == "mlm" else model.design.task.measures[0]
    dev = dict(zip("abcd", in_languages(task, "qab", "qah", "qaa", "qac"), strict=True))
    task_of = training_task(model, in_languages(task, "qaa", "qab"), dev)
    assert len(task_of.parts) == 2 and len(task_of.only_validated) == 1
    expected = {name: measured(model.reading(given.language), given.examples)() for name, given in dev.items()}
    found = task_of.evaluate(model.module)
    assert found == pytest.approx({name: values[main] for name, values in expected.items()}, rel=1e-12)
    others = {name: measured(model, given.examples)() for name, given in dev.items()}
    assert [name for name in dev if others[name]["loss"] != expected[name]["loss"]] == ["a", "b"]


def test_without_own_tokenizers_all_dev_sets_go_with_the_first_part(plain):  # noqa: F811
    model = made(plain, "pos")
    dev = dict(zip("ab", in_languages("pos", "qab", "qaa"), strict=True))
    task = training_task(model, in_languages("pos", "qaa", "qab"), dev)
    assert list(task.parts[0].dev) == ["a", "b"] and not task.parts[1].dev and not task.only_validated


def test_quirks_are_of_all_dev_sets(bilingual):  # noqa: F811
    dev = dict(zip("ab", in_languages("mlm", "qaa", "qah"), strict=True))
    task = with_quirks(training_task(made(bilingual, "mlm"), in_languages("mlm", "qaa"), dev), {"two-batches"})
    parts = [*task.parts, *task.only_validated]
    assert len(parts) == 2 and all(isinstance(part, MaskedLanguageModelling) for part in parts)
    assert [type(held_out) for part in parts for held_out in part.dev.values()] == [QuirkyHeldOut] * 2


@pytest.fixture(scope="module")
def step(bilingual, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("encoders") / "bilingual"
    save_encoder(bilingual, folder)
    place = locate(str(folder))
    return Load(name=place.name, content=place.content, place=place.path)


def tune(step: Load, train: list[str], dev: list[str], tuning: Tuning = ONE_LANGUAGE) -> Tune:
    return Tune(
        encoder=step, task="pos", tuning=tuning, seed=0,
        train=tuple(find("pos", f"world:{name}", "train", 40) for name in train),
        dev=tuple(find("pos", f"world:{name}", "dev", 20) for name in dev),
    )  # fmt: skip


def computed(step: Step, store: Store) -> list[Row]:
    """The rows of a step.

    Raises:
        StepError: it failed.
    """
    store.prepare()
    event = execute(step, store)
    if isinstance(event, Failed):
        raise StepError(event.message)
    return store.rows(step.key)


def test_a_training_is_evaluated_with_each_languages_tokenizer(step, store):
    trained = tune(step, ["qaa", "qab"], ["qab", "qaa", "qah"])
    curve = computed(trained, store)
    validated = [row.dataset for row in curve if row.split == "dev"]
    assert sorted(validated) == ["world:qaa", "world:qab", "world:qah"]
    model = trained.model(FinishedSteps(store))
    for name, reader in (("qaa", "qaa"), ("qab", "qab"), ("qah", "qah"), ("qah>world", "qaa")):
        data = find("pos", f"world:{name}", "test", 30)
        rows = {row.measure: row.value for row in computed(Evaluate(model=trained, data=data), store)}
        assert rows == {score.measure: score.value for score in model.reading(reader).scores(data.read())}
        others = {score.measure: score.value for score in model.scores(data.read())}
        assert (rows != others) == (name in ("qab", "qah"))


def test_the_languages_of_a_folder_are_those_that_it_is_loaded_with(step):
    (Path(step.place) / "languages" / ".DS_Store").touch()
    assert step.brought_in == ("qab", "qah") == tuple(step.read().languages)


def test_batches_of_several_tokenizers_are_refused_before_training(step, store):
    mixed = Tuning(epochs=1)
    problem = r"training on qaa, qab: .*bilingual reads qab with a tokenizer of its own(.|\n)*`batches: one-language`"
    with pytest.raises(StepError, match=problem):
        computed(tune(step, ["qaa", "qab"], ["qaa"], mixed), store)
    for train in (["qaa", "qac"], ["qab"], ["qaa", "qah>world"]):
        assert computed(tune(step, train, ["qab"], mixed), store)


def adapt(step: Load, *codes: str, **changes: Any) -> Adapt:
    """Continued pre-training on text of the world in languages, such as `qab` or `qah>world`."""
    parts = (code.partition(">") for code in codes)
    texts = tuple(WorldText(language=code, sentences=30, letters=letters or None) for code, _, letters in parts)
    tuning = Tuning(steps=4, tokens_per_batch=256, learning_rate=1e-2, weight_decay=0.5)
    return Adapt(name="adapted", encoder=step, texts=texts, masking=0.3, tuning=tuning, seed=0, **changes)


def test_an_adaptation_trains_the_pieces_of_the_language_it_reads(step, store):
    before = step.read()
    table, own = weights_of(before)[word_embeddings_name(before)], foreign_pieces(before)
    read = torch.zeros(len(table), dtype=torch.bool)
    for ids in before.reading("qab").tokenizer(WorldText(language="qab", sentences=30).read())["input_ids"]:
        read[ids] = True
    for codes, changed in ((["qab"], True), (["qah"], False), (["qaa", "qac"], False), (["qah>world"], False)):
        adapted = adapt(step, *codes)
        computed(adapted, store)
        after = adapted.build(FinishedSteps(store))
        assert list(after.languages) == ["qab", "qah"]
        moved = (weights_of(after)[word_embeddings_name(after)] != table).any(dim=1)
        assert bool(moved[read & own].all()) == changed
        foreign = foreign_pieces(before.reading(codes[0]))
        assert not moved[foreign].any() and moved[~foreign].all()  # weight decay moves all that is trained


def test_an_adaptation_reads_each_language_with_its_own_tokenizer(step, store):
    """Batches are of one language, whose pieces alone are answers; what none of the languages has stays as it is."""
    before = step.read()
    table = weights_of(before)[word_embeddings_name(before)]
    for codes in (["qaa", "qab"], ["qab", "qac", "qah"]):
        adapted = adapt(step, *codes)
        computed(adapted, store)
        after = adapted.build(FinishedSteps(store))
        moved = (weights_of(after)[word_embeddings_name(after)] != table).any(dim=1)
        read = torch.stack([~foreign_pieces(before.reading(code)) for code in codes]).any(dim=0)
        assert torch.equal(moved, read)


def test_batches_of_an_adaptation_are_of_one_language(step, tmp_path, monkeypatch):
    encoder, batches = with_mlm_head(step.read(), 0), []
    monkeypatch.setattr("babelscope.tuning.language.tune", lambda model, task, *rest: batches.append(task))
    texts = {code: WorldText(language=code, sentences=30).read() for code in ("qaa", "qab")}
    learn_language(encoder, texts, tmp_path, tuning=Tuning(epochs=1))
    (task,) = batches
    assert [len(part.sentences) for part in task.parts] == [30, 30]
    for part, code in zip(task.parts, texts, strict=True):
        assert part.tokenizer.get_vocab() == encoder.reading(code).tokenizer.get_vocab()
        assert torch.equal(part.foreign, foreign_pieces(encoder.reading(code)))


def test_an_adaptation_on_pairs_is_refused_where_languages_have_tokenizers_of_their_own(step, store):
    pairs = adapt(step, "qaa", parallel=(WorldPairs(languages=("qaa", "qac"), sentences=5),))
    problem = r"adapted: pairs of sentences, but .*bilingual reads qab, qah each with a tokenizer"
    with pytest.raises(StepError, match=problem):
        computed(pairs, store)
    with pytest.raises(StepError, match=r"new_pieces=5: .*vocabularies of their own \(qab, qah\)"):
        computed(adapt(step, "qab", new_pieces=5), store)
