"""Steps that measure an encoder: text of a language that has a tokenizer of its own is read with that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from babelscope.core.errors import StepError
from babelscope.core.row import Row
from babelscope.core.step import Step
from babelscope.corpora.alignment.align import align_words
from babelscope.corpora.datasets import find
from babelscope.corpora.parallel_sentences import find_parallel
from babelscope.corpora.parallel_words import find_words
from babelscope.encoders.load import Encoder, save_encoder
from babelscope.encoders.places import locate
from babelscope.encoders.tap import sentence_states, word_states
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.formulas.alignment import flat_links, similarity_links
from babelscope.measures.formulas.overlap import coverage
from babelscope.measures.formulas.projection import aligned_words, translation_share
from babelscope.measures.formulas.states import LanguageStates
from babelscope.measures.layers import MeasureLayers
from babelscope.measures.probing import Probe, ScoreReference
from babelscope.measures.projecting import Project, ProjectWords
from babelscope.measures.retrieval import Retrieve, retrieval_accuracy
from babelscope.measures.similarities import SIMILARITIES
from babelscope.measures.similarity import SentenceSimilarity
from babelscope.measures.surface import Surface
from babelscope.measures.text_size import TextSize
from babelscope.measures.vocabulary import Vocabulary
from babelscope.steps import Load, Tune
from babelscope.tasks.mlm import HeldOut
from babelscope.tuning.probes import Corpus, Probes
from babelscope.tuning.settings import Tuning
from babelscope.world import World
from babelscope.world.world import VERSION
from own_measures import Anisotropy
from test_reading import bilingual, made, plain  # noqa: F401
from test_tuning_by_tokenizer import computed

CKA = "linear CKA (debiased)"


def loaded(encoder: Encoder, folder) -> Load:
    save_encoder(encoder, folder)
    place = locate(str(folder))
    return Load(name="tiny", content=place.content, place=place.path)


@pytest.fixture(scope="module")
def steps(bilingual, plain, tmp_path_factory) -> dict[str, Load]:  # noqa: F811
    """The encoder with qab and qah brought in, and as it was before."""
    folder = tmp_path_factory.mktemp("encoders")
    return {name: loaded(given, folder / name) for name, given in (("bilingual", bilingual), ("plain", plain))}


def mlm(language: str, count: int = 12, split: str = "test"):
    return find("mlm", f"world:{language}", split, count)


def retrieve(encoder: Load, target: str) -> Step:
    return Retrieve(encoder=encoder, source="qaa", target=target, sentences=12, world_version=VERSION)


def parallel_states(encoder: Encoder, target: str) -> list[torch.Tensor]:
    parallel = World().parallel(["qaa", target], 12)
    return [
        sentence_states(encoder.reading(code), [" ".join(one.sentences[code].forms) for one in parallel])
        for code in ("qaa", target)
    ]


def retrieved(encoder: Encoder, target: str) -> list[float]:
    return retrieval_accuracy(*parallel_states(encoder, target)).tolist()


def similar(encoder: Load, target: str) -> Step:
    texts = find_parallel("world:qaa", [f"world:{target}"], 12)
    return SentenceSimilarity(model=encoder, texts=texts, pooling="mean", measures=(CKA,), device="cpu", threads=1)


def alike(encoder: Encoder, target: str) -> list[float]:
    first, second = (LanguageStates("", states) for states in parallel_states(encoder, target))
    return SIMILARITIES[CKA](first, second).tolist()


def project(encoder: Load, target: str) -> Step:
    return Project(
        encoder=encoder, source="qaa", target=target, sentences=6, pairs=4, library="scikit-learn", seed=0,
        world_seed=0, world_version=VERSION,
    )  # fmt: skip


def shares(encoder: Encoder, target: str) -> list[float]:
    parallel = World().parallel(["qaa", target], 6)
    first, second = (
        word_states(encoder.reading(code), [one.sentences[code].forms for one in parallel]) for code in ("qaa", target)
    )
    return translation_share(first, second, aligned_words(parallel, "qaa", target)).tolist()


def layers(encoder: Load, target: str) -> Step:
    return MeasureLayers(measure=Anisotropy(texts=("world:qab",)), model=encoder, texts=(mlm(target),))


def anisotropy(encoder: Encoder, target: str) -> list[float]:
    return Anisotropy(texts=("any",)).compute(sentence_states(encoder.reading(target), mlm(target).read())).tolist()


def reference(encoder: Load, target: str) -> Step:
    return ScoreReference(encoder=encoder, task="mlm", data=mlm(target))


def perplexity(encoder: Encoder, target: str) -> list[float]:
    (score,) = made(encoder, "mlm").reading(target).scores(mlm(target).read())
    return [score.value]


def size(encoder: Load, target: str) -> Step:
    return TextSize(encoder=encoder, text=Corpus(name="text", data=(mlm("qaa"), mlm(target))), task="mlm")


def sizes(encoder: Encoder, target: str) -> list[float]:
    tokens = [encoder.reading(code).tokenizer.tokenize(line) for code in ("qaa", target) for line in mlm(code).read()]
    return [sum(map(len, tokens))]


def vocabulary(encoder: Load, target: str) -> Step:
    return Vocabulary(encoder=encoder, reference=encoder, texts=(find("pos", f"world:{target}", "test", 12),))


def fertility(encoder: Encoder, target: str) -> list[float]:
    words = [sentence.forms for sentence in find("pos", f"world:{target}", "test", 12).read()]
    return [coverage(encoder.reading(target).tokenizer, words).fertility]


MEASURED: list[tuple[str, Callable[[Load, str], Step], Callable[[Encoder, str], list[float]]]] = [
    ("retrieval", retrieve, retrieved), (CKA, similar, alike), ("translation share", project, shares),
    ("anisotropy", layers, anisotropy), ("perplexity", reference, perplexity), ("tokens", size, sizes),
    ("fertility", vocabulary, fertility),
]  # fmt: skip


def values(rows: list[Row], measure: str) -> list[float]:
    return [row.value for row in rows if row.measure == measure]


@pytest.mark.parametrize(("measure", "step", "expected"), MEASURED)
def test_a_language_is_read_with_its_own_tokenizer_where_there_is_one(measure, step, expected, steps, store):
    for target in ("qab", "qah", "qac"):
        own, before = (values(computed(step(each, target), store), measure) for each in steps.values())
        assert own == expected(steps["bilingual"].read(), target) and own
        assert (own != before) == (target != "qac")


def test_words_of_text_are_aligned_and_compared_as_their_languages_are_read(steps, store, tmp_path):
    parallel = World().parallel(["qaa", "qab"], 8)
    names = []
    for code in ("qaa", "qab"):
        lines = [" ".join(one.sentences[code].forms) for one in parallel]
        (tmp_path / code).write_text("\n".join(lines), encoding="utf-8")
        names.append(f"text:{code}:{tmp_path / code}")
    words = find_words(*names)
    pairs = words.read()
    found = {}
    for name, aligner in (("bilingual", None), ("bilingual", "bilingual"), ("bilingual", "plain"), ("plain", None)):
        step = ProjectWords(
            encoder=steps[name], texts=words, sentences=8, pairs=4, library="scikit-learn", seed=0, alignments=None,
            aligner=steps[aligner] if aligner else None, aligner_layer=2 if aligner else None,
        )  # fmt: skip
        found[name, aligner] = values(computed(step, store), "translation share")
        sides = list(zip(("qaa", "qab"), zip(*pairs, strict=True), strict=True))
        states = [word_states(steps[name].read().reading(code), side) for code, side in sides]
        links = align_words(pairs)
        if aligner:
            by = [word_states(steps[aligner].read().reading(code), side) for code, side in sides]
            links = similarity_links(*by, 2, pairs)
        assert found[name, aligner] == pytest.approx(
            translation_share(*states, flat_links(links, pairs)).tolist(), abs=1e-12
        )
    assert len(set(map(tuple, found.values()))) == 4


def test_what_is_transliterated_is_read_with_the_tokenizer_of_all(steps, store):
    own, before = (values(computed(layers(each, "qah>world"), store), "anisotropy") for each in steps.values())
    assert own == before == anisotropy(steps["bilingual"].read(), "qah>world")


def tuned(encoder: Load, seed: int, **choices: Any) -> Tune:
    return Tune(
        encoder=encoder, task="pos", tuning=Tuning(steps=2), seed=seed, dev=(),
        train=(find("pos", "world:qaa", "train", 20),), **choices,
    )  # fmt: skip


def test_models_between_tuned_ones_and_probes_of_them(steps, store):
    data = find("pos", "world:qab", "dev", 12)
    for name, differs in (("bilingual", True), ("plain", False)):
        first, second = (tuned(steps[name], seed, probes=Probes(every=2, scores=(data,))) for seed in (0, 1))
        probed = [row for row in computed(first, store) if row.split == "probe" and row.measure == "accuracy"]
        computed(second, store)
        line = computed(Surface(models=(first, second), points=((0.0,), (1.0,)), data=(data,)), store)
        models = [model.model(FinishedSteps(store)) for model in (first, second)]
        read, plainly = ([score_of(reader(model), data) for model in models] for reader in (own, lambda model: model))
        assert [row.value for row in line if row.measure == "accuracy"] == pytest.approx(read, abs=1e-12)
        assert (read != plainly) == differs
        assert probed[-1].value == pytest.approx(read[0], abs=1e-12)


def own(model):
    return model.reading("qab")


def score_of(model, data) -> float:
    return next(score.value for score in model.scores(data.read()) if score.measure == "accuracy")


def corpus(name: str, *languages: str) -> Corpus:
    return Corpus(name=name, data=tuple(mlm(language) for language in languages))


def test_probes_of_perplexity_and_distance(steps, store):
    probes = Probes(perplexity=(corpus("control", "qaa", "qac"), corpus("target", "qab")))
    rows = computed(Probe(encoder=steps["bilingual"], probes=probes), store)
    encoder = steps["bilingual"].read()
    expected = {
        "control": HeldOut.of(encoder.tokenizer, [*mlm("qaa").read(), *mlm("qac").read()], encoder.max_length),
        "target": made(encoder, "mlm").reading("qab").held_out(mlm("qab").read()),
    }
    found = {row.dataset: row.value for row in rows}
    assert found["target"] == pytest.approx(expected["target"].perplexity(encoder.model), rel=1e-12)
    assert found["control"] < expected["control"].perplexity(encoder.model), "pieces of others are no answers"


def test_distances_are_between_words_as_each_encoder_reads_them(steps, store):
    probes = Probes(every=2, distance=(corpus("words", "qab"),))
    step = tuned(steps["bilingual"], 0, probes=probes, references=(steps["plain"],))
    rows = computed(step, store)
    start = [row.value for row in rows if row.step == 0 and row.measure == "distance to start"]
    other = [row.value for row in rows if row.step == 0 and row.measure == "distance to tiny"]
    words = [line.split() for line in mlm("qab").read()]
    encoder = steps["bilingual"].read()
    first, second = (word_states(one, words).half().double() for one in (encoder.reading("qab"), encoder))
    assert start == [0.0] * 3
    assert other == pytest.approx((first - second).norm(dim=-1).mean(dim=-1).tolist(), rel=1e-6)


@pytest.mark.parametrize("kind", ["perplexity", "distance"])
def test_a_corpus_of_several_tokenizers_is_refused(kind, steps, store):
    probes = Probes(**{kind: (corpus("all", "qaa", "qab"),)})
    with pytest.raises(StepError, match=r"probes of all \(qaa\+qab\): tiny reads qab with a tokenizer of its own"):
        computed(Probe(encoder=steps["bilingual"], probes=probes), store)
