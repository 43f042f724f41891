"""monolingual-benefits: what remains of pre-training when an encoder's knowledge of its language is cut out?

Zhang (2021), General Benefits of Mono-Lingual Pre-Training in Transformers, https://hdl.handle.net/10150/660173.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import PositiveInt

from babelscope.corpora.world_text import WorldText
from babelscope.encoders.places import display_name
from babelscope.measures import Measure
from babelscope.measures.cost import Costs
from babelscope.measures.vocabulary import VocabularyComparison
from babelscope.studies.benefits_claims import HALVED, contrasts
from babelscope.studies.multilingual import PUD, multilingual, rate_for
from babelscope.studies.parameters import DeviceParameters
from babelscope.study.declare import EVERYTHING, Sizes, Study, Transfer
from babelscope.study.encoders import BringingIn, Pretraining
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
"""BERTs of the thesis' languages, which it names alone; docs/monolingual-benefits.md says which of them its counts fit,
and gives the Japanese one a fast tokenizer."""
DISTILLED = "distilbert-base-uncased"
"""What the thesis holds halved encoders against (tables 7 and 8)."""
TREEBANKS = ("UD_English-PUD", "UD_German-PUD", "UD_Chinese-PUD", "UD_Spanish-PUD", "UD_Japanese-PUD")
"""Parallel text to compare vocabularies on."""
CONTEXTS = ("wikipedia:zh", "wikipedia:ja")
"""Raw text whose English-like contexts the thesis counts (section 4.1)."""
SMALL = Sizes(train=500, dev=100, test=200)
FIRST_LOOK = ("en", "de", "tr", "zh")
"""Of the languages of PUD, if small."""
HARDLY_LEARNED = ("inference", "paraphrase")
"""In the world: from so few examples the intact encoder itself is hardly above chance, so that no surgery can show what
it destroys. They are scored, and no claim is made of them."""
GLUE = {
    "cola": "CoLA", "mnli": "MNLI", "mrpc": "MRPC", "qnli": "QNLI", "qqp": "QQP", "rte": "RTE", "sst2": "SST-2",
    "stsb": "STS-B", "wnli": "WNLI",
}  # fmt: skip


Quirk = Literal["selected-on-test"]


class Parameters(DeviceParameters):
    """What `--with` can change."""

    steps: PositiveInt | None = None
    """Of the world's pre-training; default: 10,000, or 2,000 if small."""
    english: str | None = None
    """The encoder of the tasks' own language; default: bert-base-uncased, on real data a small English one with 26
    languages brought in."""
    foreign: tuple[str, ...] | None = None
    """Encoders of other languages, with fast tokenizers; default: the four of the thesis on paper, none on real."""
    distilled: str | None = None
    """A distilled encoder to hold halved ones against; default: distilbert-base-uncased on paper, none on real."""
    quirks: tuple[Quirk, ...] | None = None
    """On paper: what the thesis did otherwise than it should. selected-on-test: GLUE's dev sets are scored on, and
    select the best epoch, too. Default: all of it; [] selects on a tenth of the training data."""
    contexts: tuple[str, ...] | None = None
    """On paper: raw text whose English-like contexts are counted. Default: Chinese and Japanese Wikipedia."""


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
        contrasts=contrasts(target.name, names, tasks=[task for task in transfers if task not in HARDLY_LEARNED]),
        measures=(
            VocabularyComparison(reference=target.name, treebanks=("world:qaa",)),
            Costs(surgeries=HALVED),
        ),
    )


def real(given: Parameters) -> Study:
    """One encoder, and whichever others are given: tasks of GLUE, and tagging, scored in other languages too."""
    rate = rate_for(given.english, *given.foreign or (), given.distilled, own=1e-4)
    tuning = given.tuning("cpu", "float32", 4, learning_rate=rate, tokens_per_batch=256)
    sizes = Sizes(train=300, dev=100, test=200) if given.small else Sizes(train=1000, dev=200, test=500)
    tasks = {task: _glue(task, tuning, sizes) for task in ("sst2", "stsb")}
    tagged = sizes.model_copy(update={"test": 100 if given.small else 200})
    evaluate = tuple(PUD[code] for code in (FIRST_LOOK if given.small else PUD))
    tasks["pos"] = Transfer(train=("UD_English-EWT",), evaluate=evaluate, sizes=tagged, tuning=tuning)
    english = given.english or multilingual(small=given.small)
    return _on_data("monolingual-benefits@real", given, english, given.foreign or (), given.distilled, tasks)


def paper(given: Parameters) -> Study:
    """The thesis: five BERTs and DistilBERT on all of GLUE, every training example."""
    tuning = given.tuning("cuda", "float32", learning_rate=2e-5, epochs=3, examples_per_batch=32)
    foreign = tuple(HUB.values())[1:] if given.foreign is None else given.foreign
    sizes = SMALL if given.small else EVERYTHING
    quirks = ("selected-on-test",) if given.quirks is None else given.quirks
    tasks = {task: _glue(task, tuning, sizes, as_published=bool(quirks)) for task in GLUE}
    contexts = CONTEXTS if given.contexts is None else given.contexts
    return _on_data(
        "monolingual-benefits@paper", given, given.english or HUB["english"], foreign, given.distilled or DISTILLED,
        tasks, contexts if foreign else (),
    )  # fmt: skip


def _on_data(
    name: str,
    given: Parameters,
    english: str | BringingIn,
    foreign: Sequence[str],
    distilled: str | None,
    tasks: dict[str, Transfer],
    contexts: tuple[str, ...] = (),
) -> Study:
    peers = (distilled,) if distilled else ()
    whole = display_name(english) if isinstance(english, str) else english.name
    others = [display_name(encoder) for encoder in foreign]
    named = tuple(display_name(encoder) for encoder in peers)
    return Study(
        name=name,
        question=QUESTION,
        encoders=(english, *foreign, *peers),
        surgeries=_surgeries(english if isinstance(english, str) else english.name, foreign),
        tasks=tasks,
        seeds=given.seeds_to_run,
        contrasts=contrasts(whole, others, named),
        measures=(
            *_vocabularies(whole, foreign, contexts, small=given.small),
            Costs(surgeries=HALVED, peers=named, reference=whole if named else None),
        ),
    )


def _vocabularies(english: str, foreign: Sequence[str], contexts: tuple[str, ...], small: bool) -> Iterator[Measure]:
    if foreign:
        yield VocabularyComparison(
            reference=english,
            treebanks=TREEBANKS,
            contexts=contexts,
            context_sentences=1_000 if small else 1_000_000,
            shared_english=True,
        )


def _surgeries(english: str, foreign: Sequence[str]) -> Any:
    """What the thesis does to which encoders; `clean` is a fresh encoder. Peers are left as they are."""

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


def _glue(task: str, tuning: Tuning, sizes: Sizes, as_published: bool = False) -> Transfer:
    """A task of GLUE; `as_published`: the dev sets of the thesis select the best epoch, and are scored."""
    name = f"glue:{GLUE[task]}"
    tests = {"mnli": (name, f"{name}-mm"), "stsb": (f"{name}-dev" if as_published else name,)}.get(task, (name,))
    selected = "test" if as_published else "dev"
    return Transfer(train=(name,), evaluate=tests, sizes=sizes, selected_on=selected, tuning=tuning)


PROFILES = {"world": world, "real": real, "paper": paper}
