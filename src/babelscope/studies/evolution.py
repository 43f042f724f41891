"""evolution: how do representations and perplexities change when a multilingual encoder learns one language?

Hussain and Dudev, Evolution of Representations in Cross-Lingual Fine-tuning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Literal

from pydantic import PositiveInt

from babelscope.corpora.benchmarks import XNLI_LANGUAGES
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.places import display_name
from babelscope.encoders.shape import Shape
from babelscope.measures.probing import Probing
from babelscope.studies.multilingual import multilingual, rate_for
from babelscope.studies.parameters import DeviceParameters
from babelscope.study.declare import Condition, Contrast, Sizes, Study, Transfer
from babelscope.study.encoders import Adaptation, Pretraining
from babelscope.tasks.as_published import OF_LANGUAGE, LanguageQuirk
from babelscope.tuning.probes import QUIRKS, Quirk
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "A multilingual encoder goes on learning masked language modelling on one language alone. When does it know that "
    "language better than the others, what do these lose, which layers move, and toward an encoder that never knew "
    "another? What does it help to freeze the lower layers?"
)
EPOCHS = 3
"""One for each group of gradual unfreezing; in the world and on real text, unless small, trainings are longer."""
LONG_IN_THE_WORLD = 2850
"""Steps, about 15 epochs: with three, the upper layers were still learning at the end."""
LONG_ON_REAL_TEXT = 900
"""In batches of 256 tokens, four and a half epochs: with three, and larger batches, hardly any forgetting showed."""
SCHEDULES = ("freeze:0", "upper:half", "upper:quarter", "upper:last", f"gradual:groups={EPOCHS}")
"""The techniques: all layers, the upper half, the upper quarter, the last layer, gradual unfreezing. The embeddings
are frozen in all of them, and with them the decoder that is tied to them."""
PUBLISHED_SCHEDULES = ("freeze:0", "layers:6-12", "layers:9-12", "layers:11-12", f"gradual:groups={EPOCHS}")
"""The same of 12 layers, by the layers that the paper names (table 2)."""
WIKIPEDIA = ("wikipedia:nl",)
DUTCH = ("UD_Dutch-LassySmall", "UD_Dutch-Alpino")
CONTROL = {
    "control": ("UD_English-EWT",),
    "German": ("UD_German-GSD",),
    "French": ("UD_French-GSD",),
    "Spanish": ("UD_Spanish-GSD",),
}
"""Text of the languages that the encoder should not forget. It reads each with a tokenizer of its own, so that there is
no common perplexity; the control is the language that it began with."""
CONTROL_LANGUAGES = ("en", "de", "fr", "es")
NEWS = tuple(f"ntrex:{code}" for code in (*CONTROL_LANGUAGES, "nl"))
"""What it learns to model languages on besides."""


PUBLISHED_QUIRKS: tuple[Literal[Quirk, LanguageQuirk], ...] = (
    *(quirk for quirk in QUIRKS if quirk != "dropout-on"), *OF_LANGUAGE
)  # fmt: skip
"""What their code has. `dropout-on` is in their paper alone: the code leaves the encoder in evaluation mode."""


class Parameters(DeviceParameters):
    """What `--with` can change."""

    encoder: str | None = None
    """The multilingual one. Default: world-natural in the world, a small English one with 26 languages brought in on
    real text, and mBERT on paper."""
    target: str = "qag"
    """The language of the world that it learns."""
    texts: tuple[str, ...] | None = None
    """What it learns elsewhere: data sets of one language. Default: Dutch treebanks, and Dutch Wikipedia on paper. On
    real text nothing is claimed of those that are given, which may be in a language of the control."""
    adapt: bool = True
    """On real text: whether the encoder first learns to model the control languages and Dutch. Needed where it has no
    head for language modelling."""
    native: str | None = None
    """Elsewhere: an encoder that knows the target alone, as wide as the other. Default: one trained from scratch on
    real text, and BERTje on paper."""
    steps: PositiveInt | None = None
    """Of the native encoder's pre-training; default: 6,000 in the world, 2,400 on real text, or fewer if small."""
    quirks: tuple[Literal[Quirk, LanguageQuirk], ...] | None = None
    """On paper: what the published code did otherwise than it should. Default: all of it; [] trains, with dropout, and
    measures as it should be."""


