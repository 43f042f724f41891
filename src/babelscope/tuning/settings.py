"""How a model is trained: everything about it that can change a number."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from babelscope.core.declaration import Declaration

Share = Annotated[float, Field(ge=0, lt=1)]


class Tuning(Declaration):
    """Settings of a training run.

    The defaults suit fine-tuning small encoders (hidden size 64 or so). For encoders of BERT-base size and more,
    `learning_rate=2e-5, epochs=3, tokens_per_batch=4096, warmup=0.1` is the usual start.
    """

    learning_rate: PositiveFloat = 5e-4
    """The highest, at the end of the warm-up."""
    epochs: PositiveInt | None = None
    """Passes over the training examples; give this or `steps`. Neither: 6 epochs."""
    steps: PositiveInt | None = None
    """Optimizer steps."""
    tokens_per_batch: PositiveInt = 512
    """Pieces in a batch at most, padding included."""
    batches: Literal["mixed", "one-language"] = "mixed"
    """What a batch holds of several training languages: any of them, or one, as often as its share of the data."""
    warmup: Share = 0.06
    """Share of the steps in which the learning rate rises linearly from 0; then it falls linearly to 0."""
    weight_decay: NonNegativeFloat = 0.01
    """Decoupled; not on biases and normalisation weights (any parameter of one dimension)."""
    betas: tuple[Share, Share] = (0.9, 0.999)
    """Decay of AdamW's running means of the gradient and of its square."""
    epsilon: PositiveFloat = 1e-8
    """Added to AdamW's denominator."""
    clip: PositiveFloat | None = 1.0
    """Largest norm of the gradient; None: not clipped."""
    dropout: Share = 0.1
    """Of the task's head; the encoder's own dropout is in its configuration."""
    max_length: PositiveInt | None = None
    """Pieces in a sequence at most; None: what the encoder has positions for."""
    validate_every: PositiveInt | None = None
    """Steps between validations; None: after each epoch. The last step is always validated."""
    patience: PositiveInt | None = None
    """Validations without a new best after which training stops early; None: never."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """bfloat16 is autocast: weights and optimizer stay in float32."""
    device: Literal["cpu", "cuda"] = "cpu"
    """What it is trained on; never chosen by itself, since the numbers differ."""
    threads: PositiveInt = 1
    """Of one training run on a CPU. Another number of threads changes the last digits."""

    @model_validator(mode="before")
    @classmethod
    def _one_duration(cls, given: Any) -> Any:
        if isinstance(given, dict):
            if given.get("epochs") is not None and given.get("steps") is not None:
                raise ValueError(f"epochs={given['epochs']} and steps={given['steps']}: give one of them")
            if given.get("epochs") is None and given.get("steps") is None:
                return {**given, "epochs": 6}
        return given


RECURRENT = Tuning(learning_rate=4e-3, epochs=20, tokens_per_batch=500, dropout=0.33)
"""What a BiLSTM trained from scratch needs, whatever the encoders beside it are tuned with."""
