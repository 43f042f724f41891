"""What models are computed on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from babelscope.core.errors import InputError


def at_hand() -> str:
    """The first kind of accelerator that torch sees here, else the processor."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def check_device(device: str) -> None:
    """Refuse a kind of device that torch does not see here; torch is loaded only for an accelerator.

    Raises:
        InputError: it is not there.
    """
    if device == "cpu":
        return
    import torch

    if not (torch.cuda if device == "cuda" else torch.backends.mps).is_available():
        raise InputError(f"device {device}: torch sees none here; give cpu, or auto for what there is")


def is_out_of_memory(error: Exception) -> bool:
    """Whether an accelerator had too little memory. Graphs of kernels and libraries have no class of error for it."""
    signs = (
        "CUDA error: out of memory",
        "HIP error: out of memory",
        "MPS backend out of memory",
        "_STATUS_ALLOC_FAILED",
    )
    return type(error).__name__ == "OutOfMemoryError" or any(sign in str(error) for sign in signs)


def _chosen(given: Any) -> Any:
    if given not in ("auto", "cpu", "cuda", "mps"):
        raise ValueError("should be auto, cpu, cuda or mps")
    return at_hand() if given == "auto" else given


Device = Annotated[
    Literal["cpu", "cuda", "mps"],
    BeforeValidator(_chosen, json_schema_input_type=Literal["auto", "cpu", "cuda", "mps"]),
]
"""The kind of device, not which of several. `auto` is what is at hand where the declaration is read, and is no value
of its own: numbers of devices differ in their last digits, so that keys have the device."""
