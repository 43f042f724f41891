"""The passes of a backbone on a CUDA device as graphs of kernels.

A small encoder computes faster than Python can start its kernels one by one. A graph starts all of a pass at once, but
is of one shape of batches: so batches are packed or padded to shapes that come again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from babelscope.core.devices import is_out_of_memory
from babelscope.core.errors import InputError
from babelscope.encoders.anatomy import max_positions
from babelscope.tuning.compiled_layers import CompiledLayers
from babelscope.tuning.freezing import backbone_of, layers_of
from babelscope.tuning.packing import Packed, is_packed
from babelscope.tuning.padding import Padded

Result = TypeVar("Result")
GRAPHS = 100
"""That are kept at most; batches of further shapes are computed kernel by kernel."""
COMPILED_BY = 28, 56
"""Rows and pieces of a batch. Layers of such a width, which are rare, torch would take to be as wide as that."""
UNCAPTURED = ("deberta-v2",)
"""Families whose forward pass copies numbers to the device, which cannot be captured."""


def beside_graphs(passes: Passes | None, compute: Callable[[], Result]) -> Result:
    """What is computed; again and without graphs of kernels from now on, if there is too little memory beside them."""
    try:
        return compute()
    except RuntimeError as error:
        if not (is_out_of_memory(error) and passes and passes.has_graphs):
            raise
    passes.give_up("there is too little memory beside their graphs")  # the error, which is gone, held some
    return compute()


@contextmanager
def graphed(model: nn.Module, compiled: bool = False) -> Iterator[Passes | None]:
    """While the block lasts, compute the passes of a model's backbone in training as graphs of kernels; gives these.

    It is for a CUDA device. Portions with dropout of their own, layers that are computed twice and layers whose states
    are recalled need passes kernel by kernel; a BiLSTM is left as it is.
    """
    try:
        backbone = backbone_of(model)
    except InputError:
        yield None
        return
    passes = Passes(backbone, CompiledLayers(layers_of(backbone)) if compiled else None)
    vars(backbone)["forward"] = passes  # an attribute goes before the method of its class
    try:
        yield passes
    finally:
        del vars(backbone)["forward"]


def can_be_captured(backbone: PreTrainedModel) -> bool:
    """Whether its passes are started on a CUDA device without waiting for it."""
    return backbone.device.type == "cuda" and backbone.config.model_type not in UNCAPTURED


class Graph(NamedTuple):
    """The two passes of a shape, and where they read and write."""

    inputs: dict[str, Tensor]
    """As a batch has them in that shape."""
    states: Tensor
    """[..., hidden]: the last hidden states."""
    gradient: Tensor
    """[..., hidden]: the loss's gradient with respect to them."""
    forward: torch.cuda.CUDAGraph
    backward: torch.cuda.CUDAGraph
    """Adds to the gradients of the weights."""


