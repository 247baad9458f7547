# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.driver``."""

import spanwise as sw

from ._copies import (
    Memcpy2D,
    Memcpy3D,
    from_device,
    from_device_like,
    mem_alloc_like,
    mem_alloc_pitch,
    memcpy_dtod,
    memcpy_dtod_async,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
    memcpy_peer,
    memcpy_peer_async,
    memset_d2d8,
    memset_d2d8_async,
    memset_d2d16,
    memset_d2d16_async,
    memset_d2d32,
    memset_d2d32_async,
    memset_d8,
    memset_d8_async,
    memset_d16,
    memset_d16_async,
    memset_d32,
    memset_d32_async,
    to_device,
)
from ._devices import Context, Device, get_driver_version, get_version
from ._errors import CompileError, Error, LaunchError, LogicError, MemoryError, RuntimeError
from ._launch import ArgumentHandler, Function, In, InOut, Out
from ._memory import DeviceAllocation, PointerHolderBase, find, mem_alloc
from ._modules import Module, module_from_buffer, module_from_file
from ._textures import (
    TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER,
    Array,
    TextureReference,
    address_mode,
    array_format,
    bind_array_to_texref,
    filter_mode,
    gpuarray_to_array,
    make_multichannel_2d_array,
    matrix_to_array,
    matrix_to_texref,
    np_to_array,
)
from ._unsupported import module_getattr

_SAME = (
    "Event", "Stream", "aligned_empty", "aligned_zeros", "ctx_flags", "device_attribute",
    "event_flags", "func_cache", "function_attribute", "host_alloc_flags", "init", "limit",
    "mem_get_info", "mem_host_register_flags", "pagelocked_empty", "pagelocked_empty_like",
    "pagelocked_zeros", "pagelocked_zeros_like", "register_host_memory", "start_profiler",
    "stop_profiler",
)  # fmt: skip
globals().update({name: getattr(sw.driver, name) for name in _SAME})


class compute_mode:  # noqa: N801  (PyCUDA's name)
    """CUcomputemode."""

    DEFAULT, PROHIBITED, EXCLUSIVE_PROCESS = 0, 2, 3
    EXCLUSIVE = 1


def aligned_empty_like(array, alignment=4096):
    """aligned_empty() with the shape, dtype and order of `array`."""
    f_order = array.flags.f_contiguous and not array.flags.c_contiguous
    return sw.driver.aligned_empty(array.shape, array.dtype, "F" if f_order else "C", alignment)


def aligned_zeros_like(array, alignment=4096):
    """As aligned_empty_like, filled with zeros."""
    out = aligned_empty_like(array, alignment)
    out.fill(0)
    return out


def mem_get_address_range(devptr):
    """(address, size) of the part of an allocation from `devptr` to its end."""
    found = find(int(devptr))
    if found is None:
        raise LogicError(f"mem_get_address_range: no allocation contains {int(devptr):#x}")
    return int(found), found.nbytes


__all__ = [
    *_SAME,
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "Array",
    "TextureReference",
    "address_mode",
    "array_format",
    "bind_array_to_texref",
    "filter_mode",
    "gpuarray_to_array",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "matrix_to_texref",
    "np_to_array",
    "ArgumentHandler",
    "CompileError",
    "Context",
    "Device",
    "DeviceAllocation",
    "Error",
    "Function",
    "In",
    "InOut",
    "LaunchError",
    "LogicError",
    "Memcpy2D",
    "Memcpy3D",
    "MemoryError",
    "Module",
    "Out",
    "PointerHolderBase",
    "RuntimeError",
    "aligned_empty_like",
    "aligned_zeros_like",
    "compute_mode",
    "from_device",
    "from_device_like",
    "get_driver_version",
    "get_version",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_get_address_range",
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memcpy_peer",
    "memcpy_peer_async",
    "memset_d2d8",
    "memset_d2d8_async",
    "memset_d2d16",
    "memset_d2d16_async",
    "memset_d2d32",
    "memset_d2d32_async",
    "memset_d8",
    "memset_d8_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d32",
    "memset_d32_async",
    "module_from_buffer",
    "module_from_file",
    "to_device",
]

__getattr__ = module_getattr("pycuda.driver", __name__)
