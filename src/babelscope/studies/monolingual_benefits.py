"""monolingual-benefits: what remains of pre-training when an encoder's knowledge of its language is cut out?

Zhang (2021), General Benefits of Mono-Lingual Pre-Training in Transformers, https://hdl.handle.net/10150/658667.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import PositiveInt

from babelscope.corpora.world_text import WorldText
from babelscope.encoders.places import display_name
from babelscope.measures import Measure
from babelscope.measures.cost import Costs
from babelscope.measures.vocabulary import VocabularyComparison
from babelscope.studies.parameters import DeviceParameters
from babelscope.study.declare import Sizes, Study, Transfer
from babelscope.study.encoders import Pretraining
from babelscope.tuning.settings import Tuning

QUESTION = (
    "An encoder pre-trained on one language is operated on, so that little of what it knows of that language can be "
    "left, or was pre-trained on another language to begin with. How much better than a fresh encoder does it still "
    "learn tasks?"
)
FOREIGN = ("qab", "qad", "qae", "qaf")
"""The world's near, middle and far relatives of the target, and the isolate."""
HUB = {
    "english": "bert-base-uncased",
    "german": "bert-base-german-cased",
    "chinese": "bert-base-chinese",
    "spanish": "dccuchile/bert-base-spanish-wwm-uncased",
    "japanese": "tohoku-nlp/bert-base-japanese",
}
"""The thesis' BERTs. The Japanese one comes without a fast tokenizer; docs/monolingual-benefits.md gives it one."""
TREEBANKS = ("UD_English-PUD", "UD_German-PUD", "UD_Chinese-PUD", "UD_Spanish-PUD")
"""Parallel text to compare vocabularies on."""
SMALL = Sizes(train=500, dev=100, test=200)
HALVED = ("drop-last-half", "drop-every-second")
GLUE = {
    "cola": "CoLA", "mnli": "MNLI", "mrpc": "MRPC", "qnli": "QNLI", "qqp": "QQP", "rte": "RTE", "sst2": "SST-2",
    "stsb": "STS-B", "wnli": "WNLI",
}  # fmt: skip


class Parameters(DeviceParameters):
    """What `--with` can change."""

    steps: PositiveInt | None = None
    """Of the world's pre-training; default: 10,000, or 2,000 if small."""
    english: str | None = None
    """The encoder of the tasks' own language; default: bert-base-uncased."""
    foreign: tuple[str, ...] | None = None
    """Encoders of other languages, with fast tokenizers; default: the four of the thesis on paper, none on real."""


def world(given: Parameters) -> Study:
    """Five encoders pre-trained on one language each; tasks of the source language."""
    target, *foreign = (_pretrain(code, given) for code in ("qaa", *(FOREIGN[-1:] if given.small else FOREIGN)))
    names = [encoder.name for encoder in foreign]
    transfers = {
        "pos": _in_world(given, 1000, 4),
        "parsing": _in_world(given, 1000, 4),
        "inference": _in_world(given, 6000, 3),
        "acceptability": _in_world(given, 4000, 4),
        "sentiment": _in_world(given, 3000, 4),
        "paraphrase": _in_world(given, 3000, 3),
        "similarity": _in_world(given, 3000, 3),
    }
    if given.small:
        transfers = {task: transfers[task] for task in ("pos", "acceptability", "sentiment")}
    return Study(
        name="monolingual-benefits@world",
        question=QUESTION,
        encoders=(target, *foreign),
        surgeries=_surgeries(target.name, names),
        tasks=transfers,
        seeds=given.seeds_to_run,
        contrasts=_contrasts(target.name, names),
        measures=(
            VocabularyComparison(reference=target.name, treebanks=("world:qaa",)),
            Costs(surgeries=HALVED),
        ),
    )


def real(given: Parameters) -> Study:
    """One English encoder, and whichever others are given, on the GLUE tasks of the data folder."""
    tasks = ("sst2", "rte", "stsb", "wnli")
    tuning = given.tuning("cpu", "float32", learning_rate=1e-4, epochs=2, tokens_per_batch=1024)
    sizes = SMALL if given.small else Sizes(train=3000, dev=300, test=1500)
    return _on_glue("monolingual-benefits@real", given, given.foreign or (), tasks, tuning, sizes)


def paper(given: Parameters) -> Study:
    """The thesis: five BERTs on all of GLUE, every training example."""
    tuning = given.tuning("cuda", "float32", learning_rate=2e-5, epochs=3, examples_per_batch=32)
    foreign = tuple(HUB.values())[1:] if given.foreign is None else given.foreign
    sizes = SMALL if given.small else Sizes(train=10**9, dev=10**9, test=10**9)
    return _on_glue("monolingual-benefits@paper", given, foreign, tuple(GLUE), tuning, sizes)


