"""How a model is trained: everything about it that can change a number."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from babelscope.core.declaration import Declaration
from babelscope.core.devices import Device
from babelscope.core.errors import InputError

DEFAULT_TOKENS = 512
_VALIDATIONS = ("validate_every", "validations_per_epoch")
_NO_AUTO = "micro_tokens: auto is for encoders that are tuned on the tasks of a study; give a number, or leave it out"

Share = Annotated[float, Field(ge=0, lt=1)]


class Tuning(Declaration):
    """Settings of a training run.

    The defaults suit fine-tuning small encoders (hidden size 64 or so). For encoders of BERT-base size and more,
    `learning_rate=2e-5, epochs=3, examples_per_batch=32, warmup=0.1` is the usual start.
    """

    learning_rate: PositiveFloat = 5e-4
    """The highest, at the end of the warm-up."""
    epochs: PositiveInt | None = None
    """Passes over the training examples; give this or `steps`. Neither: 6 epochs."""
    steps: PositiveInt | None = None
    """Optimizer steps."""
    tokens_per_batch: PositiveInt | None = DEFAULT_TOKENS
    """Pieces in a batch at most, padding included; give this or `examples_per_batch`. Neither: 512."""
    examples_per_batch: PositiveInt | None = None
    """Examples in a batch (sentences, pairs, lines), however long, as papers count; the last batch of an epoch is the
    rest, unless `batches` leaves it out. An example that is read in several windows is in one batch, unless by a quirk.
    """
    micro_tokens: PositiveInt | Literal["auto"] | None = None
    """Pieces that are computed at once, padding included, where a batch is too large for the memory: its gradient is
    added up over portions of at most so many. What is drawn at random (dropout, masks) is then drawn for each example
    by itself, so that another number changes last digits alone. None: a batch at once, drawn for all of it. `auto`:
    what 16 GiB of an accelerator are expected to hold; None where that is a batch, and on a processor."""
    recompute: bool = False
    """Whether the states inside of layers are computed a second time, for the gradient, rather than kept: about a third
    more time, and much less memory."""
    batches: Literal["mixed", "one-language", "drawn"] = "mixed"
    """What a batch holds of several training languages: any of them, or one, as often as its share of the data. drawn:
    as published code had it (Wu et al. 2022), one language that is drawn by its share of the data, until its full
    batches are used up; what is left of it is left out. With `examples_per_batch`."""
    warmup: Share = 0.06
    """Share of the steps in which the learning rate rises linearly from 0; then it falls linearly to 0."""
    weight_decay: NonNegativeFloat = 0.01
    """Decoupled; not on biases and normalisation weights (any parameter of one dimension)."""
    betas: tuple[Share, Share] = (0.9, 0.999)
    """Decay of AdamW's running means of the gradient and of its square."""
    epsilon: PositiveFloat = 1e-8
    """Added to AdamW's denominator."""
    bias_correction: bool = True
    """Whether AdamW corrects its running means for their start at 0; false: as BERT's own code."""
    clip: PositiveFloat | None = 1.0
    """Largest norm of the gradient; None: not clipped."""
    dropout: Share = 0.1
    """Of the task's head; the encoder's own dropout is in its configuration."""
    encoder_dropout: bool = True
    """Whether the encoder drops units while it is trained, as its configuration says; false: none."""
    max_length: PositiveInt | None = None
    """Pieces in a sequence at most; None: what the encoder has positions for."""
    validate_every: PositiveInt | None = None
    """Steps between validations; None: after each epoch. The last step is always validated."""
    validations_per_epoch: PositiveInt | None = None
    """Validations in equal parts of each epoch, the last at its end; give this or `validate_every`, or neither."""
    patience: PositiveInt | None = None
    """Validations without a new best after which training stops early; None: never."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """bfloat16 is autocast: weights and optimizer stay in float32."""
    device: Device = "cpu"
    """What it is trained on. `auto` is the accelerator that the machine has, else cpu; results of different devices are
    kept apart, since the numbers differ."""
    threads: Annotated[int, Field(gt=0, le=1024)] = 1
    """Of one training run on a CPU. Another number of threads changes the last digits."""

    @model_validator(mode="before")
    @classmethod
    def _one_of_each(cls, given: Any) -> Any:
        """One duration, one size of batches, at most one rhythm of validations."""
        if not isinstance(given, dict):
            return given
        for pair in (("epochs", "steps"), ("tokens_per_batch", "examples_per_batch"), _VALIDATIONS):
            if all(given.get(name) is not None for name in pair):
                raise ValueError(f"{' and '.join(f'{name}={given[name]}' for name in pair)}: give one of them")
        filled = dict(given)
        if given.get("epochs") is None and given.get("steps") is None:
            filled["epochs"] = 6
        if given.get("batches") == "drawn" and given.get("examples_per_batch") is None:
            raise ValueError("batches: drawn has full batches of examples: give examples_per_batch")
        if given.get("tokens_per_batch") is None:
            filled["tokens_per_batch"] = None if given.get("examples_per_batch") is not None else DEFAULT_TOKENS
        return filled

    @model_validator(mode="after")
    def _recomputed_in_training_mode(self) -> Self:
        if self.recompute and not self.encoder_dropout:
            raise ValueError("recompute and encoder_dropout: false do not go together; leave one of the two out")
        return self

    @property
    def at_once(self) -> int | None:
        """Pieces that are computed at once; None: a batch.

        Raises:
            InputError: that is `auto`, which the steps of a study have resolved.
        """
        if self.micro_tokens == "auto":
            raise InputError(_NO_AUTO)
        return self.micro_tokens

    @property
    def apart(self) -> Self:
        """The same with batches of one language, as texts are learnt that are read with tokenizers of their own."""
        return self.model_copy(update={"batches": "one-language"}) if self.batches == "mixed" else self

    def batches_of(self, examples: Iterable[int]) -> int | None:
        """Batches in an epoch over so many examples of each training language; None where lengths decide."""
        if self.examples_per_batch is None:
            return None
        parts = (sum(examples),) if self.batches == "mixed" else tuple(examples)
        if self.batches == "drawn" and len(parts) > 1:
            return sum(part // self.examples_per_batch for part in parts)
        return sum(ceil(part / self.examples_per_batch) for part in parts)

    def steps_of(self, examples: Iterable[int]) -> int | None:
        """Optimizer steps of a run over so many examples of each training language; None where lengths decide."""
        if self.steps is not None:
            return self.steps
        batches = self.batches_of(examples)
        return None if batches is None or self.epochs is None else self.epochs * batches


def _counted(tuning: Tuning) -> Tuning:
    if tuning.micro_tokens == "auto":
        raise ValueError(_NO_AUTO)
    return tuning


CountedTuning = Annotated[Tuning, AfterValidator(_counted)]
"""Settings without `micro_tokens: auto`: the memory of what they are for is not estimated."""


def _of_a_bilstm(tuning: Tuning) -> Tuning:
    for name, value in (("micro_tokens", tuning.micro_tokens), ("recompute", tuning.recompute)):
        if value:
            raise ValueError(f"{name}={value}: a BiLSTM is trained on whole batches, without layers to compute twice")
    if not tuning.encoder_dropout:
        raise ValueError("encoder_dropout=false: a BiLSTM has no encoder, and its `dropout` is its own")
    return tuning


RecurrentTuning = Annotated[Tuning, AfterValidator(_of_a_bilstm)]
"""Settings of a BiLSTM."""
RECURRENT = Tuning(learning_rate=4e-3, epochs=20, tokens_per_batch=500, dropout=0.33)
"""What a BiLSTM trained from scratch needs, whatever the encoders beside it are tuned with."""
