"""Similarity of parallel sentences: the measures, and the rows of untuned and tuned encoders."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest
import torch

from babelscope.core.errors import EncoderError, InputError, StudyError
from babelscope.core.row import Row
from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.encoders.pieces import encode_sentences
from babelscope.encoders.tap import sentence_states
from babelscope.engine.recall import recall
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.formulas.states import LanguageStates
from babelscope.measures.retrieval import mutual_retrieval, retrieval_accuracy
from babelscope.measures.similarities import SIMILARITIES
from babelscope.measures.similarity import USUAL
from babelscope.report.model import Report
from babelscope.report.sections.alignment.tables import aligned_tables
from babelscope.steps import Operate, Tune
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.world import World
from families import DECODERS, byte_level_tokenizer, family_model
from grams import cka_by_grams, gaussian_gram, hsic_by_centring, hsic_by_quadruples, linear_gram
from similarity_study import compared, study

pytestmark = pytest.mark.usefixtures("in_process")

WORLD = {"source": "world:qaa", "targets": ["world:qab", "world:qac"], "sentences": 12}


def direct(measure: str, x: torch.Tensor, y: torch.Tensor) -> list[float]:
    """Layer by layer: CKA by full Gram matrices, retrieval as the measure of that name."""
    layers = list(zip(x, y, strict=True))
    if "CKA" not in measure:
        retrieval = retrieval_accuracy if measure == "retrieval" else mutual_retrieval
        return [float(retrieval(*layer)) for layer in layers]
    gram = linear_gram if measure.startswith("linear") else gaussian_gram
    hsic = hsic_by_quadruples if "debiased" in measure else hsic_by_centring
    return [cka_by_grams(*(gram(side.double().numpy()) for side in layer), hsic) for layer in layers]


@pytest.mark.parametrize("measure", USUAL)
def test_like_layers_are_compared_as_the_measures_do(measure):
    chance = torch.Generator().manual_seed(0)
    x, y = (torch.randn(3, 9, 6, generator=chance) + 5 for _ in range(2))
    found = SIMILARITIES[measure](LanguageStates("x", x), LanguageStates("y", x + 0.5 * y))
    assert found.tolist() == pytest.approx(direct(measure, x, x + 0.5 * y), abs=1e-9)


def test_the_published_cka_is_a_mean_over_overlapping_quarters():
    chance = torch.Generator().manual_seed(0)
    x, y = (torch.randn(3, 42, 6, generator=chance) + 5 for _ in range(2))
    slow = [direct("RBF CKA (biased)", x[:, i : i + 10], (x + y)[:, i : i + 10]) for i in range(4)]
    found = SIMILARITIES["RBF CKA (overlapping quarters)"](LanguageStates("x", x), LanguageStates("y", x + y))
    assert found.tolist() == pytest.approx([fmean(layer) for layer in zip(*slow, strict=True)], abs=1e-9)
    with pytest.raises(InputError, match="CKA needs at least 3 samples"):
        SIMILARITIES["RBF CKA (overlapping quarters)"](*(LanguageStates("x", side[:, :11]) for side in (x, y)))


def test_states_that_do_not_vary_are_refused():
    same, other = torch.ones(2, 9, 4), torch.randn(2, 9, 4)
    for measure in USUAL[:4]:
        with pytest.raises(InputError, match="layer 0 of qab"):
            SIMILARITIES[measure](LanguageStates("the source", other), LanguageStates("qab", same))


def test_pooling_chooses_the_pieces(encoder: Encoder):
    texts = ["the cat sees the dog .", "кот", "the small old green bird likes the tree ."]
    for pooling, chosen in (("mean-with-special", slice(None)), ("first", slice(0, 1))):
        together = sentence_states(encoder, texts, pooling=pooling)
        for number, text in enumerate(texts):
            ids = torch.tensor([encoder.tokenizer(text)["input_ids"]])
            states = encoder.backbone(input_ids=ids, output_hidden_states=True).hidden_states
            alone = torch.stack([layer[0, chosen].mean(dim=0) for layer in states])
            torch.testing.assert_close(together[:, number], alone, atol=1e-5, rtol=1e-5)


def test_special_pieces_are_read_twice_and_count_once(encoder: Encoder):
    texts = ["the cat sees the dog .", "кот"]
    together = sentence_states(encoder, texts, pooling="mean-with-special-twice")
    for number, text in enumerate(texts):
        ids = encoder.tokenizer(f"{encoder.tokenizer.cls_token} {text} {encoder.tokenizer.sep_token}")["input_ids"]
        assert ids[:2] == [encoder.tokenizer.cls_token_id] * 2
        states = encoder.backbone(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
        alone = torch.stack([layer[0, 1:-1].mean(dim=0) for layer in states])
        torch.testing.assert_close(together[:, number], alone, atol=1e-5, rtol=1e-5)


def test_pieces_count_on_through_the_parts_of_a_long_sentence(encoder: Encoder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(encoder.tokenizer, "model_max_length", 6)
    texts = ["the small old green bird likes the tree .", "the cat ."]
    parts, owners = encode_sentences(encoder.tokenizer, texts, encoder.max_length)
    assert len(parts) > len(texts)
    together = sentence_states(encoder, texts, pooling="weighted")
    sums, counts = [0.0, 0.0], [0, 0]
    for ids, owner in zip(parts, owners, strict=True):
        states = torch.stack(encoder.backbone(torch.tensor(ids[None]), output_hidden_states=True).hidden_states)[:, 0]
        for state in states[:, 1:-1].unbind(dim=1):
            counts[owner] += 1
            sums[owner] = sums[owner] + counts[owner] * state
    for number, count in enumerate(counts):
        alone = sums[number] / (count * (count + 1) / 2)
        torch.testing.assert_close(together[:, number], alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("decoder", DECODERS)
def test_later_pieces_of_a_decoder_count_more(decoder, sentences):
    tokenizer = byte_level_tokenizer(sentences, 300)
    model = Encoder(family_model(decoder, vocabulary=len(tokenizer)), tokenizer, decoder)
    texts = ["the cat sees the dog .", "the", "the small old green bird likes the tree ."]
    together = sentence_states(model, texts, pooling="weighted")
    for number, text in enumerate(texts):
        ids = model.tokenizer(text)["input_ids"]
        states = model.backbone(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
        repeated = [place for place in range(len(ids)) for _ in range(place + 1)]
        alone = torch.stack([layer[0, repeated].mean(dim=0) for layer in states])
        torch.testing.assert_close(together[:, number], alone, atol=1e-5, rtol=1e-5)


def test_a_first_piece_has_to_be_special(encoder: Encoder, monkeypatch: pytest.MonkeyPatch):
    from babelscope.encoders import tap

    monkeypatch.setattr(tap.Frame, "of", lambda _: tap.Frame((), (3,)))
    with pytest.raises(EncoderError, match="no special piece"):
        sentence_states(encoder, ["the cat"], pooling="first")


# The steps.


@pytest.fixture(scope="module")
def ran(encoder_folder, tmp_path_factory) -> tuple[Plan, Store]:
    first = WORLD | {"pooling": "first", "measures": ["linear CKA (debiased)"]}
    studies = study(encoder_folder, WORLD | {"tuned": ["pos"]}), study(encoder_folder, first)
    plan = Plan.of(step for one in studies for step in compile_study(one).steps.values())
    store = Store(tmp_path_factory.mktemp("similarity") / "store")
    assert not run_plan(plan, store, jobs=1).failed
    return plan, store


def test_one_step_compares_all_targets_of_a_model(ran):
    steps = compared(ran[0])
    assert len([step for step in steps if isinstance(step.model, Tune)]) == 4
    # As it is the encoder is the same for both seeds; with a layer reinitialised it is not.
    assert len([step for step in steps if not isinstance(step.model, Tune)]) == 1 + 2


def test_rows_equal_the_measures_on_states(ran):
    plan, store = ran
    parallel = World(0).parallel(["qaa", "qab", "qac"], 12)
    for step in compared(plan):
        results = FinishedSteps(store)
        encoder = step.model.tuned_encoder(results) if isinstance(step.model, Tune) else step.model.build(results)
        states = {
            code: sentence_states(encoder, [" ".join(one.sentences[code].forms) for one in parallel])
            for code in ("qaa", "qab", "qac")
        }
        rows = store.rows(step.key)
        for measure in USUAL:
            for code in ("qab", "qac"):
                found = {row.layer: row.value for row in rows if (row.measure, row.language) == (measure, code)}
                assert list(found.values()) == pytest.approx(direct(measure, states["qaa"], states[code]), abs=1e-6)
                assert list(found) == [0, 1, 2]


def test_a_decoder_is_measured_as_mexa_does(sentences, tmp_path):
    """By layer; the report has the mean and the maximum of the layers, which are MEXA's two scores."""
    tokenizer = byte_level_tokenizer(sentences, 300)
    decoder = Encoder(family_model("gpt2", vocabulary=len(tokenizer), n_positions=200), tokenizer, "decoder")
    save_encoder(decoder, tmp_path / "decoder")
    declared = WORLD | {"pooling": "weighted", "measures": ["mutual retrieval"], "targets": ["world:qab"]}
    plan = compile_study(study(tmp_path / "decoder", declared, surgeries=[None]))
    store = Store(tmp_path / "store")
    assert not run_plan(plan, store, jobs=1).failed
    (step,) = compared(plan, "weighted")
    parallel = World(0).parallel(["qaa", "qab"], 12)
    found = [row.value for row in store.rows(step.key)]
    states = [
        sentence_states(decoder, [" ".join(one.sentences[code].forms) for one in parallel], pooling="weighted")
        for code in ("qaa", "qab")
    ]
    assert found == pytest.approx(direct("mutual retrieval", *states))
    rows = [row.labelled(kind=step.kind_of(row)) for row in store.rows(step.key)]
    (table, *_) = aligned_tables(Report("title", "question", rows), [])
    assert [cell.text for cell in table.lines[0]][5:9:2] == [f"{max(found):.3f}", f"{fmean(found):.3f}"]


