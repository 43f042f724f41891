"""Encoders that a study makes by masked language modelling: from scratch, or from one that exists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed
from babelscope.core.step import Needs, Results, Workspace
from babelscope.corpora.codes import known_as
from babelscope.corpora.datasets import FileData
from babelscope.corpora.parallel import ParallelText
from babelscope.corpora.world_text import WorldText
from babelscope.encoders.footprint import Footprint
from babelscope.encoders.shape import Shape
from babelscope.steps.curves import curve_rows
from babelscope.steps.encoder import EncoderStep
from babelscope.steps.memory import memory_of
from babelscope.tuning.settings import Tuning

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder

ENCODER_FOLDER = "encoder"
"""Where a result has the encoder."""


class Learned(EncoderStep):
    """What trained encoders have in common: a name, and a folder in the store."""

    row_kind: ClassVar[str] = "curve"

    name: str
    tuning: Tuning
    seed: NonNegativeInt

    @property
    def read_texts(self) -> tuple[Any, ...]:
        """The declared texts that it is trained on."""
        raise NotImplementedError

    @property
    def predicted(self) -> float:
        """The share of tokens that a masked language model head predicts."""
        return 0.0

    @property
    def needs(self) -> Needs:
        tuning = self.tuning
        memory = 0 if tuning.device == "cpu" else memory_of(self, tuning, self.predicted)
        return Needs.on(tuning.device, tuning.threads, memory)

    def build(self, results: Results) -> Encoder:
        """The encoder that the step wrote."""
        from babelscope.encoders.load import load_encoder

        return replace(load_encoder(results.result(self) / ENCODER_FOLDER), name=self.name)

    @property
    def labels(self) -> dict[str, Any]:
        return {"encoder": self.name}


class Pretrain(Learned):
    """A small BERT and its WordPiece tokenizer, trained from scratch; declared as a `Pretraining`."""

    texts: tuple[WorldText | FileData, ...]
    vocabulary_size: PositiveInt
    shape: Shape
    masking: float

    @property
    def read_texts(self) -> tuple[Any, ...]:
        return self.texts

    @property
    def predicted(self) -> float:
        return self.masking

    @property
    def layers(self) -> int | None:
        return self.shape.layers

    @property
    def footprint(self) -> Footprint:
        """The sizes that memory depends on."""
        made = self.shape
        return Footprint(made.layers, made.hidden, made.heads, made.feed_forward, self.vocabulary_size)

    @property
    def title(self) -> str:
        return f"pre-train {self.name}"

    def execute(self, workspace: Workspace) -> None:
        """Write the encoder's folder and the curve of its training loss."""
        from babelscope.encoders.shape import new_encoder
        from babelscope.encoders.tokenizer import train_wordpiece

        natural = [text.natural() if isinstance(text, WorldText) else text for text in self.texts]
        lines = _lines(natural)
        tokenizer = train_wordpiece(lines, self.vocabulary_size)
        if natural != list(self.texts):
            lines = _lines(self.texts)
        encoder = new_encoder(self.shape, tokenizer, derive_seed(self.seed, "weights"), self.name)
        _learn(self, encoder, {"": lines}, workspace)


class Adapt(Learned):
    """Continued pre-training: masked language modelling on other text; declared as an `Adaptation`.

    Text in a language that has a tokenizer of its own in the encoder is read with that, transliterated text with the
    encoder's.
    """

    encoder: SerializeAsAny[EncoderStep]
    texts: tuple[WorldText | FileData, ...]
    parallel: tuple[ParallelText, ...] = ()
    new_pieces: PositiveInt | None = None
    masking: float
    edition: PositiveInt = 1
    """2 where epochs have more steps than were counted once: those of texts that are read with several tokenizers."""

    @property
    def read_texts(self) -> tuple[Any, ...]:
        return (*self.texts, *self.parallel)

    @property
    def predicted(self) -> float:
        return self.masking

    @property
    def layers(self) -> int | None:
        return self.encoder.layers

    @property
    def most_added_pieces(self) -> int:
        return self.new_pieces or 0

    @property
    def brought_in(self) -> tuple[str, ...] | None:
        return self.encoder.brought_in

    @property
    def title(self) -> str:
        return f"adapt {self.encoder.labels['encoder']}: {self.name}"

    def execute(self, workspace: Workspace) -> None:
        """Write the encoder's folder and the curve of its training loss.

        Text in several languages that have tokenizers of their own is learnt in batches of one language.

        Raises:
            InputError: there are pairs of sentences, and languages have tokenizers of their own.
        """
        from babelscope.encoders.extend import extend_vocabulary
        from babelscope.encoders.load import with_mlm_head

        encoder = self.encoder.build(workspace)
        self.check_pairs(encoder.languages)
        lines, pairs = _lines(self.texts), [pair for text in self.parallel for pair in text.read()]
        if self.new_pieces:
            encoder = extend_vocabulary(encoder, [*lines, *chain.from_iterable(pairs)], self.new_pieces)
        learned = {code: _lines(texts) for code, texts in self.by_tokenizer(encoder.languages).items()}
        _learn(self, with_mlm_head(encoder, derive_seed(self.seed, "head")), learned, workspace, pairs)

    def by_tokenizer(self, languages: Collection[str]) -> dict[str, list[WorldText | FileData]]:
        """The texts by which of these languages, with tokenizers of their own, they are in; all others are together."""
        found: dict[str, list[WorldText | FileData]] = {}
        for text in self.texts:
            found.setdefault(known_as(text.code, languages), []).append(text)
        return found

    def check_pairs(self, brought_in: Collection[str]) -> None:
        """Refuse pairs of sentences where the encoder has tokenizers of its own for languages.

        Raises:
            InputError: it has, and there are pairs.
        """
        if brought_in and self.parallel:
            name = self.encoder.labels["encoder"]
            raise InputError(
                f"{self.name}: pairs of sentences, but {name} reads {', '.join(brought_in)} each with a tokenizer of "
                "its own, and a sequence is read with one",
                "Give texts and no `parallel`, or adapt the encoder before languages are brought in",
            )


def _lines(texts: Iterable[WorldText | FileData]) -> list[str]:
    return [line for text in texts for line in text.read()]


def _learn(
    step: Pretrain | Adapt,
    encoder: Encoder,
    lines: Mapping[str, list[str]],
    workspace: Workspace,
    pairs: Sequence[tuple[str, str]] = (),
) -> None:
    """Train the encoder on text by language; embeddings that the text cannot have stay as they are."""
    from babelscope.encoders.bring_in import reading_only, with_the_rest
    from babelscope.tuning.language import learn_language

    trained = reading_only(encoder, lines)
    (language, alone), *others = lines.items() or [("", [])]
    history = learn_language(
        trained if others else trained.reading(language), lines if others else alone, workspace.folder,
        tuning=step.tuning, masking=step.masking, seed=step.seed, progress=workspace.progress, pairs=pairs,
    )  # fmt: skip
    keep_encoder(with_the_rest(trained, encoder, lines), workspace)
    workspace.write_rows(curve_rows(history.points, step.labels | {"task": "mlm", "seed": step.seed}))


def keep_encoder(encoder: Encoder, workspace: Workspace) -> None:
    """Write a trained encoder's folder, in place of what its training went on from."""
    from babelscope.encoders.load import save_encoder

    save_encoder(encoder, workspace.folder / ENCODER_FOLDER)
    for weights in workspace.folder.glob("*.safetensors"):
        weights.unlink()
