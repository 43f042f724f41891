"""What is said of a study before it runs: what of its data is left out, hardly translated, divided, not in
Unicode NFC, of doubt, of two worlds, or named by no code; and learning rates that are of another size of encoders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from babelscope.core.errors import InputError
from babelscope.core.examples import not_composed
from babelscope.core.languages import is_language
from babelscope.core.step import Step
from babelscope.corpora.datasets import FileData, WorldData
from babelscope.corpora.letters import split_name
from babelscope.corpora.mismatched import mismatches
from babelscope.corpora.parallel import NamedPairs, WorldPairs
from babelscope.corpora.parallel_sentences import WorldParallel
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.places import shipped_encoders
from babelscope.face.doubts import doubts
from babelscope.measures.similarity import SentenceSimilarity
from babelscope.steps import Adapt, Align, Load, Tune
from babelscope.steps.memory import shape_of
from babelscope.steps.plan import declared
from babelscope.world import LANGUAGES

NOT_COMPOSED = (
    "not in Unicode NFC, as most texts and vocabularies are (an é may be e and an accent), so that their words may not "
    "be taken for the same words; convert the file to NFC"
)
WIDE, MOST_OF_WIDE = 512, 2e-4
"""The width from which on an encoder needs a small learning rate, and the largest one that passes for small (Devlin et
al., 2019, try 2e-5 to 5e-5)."""
SHIPPED_WORLD = 0
"""The seed of the world that the shipped encoders were pre-trained on."""


def notes(steps: Iterable[Step]) -> list[str]:
    """A line each."""
    steps = list(steps)
    values = list(declared(steps))
    data = [value for value in values if isinstance(value, FileData)]
    of_each = _divided(data), _not_composed(data), _same_letters(data), _strange_codes(data)
    told = (
        _pairs(steps), _fewer(steps), *of_each, doubts(steps), _worlds(values), _same_encoders(values), _rates(steps)
    )  # fmt: skip
    return list(dict.fromkeys(line for lines in told for line in lines))


def _pairs(steps: Iterable[Step]) -> Iterator[str]:
    """What of the parallel texts that are read by one name is left out, and where sentences have lost their step."""
    texts = dict.fromkeys(text for step in steps if isinstance(step, Adapt | Align) for text in step.parallel)
    for text in {text.name: text for text in texts if isinstance(text, NamedPairs)}.values():
        kept = text.kept()
        if kept.empty or kept.repeated:
            yield f"{text.name}: {kept}"
        if not text.collection and (found := not_composed(kept.pairs)):
            yield f"{text.name}: {found:,} of {len(kept.pairs):,} pairs are {NOT_COMPOSED}"
        yield from (f"{text.name}: {mismatch}" for mismatch in mismatches(kept.pairs))


def _fewer(steps: Iterable[Step]) -> Iterator[str]:
    """Parallel sentences to compare that are fewer than asked for, since all languages must have them."""
    for texts in dict.fromkeys(step.texts for step in steps if isinstance(step, SentenceSimilarity)):
        with suppress(InputError):  # which a run says of the files
            if not isinstance(texts, WorldParallel) and (found := len(texts.read()[0])) < texts.sentences:
                names = ", ".join(name for _, name in texts.pairs)
                yield f"{names}: {found:,} sentences are in all of them, of {texts.sentences:,} at most to compare"


def _divided(data: Iterable[FileData]) -> Iterator[str]:
    """Splits that are parts of one file, or of another split's file."""
    for each in data:
        if each.divided and each.division:
            yield f"{each.name}: {each.division}"
        elif each.split == "test" and each.division:
            yield f"{each.name}: {each.division}, so that its scores compare with no others"


def _not_composed(data: Iterable[FileData]) -> Iterator[str]:
    """The user's own files in which the same words are other characters than in most texts."""
    for each in data:
        if each.is_own and each.is_here and not split_name(each.name)[1]:
            with suppress(InputError):  # which a run says of the file
                examples = each.read()
                if found := not_composed(examples):
                    yield (
                        f"{each.name}: {found:,} of {len(examples):,} examples of the {each.split} split are "
                        f"{NOT_COMPOSED}"
                    )


def _same_letters(data: Iterable[FileData]) -> Iterator[str]:
    """Data that are read in other letters, none of which the rules change."""
    for each in data:
        if each.letters and each.is_here:
            with suppress(InputError):  # which a run says of the file
                if each.read() == each.model_copy(update={"letters": None, "rules": None}).read():
                    yield f"{each.name}: {each.letters} changes no letter of the {each.split} split"


def _strange_codes(data: Iterable[FileData]) -> Iterator[str]:
    for each in data:
        if each.language not in LANGUAGES and not is_language(each.language):
            yield f"{each.name}: no language is known by the code {each.language!r}, so that it is a label alone"


def _worlds(values: Iterable[object]) -> Iterator[str]:
    """Several artificial worlds: what was learned of one is of no use in another."""
    seeds = {value.seed for value in values if isinstance(value, WorldData | WorldText | WorldPairs)}
    if any(isinstance(value, Load) and value.name in shipped_encoders() for value in values):
        seeds.add(SHIPPED_WORLD)
    if len(seeds) > 1:
        yield (
            f"artificial worlds of the seeds {', '.join(map(str, sorted(seeds)))} are read, whose languages have no "
            "words in common: see that `world_seed` is the `seed` of all text and pairs; the shipped encoders know "
            f"world {SHIPPED_WORLD}"
        )


def _same_encoders(values: Iterable[object]) -> Iterator[str]:
    """Encoders of several names whose files are the same."""
    names: dict[str, dict[str, None]] = {}
    for value in values:
        if isinstance(value, Load):
            names.setdefault(value.content, {})[value.name] = None
    for same in names.values():
        if len(same) > 1:
            yield f"{' and '.join(same)} are one encoder, file by file, so that their numbers differ in nothing"


def _rates(steps: Iterable[Step]) -> Iterator[str]:
    """Wide encoders whose layers are trained with the rate of narrow ones, which is the default."""
    tuned = (step for step in steps if isinstance(step, Adapt) or (isinstance(step, Tune) and _trains_layers(step)))
    rates = {(step.encoder.labels["encoder"], step.tuning.learning_rate): step.encoder for step in tuned}
    for (name, rate), encoder in rates.items():
        shape = shape_of(encoder)
        if shape is not None and shape.width >= WIDE and rate > MOST_OF_WIDE:
            yield (
                f"{name}, {shape.width} wide, is tuned with a learning rate of {rate:g}, which suits encoders about "
                "64 wide; for BERT-base and larger 2e-05 to 5e-05 are usual (tasks of a built-in study: `--with "
                "learning_rate=2e-5`; in a YAML file: `tuning: {learning_rate: 2e-5}`)"
            )


def _trains_layers(step: Tune) -> bool:
    """Whether weights of the encoder's layers are trained: all or some of them, and no adapters in their place."""
    schedule, layers = step.schedule, step.encoder.layers
    if schedule is None or layers is None:
        return schedule is None
    return schedule.lora is None and any(stage is not None for stage in schedule.entry_stages(layers))