def _on_glue(
    name: str, given: Parameters, foreign: Sequence[str], tasks: Sequence[str], tuning: Tuning, sizes: Sizes
) -> Study:
    english = given.english or HUB["english"]
    labels = [display_name(encoder) for encoder in (english, *foreign)]
    compared: list[Measure] = [VocabularyComparison(reference=labels[0], treebanks=TREEBANKS)] if foreign else []
    return Study(
        name=name,
        question=QUESTION,
        encoders=(english, *foreign),
        surgeries=_surgeries(english, foreign),
        tasks={task: _glue(task, tuning, sizes) for task in tasks},
        seeds=given.seeds_to_run,
        contrasts=_contrasts(labels[0], labels[1:]),
        measures=(*compared, Costs(surgeries=HALVED)),
    )


def _surgeries(english: str, foreign: Sequence[str]) -> Any:
    """What the thesis does to which encoders; `clean` is a fresh encoder."""

    def on(encoders: Sequence[str], name: str, operation: str) -> dict[str, Any]:
        return {"name": name, "operations": [operation], "encoders": encoders}

    every = (english, *foreign)
    surgeries = [
        None,
        on([english], "clean", "reinit"),
        on([english], "reversed", "reverse"),
        on(every, "shuffled-embeddings", "shuffle"),
        on(every, "clean-embeddings", "reinit:part=word-embeddings"),
        on([english], "oracle", "oracle"),
        on([english], "same-magnitude", "rescale:match=magnitude"),
        on([english], "same-variance", "rescale:match=variance"),
        on([english], "drop-last-half", "drop:last=half"),
        on([english], "drop-every-second", "drop:every=2"),
    ]
    transplanted = [on(foreign, "english-embeddings", f"transplant:donor={english}")] if foreign else []
    return [*surgeries, *transplanted]


def _contrasts(english: str, foreign: Sequence[str]) -> Any:
    """The claims of the thesis, its sections in order."""

    def contrast(claim: str, first: tuple[str, str | None], second: tuple[str, str | None]) -> dict[str, Any]:
        conditions = ({"encoder": encoder, "surgery": surgery} for encoder, surgery in (first, second))
        return {"claim": claim} | dict(zip(("first", "second"), conditions, strict=True))

    clean = (english, "clean")
    every = (english, *foreign)
    return [
        contrast("Pre-trained is better than reversed layers (table 1)", (english, None), (english, "reversed")),
        contrast("Reversed layers are better than a clean encoder (table 1)", (english, "reversed"), clean),
        *(contrast("A foreign encoder is better than a clean one (table 3)", (name, None), clean) for name in foreign),
        *(
            contrast(
                "Shuffled word embeddings are better than clean ones (table 4)",
                (name, "shuffled-embeddings"), (name, "clean-embeddings"),
            )
            for name in every
        ),
        *(
            contrast(
                "A foreign encoder with English word embeddings is better than with clean ones (table 5)",
                (name, "english-embeddings"), (name, "clean-embeddings"),
            )
            for name in foreign
        ),
        contrast("An oracle's initialisation is better than a clean encoder (table 6)", (english, "oracle"), clean),
        contrast("The pre-trained magnitude is better than a clean encoder (5.1)", (english, "same-magnitude"), clean),
        contrast("The pre-trained variance is better than a clean encoder (5.1)", (english, "same-variance"), clean),
        *(contrast("Half of the layers are better than a clean encoder (table 8)", (english, surgery), clean)
          for surgery in HALVED),
    ]  # fmt: skip


def _pretrain(code: str, given: Parameters) -> Pretraining:
    """The shape of the shipped encoders, on sentences and pairs of one language."""
    text = WorldText(language=code, sentences=5_000 if given.small else 20_000, pairs=5_000 if given.small else 30_000)
    steps = given.steps or (2_000 if given.small else 10_000)
    tuning = Tuning(learning_rate=2e-3, steps=steps, betas=(0.9, 0.98), warmup=0.06)
    return Pretraining(name=f"only-{code}", texts=(text,), tuning=tuning)


def _in_world(given: Parameters, examples: int, epochs: int) -> Transfer:
    return Transfer(
        train=("world:qaa",),
        evaluate=("world:qaa",),
        sizes=Sizes(train=examples // 2, dev=200, test=300)
        if given.small
        else Sizes(train=examples, dev=300, test=1000),
        tuning=Tuning(epochs=max(1, epochs // 2) if given.small else epochs),
    )


def _glue(task: str, tuning: Tuning, sizes: Sizes) -> Transfer:
    name = f"glue:{GLUE[task]}"
    tests = (name, f"{name}-mm") if task == "mnli" else (name,)
    return Transfer(train=(name,), evaluate=tests, sizes=sizes, tuning=tuning)


PROFILES = {"world": world, "real": real, "paper": paper}
