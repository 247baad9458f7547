# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.driver``."""

import spanwise as _sw

from ._devices import *  # noqa: F403
from ._devices import allocation_at as _allocation_at
from ._modules import *  # noqa: F403
from ._unsupported import module_getattr as _module_getattr

#: Names that spanwise.driver has with the same meaning.
_FROM_SPANWISE = (
    "Event", "Stream", "aligned_empty", "aligned_zeros", "ctx_flags", "device_attribute",
    "event_flags", "func_cache", "function_attribute", "host_alloc_flags", "init", "limit",
    "mem_get_info", "mem_host_register_flags", "pagelocked_empty", "pagelocked_empty_like",
    "pagelocked_zeros", "pagelocked_zeros_like", "register_host_memory", "start_profiler",
    "stop_profiler",
)  # fmt: skip
globals().update({name: getattr(_sw.driver, name) for name in _FROM_SPANWISE})


class compute_mode:  # noqa: N801  (PyCUDA's name)
    """CUcomputemode."""

    DEFAULT, PROHIBITED, EXCLUSIVE_PROCESS = 0, 2, 3
    EXCLUSIVE = 1


def aligned_empty_like(array, alignment=4096):
    """aligned_empty() with the shape, dtype and order of `array`."""
    return _sw.driver.aligned_empty(array.shape, array.dtype, _sw.driver.order_of(array), alignment)


def aligned_zeros_like(array, alignment=4096):
    """As aligned_empty_like, filled with zeros."""
    out = aligned_empty_like(array, alignment)
    out.fill(0)
    return out


def mem_get_address_range(devptr):
    """(address, size) of the part of an allocation from `devptr` to its end."""
    allocation = _allocation_at(int(devptr))
    if allocation is None:
        raise _sw.DeviceError(f"mem_get_address_range: no allocation contains {int(devptr):#x}")
    return int(allocation), allocation.nbytes


__all__ = [name for name in globals() if not name.startswith("_")]

__getattr__ = _module_getattr("pycuda.driver", __name__)
