# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's host memory: page-locked and aligned NumPy arrays.

Page-locked memory is allocated in the context of the default device. If that is the CPU, it is
pageable memory, so that programs run there too.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import math
import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core
from . import driver_api as _driver_api

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "aligned_empty", "aligned_zeros", "host_alloc_flags", "mem_host_register_flags",
    "pagelocked_empty", "pagelocked_empty_like", "pagelocked_zeros", "pagelocked_zeros_like",
    "register_host_memory",
]  # fmt: skip


# CU_MEMHOSTALLOC_* and CU_MEMHOSTREGISTER_*.
host_alloc_flags = enum.IntFlag(
    "host_alloc_flags", {"PORTABLE": 1, "DEVICEMAP": 2, "WRITECOMBINED": 4}
)
mem_host_register_flags = enum.IntFlag("mem_host_register_flags", {"PORTABLE": 1, "DEVICEMAP": 2})


def _release(device: Any, process: int, function: str, address: int) -> None:
    if process == os.getpid():  # a forked child cannot call the driver
        _driver_api.destroy(device, function, ctypes.c_void_p(address))


def _memory_at(address: int, nbytes: int, device: Any, function: str) -> Any:
    """The memory at `address` as an object with the buffer protocol. The driver function `function` is
    called on `address` when the object is freed."""
    memory = (ctypes.c_uint8 * nbytes).from_address(address)
    # Not at exit: the end of the process frees the memory.
    weakref.finalize(memory, _release, device, os.getpid(), function, address).atexit = False
    return memory


def _nbytes(shape: Any, dtype: np.dtype[Any]) -> int:
    return math.prod(shape if isinstance(shape, tuple | list) else (shape,)) * dtype.itemsize


def aligned_empty(
    shape: Any, dtype: Any, order: Any = "C", alignment: int = 4096
) -> np.ndarray[Any, Any]:
    """An uninitialised NumPy array whose address is a multiple of `alignment` bytes."""
    import numpy as np

    dtype = np.dtype(dtype)
    nbytes = _nbytes(shape, dtype)
    buffer = np.empty(nbytes + alignment, "uint8")
    start = -buffer.ctypes.data % alignment
    return buffer[start : start + nbytes].view(dtype).reshape(shape, order=order)


def pagelocked_empty(
    shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0
) -> np.ndarray[Any, Any]:
    """An uninitialised NumPy array in page-locked memory. The memory is freed with the array's last
    view, after waiting for all work of the device. `mem_flags` are host_alloc_flags. Raises
    DeviceError."""
    import numpy as np

    device, dtype = _core.device(), np.dtype(dtype)
    nbytes = _nbytes(shape, dtype)
    if device.kind == "cpu" or nbytes == 0:
        return aligned_empty(shape, dtype, order)
    address, size = ctypes.c_void_p(), ctypes.c_size_t(nbytes)
    with _driver_api.current_context(device):
        _driver_api.call("cuMemHostAlloc", ctypes.byref(address), size, mem_flags)
    memory = _memory_at(address.value or 0, nbytes, device, "cuMemFreeHost")
    return np.frombuffer(memory, dtype).reshape(shape, order=order)


def order_of(like: Any) -> str:
    """The memory order of a NumPy array: "F" if it is contiguous in Fortran order only, else "C"."""
    return "F" if like.flags.f_contiguous and not like.flags.c_contiguous else "C"


def pagelocked_empty_like(array: Any, mem_flags: int = 0) -> np.ndarray[Any, Any]:
    """pagelocked_empty() with the shape, dtype and order of `array`."""
    return pagelocked_empty(array.shape, array.dtype, order_of(array), mem_flags)


def _with_zeros(empty: Callable[..., Any]) -> Callable[..., np.ndarray[Any, Any]]:
    @functools.wraps(empty)
    def zeros(*args: Any, **options: Any) -> np.ndarray[Any, Any]:
        out = empty(*args, **options)
        out.fill(0)
        return out

    zeros.__name__ = zeros.__qualname__ = empty.__name__.replace("empty", "zeros")
    zeros.__doc__ = f"As {empty.__name__}, filled with zeros."
    return zeros


aligned_zeros, pagelocked_zeros = _with_zeros(aligned_empty), _with_zeros(pagelocked_empty)
pagelocked_zeros_like = _with_zeros(pagelocked_empty_like)


def register_host_memory(array: Any, flags: int = 0) -> np.ndarray[Any, Any]:
    """Page-locks the memory of a contiguous NumPy array and returns an array over it, which keeps
    `array` alive. The last view of the result unregisters the memory, after waiting for all work of
    the device. `flags` are mem_host_register_flags. Raises ArgumentError for memory that is not
    contiguous, DeviceError from the driver."""
    import numpy as np

    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise _core.ArgumentError(
            f"register_host_memory: expected contiguous memory, got strides {array.strides}; pass the whole array"
        )
    device = _core.device()
    if device.kind == "cpu" or array.nbytes == 0:
        return array.view()
    address, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
    with _driver_api.current_context(device):
        _driver_api.call("cuMemHostRegister_v2", address, size, flags)
    memory = _memory_at(array.ctypes.data, array.nbytes, device, "cuMemHostUnregister")
    memory.owner = array  # outlives the registration
    return np.frombuffer(memory, array.dtype).reshape(array.shape, order=order_of(array))
