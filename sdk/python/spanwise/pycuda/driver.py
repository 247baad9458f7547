# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.driver``."""

import spanwise as _sw

from ._copies import (
    Memcpy2D as Memcpy2D,
    Memcpy3D as Memcpy3D,
    from_device as from_device,
    from_device_like as from_device_like,
    mem_alloc_like as mem_alloc_like,
    mem_alloc_pitch as mem_alloc_pitch,
    memcpy_dtod as memcpy_dtod,
    memcpy_dtod_async as memcpy_dtod_async,
    memcpy_dtoh as memcpy_dtoh,
    memcpy_dtoh_async as memcpy_dtoh_async,
    memcpy_htod as memcpy_htod,
    memcpy_htod_async as memcpy_htod_async,
    memcpy_peer as memcpy_peer,
    memcpy_peer_async as memcpy_peer_async,
    memset_d2d8 as memset_d2d8,
    memset_d2d8_async as memset_d2d8_async,
    memset_d2d16 as memset_d2d16,
    memset_d2d16_async as memset_d2d16_async,
    memset_d2d32 as memset_d2d32,
    memset_d2d32_async as memset_d2d32_async,
    memset_d8 as memset_d8,
    memset_d8_async as memset_d8_async,
    memset_d16 as memset_d16,
    memset_d16_async as memset_d16_async,
    memset_d32 as memset_d32,
    memset_d32_async as memset_d32_async,
    to_device as to_device,
)
from ._devices import (
    Context as Context,
    Device as Device,
    get_driver_version as get_driver_version,
    get_version as get_version,
)
from ._errors import (
    CompileError as CompileError,
    Error as Error,
    LaunchError as LaunchError,
    LogicError as LogicError,
    MemoryError as MemoryError,
    RuntimeError as RuntimeError,
)
from ._launch import (
    ArgumentHandler as ArgumentHandler,
    Function as Function,
    In as In,
    InOut as InOut,
    Out as Out,
)
from ._memory import (
    DeviceAllocation as DeviceAllocation,
    PointerHolderBase as PointerHolderBase,
    find as _find,
    mem_alloc as mem_alloc,
)
from ._modules import (
    Module as Module,
    module_from_buffer as module_from_buffer,
    module_from_file as module_from_file,
)
from ._textures import (
    TRSF_NORMALIZED_COORDINATES as TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER as TRSF_READ_AS_INTEGER,
    Array as Array,
    TextureReference as TextureReference,
    address_mode as address_mode,
    array_format as array_format,
    bind_array_to_texref as bind_array_to_texref,
    filter_mode as filter_mode,
    gpuarray_to_array as gpuarray_to_array,
    make_multichannel_2d_array as make_multichannel_2d_array,
    matrix_to_array as matrix_to_array,
    matrix_to_texref as matrix_to_texref,
    np_to_array as np_to_array,
)
from ._unsupported import module_getattr as _module_getattr

_SAME = (
    "Event", "Stream", "aligned_empty", "aligned_zeros", "ctx_flags", "device_attribute",
    "event_flags", "func_cache", "function_attribute", "host_alloc_flags", "init", "limit",
    "mem_get_info", "mem_host_register_flags", "pagelocked_empty", "pagelocked_empty_like",
    "pagelocked_zeros", "pagelocked_zeros_like", "register_host_memory", "start_profiler",
    "stop_profiler",
)  # fmt: skip
globals().update({name: getattr(_sw.driver, name) for name in _SAME})


class compute_mode:  # noqa: N801  (PyCUDA's name)
    """CUcomputemode."""

    DEFAULT, PROHIBITED, EXCLUSIVE_PROCESS = 0, 2, 3
    EXCLUSIVE = 1


def aligned_empty_like(array, alignment=4096):
    """aligned_empty() with the shape, dtype and order of `array`."""
    f_order = array.flags.f_contiguous and not array.flags.c_contiguous
    return _sw.driver.aligned_empty(array.shape, array.dtype, "F" if f_order else "C", alignment)


def aligned_zeros_like(array, alignment=4096):
    """As aligned_empty_like, filled with zeros."""
    out = aligned_empty_like(array, alignment)
    out.fill(0)
    return out


def mem_get_address_range(devptr):
    """(address, size) of the part of an allocation from `devptr` to its end."""
    found = _find(int(devptr))
    if found is None:
        raise LogicError(f"mem_get_address_range: no allocation contains {int(devptr):#x}")
    return int(found), found.nbytes


__all__ = [name for name in globals() if not name.startswith("_")]

__getattr__ = _module_getattr("pycuda.driver", __name__)
