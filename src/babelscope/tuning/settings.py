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

    The defaults suit the fine-tuning of small encoders (hidden size 64 or so). For encoders of BERT-base size and
    larger the usual start is `learning_rate=2e-5, epochs=3, examples_per_batch=32, warmup=0.1`.
    """

    learning_rate: PositiveFloat = 5e-4
    """The highest learning rate, at the end of the warm-up."""
    epochs: PositiveInt | None = None
    """Passes over the training examples. Give this or `steps`. With neither there are 6 epochs."""
    steps: PositiveInt | None = None
    """Optimizer steps."""
    tokens_per_batch: PositiveInt | None = DEFAULT_TOKENS
    """At most how many tokens a batch has, padding included. Give this or `examples_per_batch`; with neither: 512."""
    examples_per_batch: PositiveInt | None = None
    """Examples in a batch (sentences, pairs, lines), whatever their length, as papers count.

    The last batch of an epoch is the rest, unless `batches` leaves it out. An example that is read in several windows
    is in one batch, unless a quirk divides it.
    """
    micro_tokens: PositiveInt | Literal["auto"] | None = None
    """At most how many tokens are computed at once, padding included, where a batch is too large for the memory.

    The batch is computed in portions, and their gradients are added up. Dropout and masks are then drawn for each
    example by itself. Another number therefore changes last digits alone.

    - None: the whole batch is computed at once, and dropout and masks are drawn for all of it.
    - `auto`: as many tokens as 16 GiB of an accelerator are expected to hold. Where that is the whole batch, it is the
      same as `null`; so it is on a CPU, and for an encoder whose shape cannot be seen.
    """
    recompute: bool = False
    """Whether the hidden states inside the layers are computed a second time for the gradient, rather than kept.

    A step then takes about a third more time and much less memory.
    """
    batches: Literal["mixed", "one-language", "drawn"] = "mixed"
    """What a batch holds where there are several training languages.

    - `mixed`: examples of any of them.
    - `one-language`: examples of one of them. Each language comes as often as its share of the data.
    - `drawn`: examples of one of them, as in published code (Wu et al., 2022). The language is drawn by its share of
      the data, until its full batches are used up. What is left of it is left out. It needs `examples_per_batch`.
    """
    warmup: Share = 0.06
    """Share of the steps in which the learning rate rises linearly from 0. Then it falls linearly to 0."""
    weight_decay: NonNegativeFloat = 0.01
    """Decoupled weight decay. Parameters of one dimension (biases, normalisation weights) have none."""
    betas: tuple[Share, Share] = (0.9, 0.999)
    """Decay of AdamW's running means of the gradient and of its square."""
    epsilon: PositiveFloat = 1e-8
    """Added to AdamW's denominator."""
    bias_correction: bool = True
    """Whether AdamW corrects its running means for their start at 0. `false` is as in BERT's own code."""
    epsilon_before_correction: bool = False
    """Whether `epsilon` is added before AdamW corrects its running means, as `transformers.AdamW` did to version 4.

    It is then larger in the first steps, about 30 times in the first one.
    """
    clip: PositiveFloat | None = 1.0
    """Largest norm of the gradient; None: it is not clipped."""
    dropout: Share = 0.1
    """Dropout of the task's head. The encoder's own dropout is in its configuration."""
    encoder_dropout: bool = True
    """Whether the encoder has the dropout of its configuration while it is trained, or none."""
    max_length: PositiveInt | None = None
    """At most how many tokens a sequence has; None: as many as the encoder has positions for."""
    validate_every: PositiveInt | None = None
    """Steps between validations; None: a validation after each epoch. The last step is always validated."""
    validations_per_epoch: PositiveInt | None = None
    """Validations in equal parts of each epoch, the last at its end. Give this, `validate_every`, or neither."""
    patience: PositiveInt | None = None
    """Training stops early after so many validations without a new best; None: never."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """`bfloat16` is autocast: weights and optimizer stay in float32."""
    device: Device = "cpu"
    """Where the model is trained. `auto` is the accelerator that the machine has, else the CPU.

    Results of different devices are kept apart, since the numbers differ.
    """
    compile: bool = False
    """Whether the layers of an encoder are compiled by torch, for `device: cuda` with `precision: bfloat16`.

    A step is then faster, and has other last digits. Compiling takes a while at the start of each training, so that it
    pays in long ones alone: `babelscope doctor` says from how many steps on. It has no effect with a schedule or
    `head: family`.
    """
    threads: Annotated[int, Field(gt=0, le=1024)] = 1
    """CPU threads of one training run. Another number of threads changes the last digits."""

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
    def _with_a_correction(self) -> Self:
        if self.epsilon_before_correction and not self.bias_correction:
            raise ValueError("epsilon_before_correction: true is of a correction, but bias_correction is false")
        return self

    @model_validator(mode="after")
    def _recomputed_in_training_mode(self) -> Self:
        if self.recompute and not self.encoder_dropout:
            raise ValueError("recompute and encoder_dropout: false do not go together; leave one of the two out")
        return self

    @model_validator(mode="after")
    def _compiled_as_a_whole(self) -> Self:
        if not self.compile:
            return self
        if self.device != "cuda" or self.precision != "bfloat16":
            given = f"they are {self.device} and {self.precision}"
            raise ValueError(
                f"compile: true takes device: cuda and precision: bfloat16; {given}. Or leave `compile` out"
            )
        others = {"micro_tokens": self.micro_tokens, "recompute": self.recompute}
        others["encoder_dropout: false"] = not self.encoder_dropout
        if found := [name for name, given in others.items() if given]:
            raise ValueError(f"compile and {found[0]} do not go together; leave one of the two out")
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


def check_full(examples: Iterable[int], size: int) -> None:
    """Refuse full batches of so many examples where there are fewer of a language.

    Raises:
        InputError: none of these would be read.
    """
    fewest = min(examples)
    if fewest < size:
        raise InputError(
            f"batches: drawn has full batches, but of one of the training languages there are {fewest} examples, fewer "
            f"than {size}, so that none would be read",
            f"Write `examples_per_batch: {fewest}` or fewer, or `batches: one-language`",
        )


def _counted(tuning: Tuning) -> Tuning:
    if tuning.micro_tokens == "auto":
        raise ValueError(_NO_AUTO)
    return tuning


CountedTuning = Annotated[Tuning, AfterValidator(_counted)]
"""Settings without `micro_tokens: auto`, which is resolved for the tuning of a task alone."""


def _of_a_bilstm(tuning: Tuning) -> Tuning:
    for name, value in (("micro_tokens", tuning.micro_tokens), ("recompute", tuning.recompute)):
        if value:
            raise ValueError(f"{name}={value}: a BiLSTM is trained on whole batches, without layers to compute twice")
    if tuning.compile:
        raise ValueError("compile=true: a BiLSTM has no layers of an encoder to compile")
    if not tuning.encoder_dropout:
        raise ValueError("encoder_dropout=false: a BiLSTM has no encoder, and its `dropout` is its own")
    return tuning


RecurrentTuning = Annotated[Tuning, AfterValidator(_of_a_bilstm)]
"""Settings of a BiLSTM."""
RECURRENT = Tuning(learning_rate=4e-3, epochs=20, tokens_per_batch=500, dropout=0.33)
"""What a BiLSTM trained from scratch needs, whatever the encoders beside it are tuned with."""
LEAST_READ = 8_000
"""Labelled sentences that a training should read at least, again and again where there are fewer. How long a model has
to be trained does not fall with the number of sentences (Zhang et al., 2021; Mosbach et al., 2021)."""


def reading(least: int, tuning: Tuning, sentences: int) -> Tuning:
    """These settings with at least as many epochs as it takes to read `least` of so many sentences in all."""
    return tuning.model_copy(update={"epochs": max(tuning.epochs or 0, ceil(least / sentences))})