def world(given: Parameters) -> Study:
    """A relative of the source that the encoder has never seen; the six languages that it knows are the control."""
    target = f"world:{given.target}"
    known = tuple(code for code, member in FAMILY.items() if member.seen and code != given.target)
    control = tuple(f"world:{code}" for code in known)
    name = display_name(given.encoder or "world-natural")
    return _study(
        "evolution@world",
        given,
        encoder=given.encoder or "world-natural",
        native=_native_in_the_world(given),
        schedules=_schedules(LONG_IN_THE_WORLD, given),
        learned=Transfer(
            train=(target,),
            evaluate=(target, *control),
            sizes=Sizes(train=600, dev=100, test=100) if given.small else Sizes(train=4000, dev=200, test=300),
            tuning=Tuning(learning_rate=1e-3, **{"epochs": EPOCHS} if given.small else {"steps": LONG_IN_THE_WORLD}),
            probes=_probing(
                {"target": (target,), "control": control}, 10 if given.small else 40, 30 if given.small else 100
            ),
        ),
        contrasts=(
            *_more_is_learnt(name, SCHEDULES, given.target),
            *_less_is_forgotten(name, SCHEDULES, *known),
        ),
    )


def real(given: Parameters) -> Study:
    """An encoder that first learns to model five languages, Dutch among them, and then goes on with Dutch alone."""
    encoder = given.encoder or multilingual(small=given.small)
    target = given.texts or DUTCH
    adapted = _adapted(encoder if isinstance(encoder, str) else encoder.name, given)
    tuning = _tuning(given, "cpu", "float32", learning_rate=rate_for(given.encoder, own=1e-4), tokens_per_batch=256)
    learned = Transfer(
        train=target,
        evaluate=(*target, *_names(CONTROL)),
        sizes=Sizes(train=200, dev=20, test=20) if given.small else Sizes(train=1000, dev=100, test=200),
        tuning=tuning if given.small else _for(LONG_ON_REAL_TEXT, tuning),
        probes=_probing({"target": target, **CONTROL}, 10 if given.small else 50, 10 if given.small else 40),
        encoders=(adapted.name,) if given.adapt else (),
    )
    native = given.native or _native(target, given)
    whole = display_name(encoder) if isinstance(encoder, str) else encoder.name
    tuned = adapted.name if given.adapt else whole
    claims = (*_more_is_learnt(tuned, SCHEDULES, "nl"), *_less_is_forgotten(tuned, SCHEDULES, *CONTROL_LANGUAGES))
    study = _study(
        "evolution@real", given, encoder=encoder, native=native, learned=learned,
        schedules=_schedules(LONG_ON_REAL_TEXT, given), contrasts=() if given.texts else claims,
    )  # fmt: skip
    return study.model_copy(update={"encoders": (encoder, adapted)}) if given.adapt else study


def paper(given: Parameters) -> Study:
    """mBERT on 80,000 sentences of Dutch Wikipedia, BERTje as the native encoder, XNLI's languages as the control."""
    target = given.texts or WIKIPEDIA
    encoder = given.encoder or "bert-base-multilingual-cased"
    quirks = PUBLISHED_QUIRKS if given.quirks is None else given.quirks
    control = tuple(f"xnli:{code}" for code in XNLI_LANGUAGES)
    return _study(
        "evolution@paper",
        given,
        encoder=encoder,
        native=given.native or "GroNLP/bert-base-dutch-cased",
        schedules=PUBLISHED_SCHEDULES,
        contrasts=_more_is_learnt(display_name(encoder), PUBLISHED_SCHEDULES),
        learned=Transfer(
            train=target,
            evaluate=target,
            sizes=Sizes(train=200, dev=20, test=20) if given.small else Sizes(train=80_000, dev=10_000, test=10_000),
            tuning=_tuning(
                given,
                "cuda",
                "float32",
                learning_rate=5e-5,
                examples_per_batch=8,
                weight_decay=0.0,
                epsilon_before_correction=True,
                validate_every=50,
                max_length=512,
                encoder_dropout=not quirks,
            ),
            quirks=tuple(quirk for quirk in OF_LANGUAGE if quirk in quirks),
            probes=_probing_as_published(target, control, given.small, tuple(q for q in QUIRKS if q in quirks)),
        ),
    )


