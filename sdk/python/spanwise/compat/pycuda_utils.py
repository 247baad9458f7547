# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.pycuda_utils``: conversion of arrays to and from PyCUDA without a copy."""

from __future__ import annotations

from typing import Any

from .. import _core
from . import _our_array as our_array

__all__ = ["to_cudandarray", "to_gpuarray"]


def to_gpuarray(x: Any, copyif: bool = False) -> Any:
    """A GPUArray over the memory of ``x`` if that is in C order and in PyCUDA's current context;
    else a copy if ``copyif`` allows it, or CopyNeededError. (``spanwise.to_gpuarray`` shares other
    strides as well.) Raises ValueError if ``x`` is no spanwise.Array."""
    array = our_array(x, "to_gpuarray", ValueError)
    if not array.flags.c_contiguous:
        if not copyif:
            raise _core.CopyNeededError(
                f"to_gpuarray: expected memory in C order, got strides {array.strides} for shape "
                f"{array.shape}; allow a copy (copyif=True), or call spanwise.to_gpuarray, which "
                "shares it"
            )
        array = array.copy()
    return _core.to_pycuda(array, copyif)


def to_cudandarray(x: Any, copyif: bool = False) -> _core.Array:
    """An array over the memory of the float32 GPUArray ``x``, with its strides. ``copyif`` allows
    a copy if the memory is in another context than Spanwise's; without it that raises
    CopyNeededError. Raises ValueError for another dtype or another object."""
    try:
        array = _core.from_pycuda(x, copyif)
    except _core.BridgeError as error:
        raise ValueError(f"to_cudandarray: {str(error).removeprefix('from_pycuda: ')}") from None
    if array.dtype != "float32":
        raise ValueError(f"to_cudandarray: expected float32, got {array.dtype}; cast it first")
    return array
