"""Encoders as Python has them: one that exists, with the operations on its weights that are declared so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from babelscope.core.errors import InputError
from babelscope.core.validation import declare
from babelscope.corpora.parallel import SOURCE
from babelscope.encoders.places import Place, installed_folder, locate
from babelscope.engine.store import Store
from babelscope.face import html
from babelscope.face.arguments import check_each, reading
from babelscope.face.kept import keep
from babelscope.face.session import open_store
from babelscope.steps import EncoderStep, Load, Operate
from babelscope.study.declare import Sizes, Surgery
from babelscope.surgery import Operation, describe, donors_of, parse_operation
from babelscope.tuning.schedule import Schedule
from babelscope.tuning.settings import Tuning

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from babelscope.encoders.load import Encoder as LoadedEncoder
    from babelscope.face.tuned import Tuned


@dataclass(frozen=True)
class Encoder:
    """An encoder, and the operations on its weights that are declared so far. Nothing is computed before it is needed.

    Made by `load`, and by `operate` of another.
    """

    place: Place
    """Its name, the digest of its content, and where it is."""
    store: Store
    """Where the results that are computed with it are kept."""
    surgery: Surgery | None = None

    @property
    def name(self) -> str:
        """What rows call it."""
        return self.place.name

    @property
    def source(self) -> str:
        """How a study names it."""
        return self.name if installed_folder(self.name) == Path(self.place.path) else self.place.path

    def operate(self, *operations: str | Operation, name: str | None = None) -> Encoder:
        """The encoder after operations on its weights, done in this order, after those that it has already.

        Args:
            operations: as text, such as `reverse` or `drop:last=6`, or declared.
            name: what rows call all of its operations together; default: the operations as text.

        Raises:
            InputError: no operation is given, or there is none of that name or with such arguments.
        """
        check_each("operate", operations, "an operation", "reverse or drop:last=6", (str, Operation))
        given = [parse_operation(text) if isinstance(text, str) else text for text in operations]
        done = (*(self.surgery.operations if self.surgery else ()), *given)
        written = operations[0] if len(done) == 1 and isinstance(operations[0], str) else describe(done)
        surgery = declare(lambda: Surgery(name=written if name is None else name, operations=done), "operate", Surgery)
        return replace(self, surgery=surgery)

    def bring_in(
        self,
        language: str,
        *parallel: str,
        name: str | None = None,
        source: str = SOURCE,
        pairs: int | None = None,
        pieces: int | None = None,
        keep_accents: bool = True,
    ) -> Encoder:
        """The encoder with a language brought in by translated sentences, without training; kept in the store's folder.

        The folder, `place.path`, has a card that says whose sentences they are.

        Args:
            language: its code, as data sets have it, such as `it`.
            parallel: sentences with their translations, such as `ntrex:it`, or a file of pairs, `pairs.tsv`.
            name: what rows call it; default: this name, + and the code.
            source: the code of what the translations are from, which the encoder reads.
            pairs: how many are read at most; default: all.
            pieces: how many are learned at most; default: by the amount of text.
            keep_accents: whether accents stay that an uncased encoder strips.

        Raises:
            InputError: there is no such text, or the language cannot be brought in.
        """
        from babelscope.core.validation import validate
        from babelscope.face.bring_in import Wanted, recorded

        check_each("bring_in", parallel, "a text with translations", "ntrex:it or pairs.tsv")
        given = {
            "language": language, "parallel": parallel, "source": source, "pairs": pairs, "pieces": pieces,
            "keep_accents": keep_accents,
        }  # fmt: skip
        wanted = validate(Wanted, given, "bring_in")
        grown, records = recorded(self.build(), self.place, wanted)
        named = replace(grown, name=name or f"{self.title}+{language}")
        return Encoder(keep(named, self.store, records), self.store)

    def tune(
        self,
        task: str,
        /,
        train: str | Sequence[str],
        *,
        seed: int = 0,
        sizes: Sizes | Mapping[str, Any] | None = None,
        tuning: Tuning | Mapping[str, Any] | None = None,
        schedule: Schedule | Mapping[str, Any] | str | None = None,
        jobs: int | None = None,
        **more: Any,
    ) -> Tuned:
        """Train it on a task, as a study does: the same step, kept in the store under the same key.

        Args:
            task: such as `pos`; `babelscope list tasks` names them. Or a name of one's own, with `task` among the
                further keys, as in a study.
            train: one data set or several, such as `world:qaa` or `UD_English-EWT`; their dev splits select the best
                step.
            seed: of the task's head, the order of the data and dropout, and of operations that draw at random.
            sizes: at most how many examples of each split: `train` (1500), `dev` (300) and `test` (500).
            tuning: settings of the training, such as `{"epochs": 3, "learning_rate": 2e-5}`.
            schedule: which part of the encoder is trained, and when, such as `freeze:8`.
            jobs: steps at once; default: as the cores allow.
            more: further keys of a study's task, such as `head`, `shots` or `entity_types`.

        Raises:
            StudyError: a key, a data set or the encoder cannot be used; all faults at once.
            StepError: the training failed.
        """
        from babelscope.face.tuned import tune

        if train is None:
            raise InputError("tune: train is a data set or several, such as world:qaa (given: None)")
        given = {"train": train, "sizes": sizes, "tuning": tuning, **more}
        declared = {key: value for key, value in given.items() if value is not None}
        return tune(self.source, self.surgery, self.store, task, declared, schedule, seed, jobs)

    def step(self, seed: int = 0) -> EncoderStep:
        """The step that stands for it in plans; operations that draw at random draw with the seed.

        Raises:
            EncoderError: a donor that an operation names is not found.
            StudyError: the seed is none.
        """
        whole = Load.at(self.place)
        if self.surgery is None:
            return whole
        name, operations = self.surgery.name, self.surgery.operations
        donors = tuple(Load.at(locate(donor)) for donor in donors_of(operations))
        drawn = seed if any(operation.seeded for operation in operations) else 0
        return declare(
            lambda: Operate(encoder=whole, surgery=name, operations=operations, donors=donors, seed=drawn),
            self.title, Operate,
        )  # fmt: skip

    def build(self, seed: int = 0, language: str | None = None) -> LoadedEncoder:
        """Its model and tokenizer in memory (`.model`, `.tokenizer`), in evaluation mode, a fresh one at each call.

        Args:
            seed: of operations that draw at random.
            language: one that has a tokenizer of its own, which is the encoder's then.

        Raises:
            EncoderError: its files cannot be used, or have changed since it was loaded.
            InputError: an operation does not suit it, or other languages alone have tokenizers of their own.
        """
        from babelscope.engine.trained import FinishedSteps

        return replace(reading(self.step(seed).build(FinishedSteps(self.store)), language), name=self.name)

    @cached_property
    def anatomy(self) -> dict[str, str | int]:
        """Family, layers, hidden size, parameters and vocabulary, after the operations."""
        encoder = self.build()
        config = encoder.model.config
        return {
            "family": config.model_type,
            "layers": config.num_hidden_layers,
            "hidden size": config.hidden_size,
            "parameters": sum(weight.numel() for weight in encoder.model.parameters()),
            "vocabulary": len(encoder.tokenizer),
        }

    def __repr__(self) -> str:
        return f"<Encoder {self.title}>"

    @property
    def title(self) -> str:
        """Its name, and what was done to it."""
        return f"{self.name} ({self.surgery.name})" if self.surgery else self.name

    def _repr_html_(self) -> str:
        lines = [(key, f"{value:,}" if isinstance(value, int) else value) for key, value in self.anatomy.items()]
        return html.table((), lines, caption=self.title)


@overload
def load(source: str | Path, *, store: Store | Path | str | None = None) -> Encoder: ...


@overload
def load(
    source: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    *,
    name: str,
    store: Store | Path | str | None = None,
) -> Encoder: ...


@overload
def load(source: LoadedEncoder, *, name: str, store: Store | Path | str | None = None) -> Encoder: ...


def load(
    source: str | Path | PreTrainedModel | LoadedEncoder,
    tokenizer: PreTrainedTokenizerBase | None = None,
    *,
    name: str | None = None,
    store: Store | Path | str | None = None,
) -> Encoder:
    """An encoder to operate on, to tune and to measure.

    Args:
        source: a shipped encoder, a folder, or a name on the Hugging Face hub; or a model of transformers, or what
            `Encoder.build` gives. What is in memory is written to the store's folder as it is now, so that steps can
            load it; later changes of the model are not seen.
        tokenizer: of a model in memory.
        name: what rows call a model in memory.
        store: for results, a folder or `s3://BUCKET/FOLDER`; default: the environment's BABELSCOPE_STORE, or
            `babelscope-store`.

    Raises:
        EncoderError: there is no such encoder, its family is not known, or its files cannot be used.
        InputError: a name or a tokenizer is given for what has one, or is missing for what has none.
    """
    kept = open_store(store)
    if isinstance(source, str | Path):
        if tokenizer is not None or name is not None:
            raise InputError("tokenizer and name are for a model in memory; leave them out with a name or a folder")
        return Encoder(locate(str(source)), kept)
    return Encoder(keep(_in_memory(source, tokenizer, name), kept), kept)


def _in_memory(
    source: PreTrainedModel | LoadedEncoder, tokenizer: PreTrainedTokenizerBase | None, name: str | None
) -> LoadedEncoder:
    from babelscope.encoders.given import given_encoder
    from babelscope.encoders.load import Encoder as LoadedEncoder

    if not (isinstance(source, LoadedEncoder) or hasattr(source, "config")):
        raise InputError(f"load: {source!r:.100} is not a name, a folder, or a model of transformers")
    if not (name and isinstance(name, str)):
        raise InputError("a model in memory needs a name for rows: load(model, tokenizer, name='mine')")
    if isinstance(source, LoadedEncoder):
        named = replace(source, name=name)
        return replace(named, tokenizer=tokenizer, languages={}) if tokenizer else named
    if tokenizer is None:
        raise InputError("a model in memory needs its tokenizer: load(model, tokenizer, name='mine')")
    return given_encoder(source, tokenizer, name)