def _probing_as_published(
    target: tuple[str, ...], control: tuple[str, ...], small: bool, quirks: tuple[Quirk, ...]
) -> Probing:
    """Every 50 steps: the validation set, 10,000 sentences of the control, and distances over one batch of 16."""
    validation, controls = (20, 30) if small else (10_000, 10_000)
    return Probing(
        every=50,
        perplexity={"target": target, "control": control},
        distance={"target": target},
        sentences={"target": validation, "control": -(-controls // len(control))},
        distance_sentences=16,
        quirks=quirks,
    )


def _study(
    name: str,
    given: Parameters,
    encoder: Any,
    native: Any,
    learned: Transfer,
    contrasts: Iterable[Contrast],
    schedules: tuple[str, ...] = SCHEDULES,
) -> Study:
    """The native encoder is a reference: distances are to it, and its own perplexity stands beside the others."""
    return Study(
        name=name, question=QUESTION, encoders=(encoder,), schedules=schedules, references=(native,),
        tasks={"mlm": learned}, seeds=given.seeds_to_run, contrasts=tuple(contrasts),
    )  # fmt: skip


def _more_is_learnt(encoder: str, schedules: Sequence[str], *languages: str) -> Iterator[Contrast]:
    """With more layers trained; each technique beside the next. Without languages, of all that are scored."""
    for more, fewer in _neighbours(encoder, schedules):
        yield Contrast(claim="more layers trained, more learnt", first=more, second=fewer, languages=languages)


def _less_is_forgotten(encoder: str, schedules: Sequence[str], *languages: str) -> Iterator[Contrast]:
    """With fewer layers trained, likewise."""
    for more, fewer in _neighbours(encoder, schedules):
        yield Contrast(claim="fewer layers trained, less forgotten", first=fewer, second=more, languages=languages)


def _neighbours(encoder: str, schedules: Sequence[str]) -> Iterator[tuple[Condition, Condition]]:
    """Techniques that train a fixed part, from the most layers to the fewest, in twos; gradual unfreezing is none."""
    fixed = [schedule for schedule in schedules if not schedule.startswith("gradual")]
    return pairwise(Condition(encoder=encoder, schedule=schedule) for schedule in fixed)


def _schedules(steps: int, given: Parameters) -> tuple[str, ...]:
    """The techniques, gradual unfreezing in equal parts of that many steps; if small, in epochs."""
    return SCHEDULES if given.small else (*SCHEDULES[:-1], f"{SCHEDULES[-1]},every={steps // EPOCHS}")


def _for(steps: int, tuning: Tuning) -> Tuning:
    """The settings for so many steps, in place of epochs."""
    return tuning.model_copy(update={"epochs": None, "steps": steps})


def _tuning(given: Parameters, device: str, precision: str, **settings: Any) -> Tuning:
    return given.tuning(device, precision, EPOCHS, small_epochs=EPOCHS, warmup=0.0, **settings)


def _probing(perplexity: Mapping[str, tuple[str, ...]], every: int, sentences: int) -> Probing:
    return Probing(
        every=every, perplexity=dict(perplexity), distance={"target": perplexity["target"]}, sentences=sentences
    )


def _names(corpora: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(corpora.values()))


def _native_in_the_world(given: Parameters) -> Any:
    return Pretraining(
        name=f"native-{given.target}",
        texts=(WorldText(language=given.target, sentences=4_000 if given.small else 20_000),),
        tuning=Tuning(
            learning_rate=2e-3, steps=given.steps or (1_000 if given.small else 6_000), betas=(0.9, 0.98), warmup=0.06
        ),
    )


def _adapted(encoder: str, given: Parameters) -> Adaptation:
    return Adaptation(
        name="adapted",
        encoder=encoder,
        texts=(*_names(CONTROL), *NEWS),
        sentences=50 if given.small else 1200,
        tuning=given.tuning(
            "cpu", "float32", learning_rate=rate_for(given.encoder, own=3e-4), epochs=2, tokens_per_batch=512
        ),
    )


def _native(texts: tuple[str, ...], given: Parameters) -> Pretraining:
    """Of the shape of all-MiniLM-L6-v2, from scratch, on the target and on NTREX in its language."""
    tuning = given.tuning("cpu", "float32", learning_rate=5e-4, epochs=1, tokens_per_batch=512)
    steps = given.steps or (5 if given.small else 2400)
    return Pretraining(
        name="native",
        texts=texts if given.texts else (*texts, "ntrex:nl"),
        vocabulary_size=8000,
        shape=Shape(hidden=384, layers=6, heads=12, feed_forward=1536, positions=128, dropout=0.1),
        masking=0.15,
        tuning=_for(steps, tuning),
    )


PROFILES = {"world": world, "real": real, "paper": paper}