class Passes:
    """Stands in for a backbone's `forward`: changes a batch's shape, and captures one that comes a second time."""

    def __init__(self, backbone: PreTrainedModel, compiled: CompiledLayers | None = None):
        self._backbone, self._own, self._compiled = backbone, backbone.forward, compiled
        self._weights = list(backbone.parameters())
        self._packs, self._uncompiled = is_packed(backbone), compiled is not None
        self._seen: set[Any] = set()
        self._graphs: dict[Any, Graph] = {}
        self._can_capture = can_be_captured(backbone)
        self._pool: Any = torch.cuda.graph_pool_handle() if self._can_capture else None
        self._tie = torch.zeros(1, device=backbone.device, requires_grad=True)
        self._waits = False
        """Whether a forward pass waits for its backward pass: its states would be overwritten by another."""

    def __call__(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **others: Any,
    ) -> Any:
        """The backbone's output: last hidden states alone, where it is a pass of training over padded pieces."""
        named = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
        given = {name: tensor for name, tensor in named.items() if tensor is not None}
        trains = self._backbone.training and torch.is_grad_enabled()
        if input_ids is None or others or not trains or not self._trained():
            return self._own(**given, **others)
        if self._uncompiled:
            self._compile()
        batch = self._shaped(given)
        return BaseModelOutput(last_hidden_state=batch.unpadded(self._states(batch)))

    def replay_backward(self, graph: Graph, gradient: Tensor) -> None:
        """Add to the gradients of the weights."""
        graph.gradient.copy_(gradient)
        graph.backward.replay()
        self._waits = False

    def _compile(self) -> None:
        """By a batch that is always the same: last digits follow from the first one, and a stopped run may go on."""
        _check_bfloat16(self._backbone.device)
        rows, width = COMPILED_BY
        ids = torch.zeros(rows, min(width, max_positions(self._backbone.config)), dtype=torch.int64)
        real = torch.ones_like(ids, dtype=torch.bool)
        real[-1, -1] = False  # where nothing is padded, a family may have no mask
        given = {"input_ids": ids, "attention_mask": real}
        batch = self._shaped({name: tensor.to(self._backbone.device) for name, tensor in given.items()})
        try:
            with torch.random.fork_rng():
                states = self._read(batch, batch.inputs())
                torch.autograd.grad(states.float().sum(), self._trained(), allow_unused=True)
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise
            cause = " ".join(str(error).strip().split("\n\n")[0].split())  # before its advice for those who write torch
            raise InputError(f"compile: true: torch cannot compile the layers here: {cause}; leave it out") from error
        self._uncompiled = False

    def _layers(self) -> AbstractContextManager[None]:
        """In which layers compute as they should."""
        return self._compiled.used() if self._compiled else nullcontext()

    def _shaped(self, given: dict[str, Tensor]) -> Packed | Padded:
        config = self._backbone.config
        return Packed(given, config) if self._packs else Padded(given, max_positions(config))

    def _states(self, batch: Packed | Padded) -> Tensor:
        """[..., hidden] of a batch in its shape."""
        inputs = batch.inputs()
        if (graph := self._graph(batch, inputs)) is None:
            return self._read(batch, inputs)
        torch._foreach_copy_(list(graph.inputs.values()), list(inputs.values()))
        self._waits = True
        states = Replayed.apply(self, graph, self._tie)
        return states

    def _read(self, batch: Packed | Padded, inputs: dict[str, Tensor]) -> Tensor:
        """Kernel by kernel. A cache of autocast would have weights in bfloat16 as they are now, while they move on."""
        kind = self._backbone.device.type
        dtype, autocasts = torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind)
        with self._layers(), torch.autocast(kind, dtype, autocasts, cache_enabled=False):
            return batch.read(self._own, inputs)

    def _graph(self, batch: Packed | Padded, inputs: dict[str, Tensor]) -> Graph | None:
        """That of a shape, captured when it comes a second time: the first has loaded all kernels."""
        if self._waits or not self._can_capture:
            return None
        key = batch.shape, "token_type_ids" in inputs  # a training changes neither its precision nor what is trained
        if key not in self._graphs and key in self._seen and len(self._graphs) < GRAPHS:
            failed = None
            try:
                self._graphs[key] = self._capture(batch, inputs)
            except RuntimeError as error:  # no memory is left, or an operation cannot be captured
                failed = str(error)
            if failed is not None:  # the error, which is gone here, holds what was captured
                self._end_capture()
                self.give_up(failed)
        self._seen.add(key)
        return self._graphs.get(key)

    def _end_capture(self) -> None:
        """After one that failed. The first is refused where it has ended as it should, and is not in torch 2.7."""
        with suppress(RuntimeError, AttributeError):
            torch._C._cuda_endAllocateToPool(self._backbone.device.index or 0, self._pool)
            torch._C._cuda_releasePool(self._backbone.device.index or 0, self._pool)

    @property
    def has_graphs(self) -> bool:
        """Whether there are any, which hold memory."""
        return bool(self._graphs)

    def give_up(self, why: str) -> None:
        """Compute kernel by kernel from now on; what graphs hold goes back to the device."""
        warnings.warn(f"passes are computed kernel by kernel: {why}", stacklevel=2)
        self._can_capture = self._waits = False
        self._graphs.clear()
        torch.cuda.empty_cache()

    def _trained(self) -> list[nn.Parameter]:
        return [weights for weights in self._weights if weights.requires_grad]

    def _capture(self, batch: Packed | Padded, inputs: dict[str, Tensor]) -> Graph:
        torch.cuda.empty_cache()  # while it is captured, nothing that is kept for later can be used for a graph
        forward, backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with self._captured(forward):
            states = self._read(batch, inputs)
        gradient = torch.zeros_like(states)
        with self._captured(backward), torch.autocast("cuda", enabled=False):  # as of a loss's backward pass
            _add_gradients(states, gradient, self._trained())
        return Graph(inputs, states.detach(), gradient, forward, backward)

    @contextmanager
    def _captured(self, graph: torch.cuda.CUDAGraph) -> Iterator[None]:
        """Note the kernels that are started in the block; nothing is computed. Another thread may make batches."""
        now, own = torch.cuda.current_stream(), _stream()
        own.wait_stream(now)
        with torch.cuda.stream(own):
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                yield
            finally:
                graph.capture_end()
        now.wait_stream(own)


def _check_bfloat16(device: torch.device) -> None:
    """Torch compiles nothing for a GPU that emulates it, and says no more than a warning."""
    if device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        raise InputError("compile: true: this GPU has no bfloat16 of its own; leave it out")


@cache
def _stream() -> torch.cuda.Stream:
    """The one of all captures, since libraries take memory to work in for each."""
    return torch.cuda.Stream()


class Replayed(torch.autograd.Function):
    """A graph's passes for autograd. The weights' gradients do not go through it: the backward pass adds them."""

    @staticmethod
    def forward(ctx: Any, passes: Passes, graph: Graph, tie: Tensor) -> Tensor:
        """[..., hidden]; `tie` is what has autograd come back."""
        ctx.passes, ctx.graph = passes, graph
        graph.forward.replay()
        return graph.states.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, None]:
        """Of nothing that was given."""
        ctx.passes.replay_backward(ctx.graph, gradient)
        return None, None, None


def _add_gradients(states: Tensor, gradient: Tensor, weights: Sequence[nn.Parameter]) -> None:
    found = torch.autograd.grad(states, weights, gradient, allow_unused=True)
    pairs = [(each.grad, new) for each, new in zip(weights, found, strict=True) if new is not None]
    torch._foreach_add_(*map(list, zip(*pairs, strict=True)))
