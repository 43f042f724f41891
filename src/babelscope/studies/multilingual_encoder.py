"""multilingual-encoder: what does the encoder know that studies of real languages use where no other is given?

It is a small English one that 26 languages were brought into by translated sentences, and that was distilled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from babelscope.studies.first_look import PUD
from babelscope.studies.multilingual import (
    DISTILLATION,
    ENGLISH,
    LEARNING_RATE,
    READ,
    TEXTS,
    held_out,
    multilingual,
)
from babelscope.studies.multilingual import PUD as COMPARED
from babelscope.studies.parameters import DeviceParameters
from babelscope.study.declare import Condition, Contrast, Sizes, Study, Transfer
from babelscope.study.encoders import BringingIn, Distillation
from babelscope.tuning.settings import Tuning

QUESTION = (
    "An English encoder, the same one with languages brought in by translated sentences, and that one distilled: how "
    "well do they carry tagging, parsing, named entities and inference over to languages that they were not tuned on, "
    "do they find translations, and is English read as well as before?"
)
PAIRS = {"learning_rate": 1e-4, "tokens_per_batch": 1024}
"""Of inference, for which batches of 256 tokens, four or five pairs, are small: the loss hardly fell in them."""
NO_LOSS = 0.01
"""English is as good as before where it is less than a point worse."""
AFRICAN = {"wo": (f"ntrex:wol:{READ}", "flores:wol"), "bm": ("flores:bam",)}
"""Languages of entities that the encoder is not made with, brought in for them alone."""


class Parameters(DeviceParameters):
    """What `--with` can change."""


def real(given: Parameters) -> Study:
    """Tagging and parsing from English, entities from Naija, inference from Spanish; retrieval of news."""
    made, entities = _made(given.small), _with_african(given.small)
    whole, own = ([ENGLISH, *(each.name for each in encoders)] for encoders in (made, entities))
    words = given.tuning("cpu", "float32", 4, learning_rate=LEARNING_RATE, tokens_per_batch=256)
    pairs = words.model_copy(update=PAIRS)
    tests = {
        "pos": tuple(f"UD_{language}-PUD" for language in PUD),
        "parsing": tuple(COMPARED.values()),
        "ner": ("masakhaner2:pcm", "masakhaner2:wol", "masakhaner2:bam"),
        "xnli": ("xnli:eu-native", "xnli:eu2es-native", "xnli:eu2en-native"),
    }

    def task(name: str, train: str, examples: int, tuning: Tuning, encoders: list[str]) -> Transfer:
        sizes = Sizes(train=500, dev=100, test=100) if given.small else Sizes(train=examples, dev=500, test=500)
        return Transfer(
            task=name, train=(train,), evaluate=tests[name], encoders=tuple(encoders), sizes=sizes, tuning=tuning
        )

    return Study(
        name="multilingual-encoder@real",
        question=QUESTION,
        encoders=(ENGLISH, *made, *entities),
        tasks={
            "pos": task("pos", "UD_English-EWT", 3000, words, whole),
            "parsing": task("parsing", "UD_English-EWT", 1000, words, whole),
            "ner": task("ner", "masakhaner2:pcm", 1000, words, own),
            "xnli": task("xnli", "xnli:es-original", 2000, pairs, whole),
        },
        contrasts=(
            *_gains(whole, ("pos", "parsing"), [code for code in COMPARED if code != "en"]),
            *_gains(whole, ("xnli",)),
            *_gains(own, ("ner",), tuple(AFRICAN)),
            *_kept(whole),
        ),
        measures=(held_out(*TEXTS, sentences=100 if given.small else 400),),
        seeds=given.seeds_to_run,
    )


def _made(small: bool) -> list[BringingIn]:
    """With languages, and distilled; if small, not distilled."""
    with_languages = multilingual(distilled=False, small=small)
    return [with_languages] if small else [with_languages, multilingual()]


def _with_african(small: bool) -> list[BringingIn]:
    """Likewise, with the languages that entities are looked for in."""
    name = f"{ENGLISH} with Wolof and Bambara"
    plain = BringingIn(name=name, encoder=ENGLISH, languages=AFRICAN)
    fewer = DISTILLATION.model_copy(update={"steps": 300})
    distilled = plain.model_copy(update={"name": f"{name}, distilled", "distil": Distillation(tuning=fewer)})
    return [plain] if small else [plain, distilled]


def _gains(encoders: Sequence[str], tasks: Sequence[str], languages: Sequence[str] = ()) -> Iterator[Contrast]:
    """Languages brought in against the encoder as it was, and distilled against not."""
    claims = ("translated sentences help", "distillation helps")
    for claim, (worse, better) in zip(claims, pairwise(encoders), strict=False):
        yield _contrast(claim, better, worse, tasks, languages)


def _kept(encoders: Sequence[str]) -> Iterator[Contrast]:
    """English against itself."""
    before, *made = encoders
    for encoder in made:
        yield _contrast("English is read as well as before", encoder, before, ("pos", "parsing"), ("en",), NO_LOSS)


def _contrast(
    claim: str, first: str, second: str, tasks: Sequence[str], languages: Sequence[str], margin: float | None = None
) -> Contrast:
    sides = Condition(encoder=first), Condition(encoder=second)
    return Contrast(
        claim=claim, first=sides[0], second=sides[1], tasks=tuple(tasks), languages=tuple(languages), margin=margin
    )


PROFILES = {"real": real}
