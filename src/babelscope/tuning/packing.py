"""The sequences of a batch one after the other, so that all batches of a size have a few shapes.

Attention stays within a sequence: kernels are told by `offsets` where each begins. So a graph of kernels needs neither
the rows of a batch nor their width, only how many pieces and sequences it has room for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, PretrainedConfig, PreTrainedModel

from babelscope.encoders.anatomy import first_position
from babelscope.tuning.padding import rounded

FAMILIES = ("bert", "electra", "roberta", "xlm-roberta")
"""Whose layers attend to all pieces alike, and which can be told the positions of pieces."""
NARROWEST = 512
"""Width of layers. What packs a batch are twenty kernels or so, which is much beside what a narrow encoder computes."""
ATTENTION = "packed"
"""What transformers calls the attention of this module."""
BLOCK = 128
"""Room for a sequence is a multiple of it, so that there are few shapes."""


def is_packed(backbone: PreTrainedModel) -> bool:
    """Whether a backbone reads sequences one after the other: it can on its device, and is wide enough to gain."""
    config: Any = backbone.config
    attends_to_all = config.model_type in FAMILIES and config._attn_implementation == "sdpa" and not config.is_decoder
    if not attends_to_all or config.hidden_size < NARROWEST:
        return False
    width = config.hidden_size // config.num_attention_heads
    return width % 8 == 0 and width <= 128 and has_kernels(backbone.device)


def has_kernels(device: torch.device) -> bool:
    """NVIDIA's GPUs from Ampere on have them; a CPU needs none."""
    if device.type == "cuda":
        is_ampere = torch.version.hip is None and torch.cuda.get_device_capability(device) >= (8, 0)
        return is_ampere and torch.backends.cuda.is_flash_attention_available()
    return device.type == "cpu"


class Room(NamedTuple):
    """How much a packed batch has room for, which is its shape."""

    pieces: int
    sequences: int
    longest: int
    """Pieces of a sequence."""

    @classmethod
    def of(cls, rows: int, width: int) -> Room:
        """Room for a padded batch, or up to an eighth more, and for sequences that fill what it leaves."""
        pieces = rounded(rows * width, 4)
        longest = min(BLOCK * -(-2 * width // BLOCK), pieces)
        return cls(pieces, rounded(rows - (rows - pieces) // longest, 2), longest)


class Packed:
    """A padded batch [rows, width] packed into a room; what it leaves is filled with sequences that nobody reads."""

    def __init__(self, given: dict[str, Tensor], config: PretrainedConfig):
        """`given` is `input_ids` [rows, width], and alike `attention_mask` and `token_type_ids`, where there are."""
        self._given, self._config, ids = given, config, given["input_ids"]
        self.shape = Room.of(*ids.shape)
        real = given.get("attention_mask", torch.ones_like(ids)).flatten()
        self._counts = real.cumsum(0)
        """[rows * width]: the pieces up to each place of the batch."""
        numbers = torch.arange(1, self.shape.pieces + 1, device=ids.device)
        self._places = torch.searchsorted(self._counts, numbers)
        """[pieces]: where each is in the batch, read row by row; its end for those that fill the room."""

    def inputs(self) -> dict[str, Tensor]:
        """[1, pieces] each, and `offsets` [sequences + 1]."""
        width = self._given["input_ids"].shape[1]
        packed = {name: self._pack(tensor) for name, tensor in self._given.items() if name != "attention_mask"}
        positions = (self._places % width + first_position(self._config))[None]
        return packed | {"position_ids": positions, "offsets": self._offsets()}

    def read(self, forward: Callable[..., Any], inputs: dict[str, Tensor]) -> Tensor:
        """[1, pieces, hidden]: what a backbone's forward pass makes of such inputs."""
        config: Any = self._config
        usual, config._attn_implementation = config._attn_implementation, ATTENTION
        try:
            states: Tensor = forward(**inputs, longest=self.shape.longest).last_hidden_state
        finally:
            config._attn_implementation = usual
        return states

    def unpadded(self, states: Tensor) -> Tensor:
        """[rows, width, hidden] of states [1, pieces, hidden]; padding has the states of the piece before it."""
        states = Unpacked.apply(states, self)
        return states

    def unpadded_states(self, states: Tensor) -> Tensor:
        """What `unpadded` gives, without gradients."""
        rows, width = self._given["input_ids"].shape
        return states[0].index_select(0, self._counts - 1).view(rows, width, -1)

    def gradient_of(self, gradient: Tensor) -> Tensor:
        """[1, pieces, hidden] of a gradient [rows, width, hidden]: none where the room is filled."""
        there = self._places < self._counts.numel()
        return self._pack(gradient) * there[:, None]

    def _pack(self, tensor: Tensor) -> Tensor:
        """[1, pieces, ...] of [rows, width, ...]."""
        flat = tensor.flatten(0, 1)
        return flat.index_select(0, self._places.clamp(max=len(flat) - 1))[None]

    def _offsets(self) -> Tensor:
        """[sequences + 1]: where each begins, and the end. Those that fill the room are as long as they can be."""
        rows, width = self._given["input_ids"].shape
        room, ends = self.shape, self._counts[width - 1 :: width]
        filling = torch.arange(1, room.sequences - rows + 1, device=ends.device) * room.longest
        filled = (ends[-1] + filling).clamp(max=room.pieces)
        return torch.cat([ends.new_zeros(1), ends, filled]).int()


class Unpacked(torch.autograd.Function):
    """A packed batch's states as a padded batch. Both ways are a gather, which adds nothing up and is fast."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, packed: Packed) -> Tensor:
        """[rows, width, hidden] of [1, pieces, hidden]."""
        ctx.packed = packed
        return packed.unpadded_states(states)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """[1, pieces, hidden] of [rows, width, hidden]."""
        return ctx.packed.gradient_of(gradient), None


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: None,
    dropout: float = 0.0,
    scaling: float | None = None,
    *,
    offsets: Tensor,
    longest: int,
    **others: Any,
) -> tuple[Tensor, None]:
    """Attention by transformers' interface: queries, keys and values are [1, heads, pieces, width of a head].

    `offsets` [sequences + 1] say where each sequence begins, and the last one ends; `longest` is what it may have of
    pieces. Torch's own attention takes neither outside of nested tensors, whose kernels these are.
    """
    query, key, value = (each.squeeze(0).transpose(0, 1) for each in (query, key, value))
    if query.device.type == "cpu":
        return _by_mask(query, key, value, offsets, dropout, scaling)[None], None
    ends = offsets, offsets, longest, longest
    if query.dtype in (torch.float16, torch.bfloat16):
        found = torch.ops.aten._flash_attention_forward(query, key, value, *ends, dropout, False, False, scale=scaling)
        return found[0][None], None
    found = torch.ops.aten._efficient_attention_forward(
        query[None], key[None], value[None], None, *ends, dropout, 0, True, scale=scaling
    )
    return found[0], None


def _by_mask(
    query: Tensor, key: Tensor, value: Tensor, offsets: Tensor, dropout: float, scaling: float | None
) -> Tensor:
    """[pieces, heads, width] of such, without kernels that know of sequences."""
    sequences = torch.searchsorted(offsets, torch.arange(len(query)), right=True)
    mask = sequences[:, None] == sequences
    query, key, value = (each.transpose(0, 1) for each in (query, key, value))
    return scaled_dot_product_attention(query, key, value, mask, dropout, scale=scaling).transpose(0, 1)


AttentionInterface.register(ATTENTION, _attention)