def test_tuning_changes_what_is_measured(ran):
    plan, store = ran
    means = {
        sum(row.value for row in store.rows(step.key) if row.measure == "linear CKA (biased)")
        for step in compared(plan)
    }
    assert len(means) == len(compared(plan))


def test_rows_have_the_tunings_labels_where_there_is_one(ran):
    plan, store = ran
    for step in compared(plan):
        row: Row = store.rows(step.key)[0]
        tuned = isinstance(step.model, Tune)
        surgery = step.model.labels.get("surgery")
        assert (row.task, row.train_languages) == (("pos", "qaa") if tuned else (None, None))
        assert (row.seed is not None) == (tuned or isinstance(step.model, Operate)) and row.surgery == surgery
        assert (row.dataset, row.split, row.step) == ("world:qaa-qab", None, None)


def test_first_pieces_have_no_embeddings_to_compare(ran):
    plan, store = ran
    for step in compared(plan, "first"):
        assert [row.layer for row in store.rows(step.key) if row.language == "qab"] == [1, 2]


def test_the_steps_can_be_recalled(ran):
    plan, store = ran
    assert all(recall(store, step.key) == step for step in compared(plan))


def test_the_tuned_encoder_is_the_one_inside_the_task_model(ran):
    plan, store = ran
    step = next(step for step in plan.steps.values() if isinstance(step, Tune))
    encoder, model = step.tuned_encoder(FinishedSteps(store)), step.model(FinishedSteps(store))
    for name, weight in model.module.backbone.named_parameters():
        assert torch.equal(weight, encoder.backbone.get_parameter(name))
    assert not encoder.backbone.training
    untuned = load_encoder(step.encoder.place) if not isinstance(step.encoder, Operate) else encoder
    assert any(not torch.equal(weight, untuned.backbone.get_parameter(name)) for name, weight in
               model.module.backbone.named_parameters()) or isinstance(step.encoder, Operate)  # fmt: skip


# Data.


def faults(*given: Any, **changes: Any) -> list[str]:
    with pytest.raises(StudyError) as caught:
        compile_study(study(*given, **changes))
    return list(caught.value.faults)


def test_what_cannot_be_compared_is_said(encoder_folder):
    assert faults(encoder_folder, WORLD | {"targets": ["world:qyy"]})[0].startswith(
        "measures.0: the world has no language 'qyy'"
    )
    assert faults(encoder_folder, WORLD | {"targets": ["world:qaa"]}) == [
        "measures.0: world:qaa is given twice; a language is compared with others"
    ]
    assert faults(encoder_folder, WORLD | {"targets": ["UD_French-PUD"]}) == [
        "measures.0: UD_French-PUD: sentences of the world are parallel to its own alone; name all world:CODE"
    ]
    assert faults(encoder_folder, WORLD | {"tuned": ["ner"]}) == [
        "measures.0.tuned: 'ner' is no task of the study; there are pos"
    ]
    assert faults(encoder_folder, WORLD | {"source": "world:qad", "tuned": ["pos"]}) == [
        "measures.0.tuned: pos is trained on qaa, but the sentences are compared with qad; give the source in a "
        "language of the training"
    ]
