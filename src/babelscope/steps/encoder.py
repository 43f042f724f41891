"""Steps that stand for an encoder: one that exists, one whose weights are operated on, or none at all."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import NonNegativeInt, SerializeAsAny

from babelscope.core.step import Results, Step
from babelscope.encoders.folder import LANGUAGES, layer_count
from babelscope.encoders.heads import has_mlm_head
from babelscope.encoders.places import Place
from babelscope.surgery import AnyOperation, apply, count_layers, donors_of

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class EncoderStep(Step):
    """A step that stands for an encoder."""

    def build(self, results: Results) -> Encoder:
        """The encoder in evaluation mode, a fresh one at each call."""
        raise NotImplementedError

    @property
    def labels(self) -> dict[str, Any]:
        """The columns that this step determines in the rows of whatever is measured on it."""
        raise NotImplementedError

    @property
    def layers(self) -> int | None:
        """How many it has, where that can be seen before it is built."""
        return None

    @property
    def most_added_pieces(self) -> int:
        """How many rows, at most, it adds to the vocabulary of the encoder that it is made of; not a donor's."""
        return 0

    @property
    def has_mlm_head(self) -> bool | None:
        """Whether it can predict masked tokens, where that can be seen before it is built."""
        return True

    @property
    def brought_in(self) -> tuple[str, ...] | None:
        """The codes of languages with tokenizers of their own in it; None: that cannot be seen before it is built."""
        return ()


class Load(EncoderStep):
    """An encoder that exists: shipped with the package, in a local folder, or on the Hugging Face hub.

    `content` is the digest of a folder's files, or the hub's commit; the place itself is not in the key.
    """

    stored: ClassVar[bool] = False
    unkeyed: ClassVar[frozenset[str]] = frozenset({"place"})

    name: str
    content: str
    place: str

    @classmethod
    def at(cls, place: Place) -> Load:
        """The encoder at a place."""
        return cls(name=place.name, content=place.content, place=place.path)

    def build(self, results: Results) -> Encoder:
        return self.read()

    def read(self) -> Encoder:
        """The encoder at the step's place, which must still hold what the step was planned with."""
        from babelscope.encoders.load import load_located

        return load_located(Place(self.name, self.content, self.place))

    @property
    def labels(self) -> dict[str, Any]:
        return {"encoder": self.name}

    @cached_property
    def layers(self) -> int | None:
        return layer_count(self.place)

    @property
    def has_mlm_head(self) -> bool | None:
        return has_mlm_head(self.place)

    @cached_property
    def brought_in(self) -> tuple[str, ...] | None:
        folder = Path(self.place)
        own = (folder / LANGUAGES).glob("*/tokenizer.json")
        return tuple(sorted(tokenizer.parent.name for tokenizer in own)) if folder.is_dir() else None


class Operate(EncoderStep):
    """Operations on an encoder's weights, one after the other."""

    stored: ClassVar[bool] = False

    encoder: SerializeAsAny[EncoderStep]
    surgery: str
    """The name that the operations go by together."""
    operations: tuple[AnyOperation, ...]
    donors: tuple[SerializeAsAny[EncoderStep], ...] = ()
    """The encoders that operations take something from, in the order in which these name them."""
    seed: NonNegativeInt
    """0 if chance has no part in any of them."""

    def build(self, results: Results) -> Encoder:
        """The operated encoder."""
        return self.applied(self.encoder.build(results), results)

    def applied(self, encoder: Encoder, results: Results) -> Encoder:
        """What the operations make of an encoder."""
        return apply(encoder, self.operations, self.seed, self.built_donors(results))

    def built_donors(self, results: Results) -> dict[str, Encoder]:
        """The encoders that they take weights from, by name."""
        names = donors_of(self.operations)
        return {name: donor.build(results) for name, donor in zip(names, self.donors, strict=True)}

    @property
    def labels(self) -> dict[str, Any]:
        return self.encoder.labels | {"surgery": self.surgery} | ({"seed": self.seed} if self.seeded else {})

    @property
    def layers(self) -> int | None:
        return count_layers(self.operations, self.encoder.layers)

    @property
    def has_mlm_head(self) -> bool | None:
        return self.encoder.has_mlm_head

    @property
    def brought_in(self) -> tuple[str, ...] | None:
        return self.encoder.brought_in

    @property
    def seeded(self) -> bool:
        """Whether chance has a part in the operations."""
        return any(operation.seeded for operation in self.operations)


class Recurrent(EncoderStep):
    """No encoder: a BiLSTM over embeddings of words and characters, all learned from the task's own training data."""

    stored: ClassVar[bool] = False

    @property
    def labels(self) -> dict[str, Any]:
        return {"encoder": "bilstm"}
