# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of the CUDA driver API that PyCUDA does not have, forwarded to NVIDIA's cuda.bindings.

They accept Spanwise objects as handles, run in the default device's primary context, return the
results without the status, and raise DeviceError if the status is an error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from .. import _core
from . import _driver_api
from ._context import Context, Device
from ._memory import DeviceAllocation
from ._textures import Surface, Texture

_TEXTURES = (
    "CUDA 12 removed texture and surface references: pass a sw.Texture or sw.Surface as an argument"
)
_ARRAYS = "CUDA arrays are made by sw.Texture(x) and sw.Surface(x), which take any array"
_MANAGED = (
    "memory belongs to one device; copy it with sw.array(x) and x.numpy(), or call cuMemAllocManaged "
    "through cuda.bindings"
)
_IPC = "memory of the stream-ordered pool has no such handles: send x.numpy(), or share by the driver's own functions"
#: PyCUDA's names that are not implemented -> the replacement, for the message of the error.
_REPLACEMENTS = {
    **dict.fromkeys(("TextureReference", "SurfaceReference", "bind_array_to_texref"), _TEXTURES),
    **dict.fromkeys(("matrix_to_texref", "make_multichannel_2d_array"), _TEXTURES),
    **dict.fromkeys(("address_mode", "filter_mode"), _TEXTURES),
    **dict.fromkeys(("Array", "ArrayDescriptor", "ArrayDescriptor3D", "array_format"), _ARRAYS),
    **dict.fromkeys(("matrix_to_array", "np_to_array", "gpuarray_to_array"), _ARRAYS),
    **dict.fromkeys(("memcpy_htoa", "memcpy_atoh", "memcpy_atod", "memcpy_dtoa"), _ARRAYS),
    **dict.fromkeys(("managed_empty", "managed_zeros", "mem_attach_flags"), _MANAGED),
    **dict.fromkeys(("managed_empty_like", "managed_zeros_like"), _MANAGED),
    **dict.fromkeys(("IPCMemoryHandle", "mem_get_ipc_handle"), _IPC),
    "Memcpy3DPeer": "Memcpy3D copies between any devices",
    "PointerHolderBase": "a kernel takes any library's array, and any object with __cuda_array_interface__",
    "Linker": "several sources are linked by SourceModule(source, link=[...])",
    "initialize_profiler": "CUDA 12 removed it: run the program under nsys or ncu, see start_profiler()",
    "shared_config": "banks of shared memory are fixed since compute capability 5.0",
    "jit_option": "the driver's messages come with the error, and options with SourceModule(options=)",
}
_PREFIXES = ("cu", "CU")
# Functions that create, change or return the current context: called without pushing one.
_CONTEXT_FUNCTIONS = (
    "cuCtxAttach",
    "cuCtxCreate",
    "cuCtxDestroy",
    "cuCtxDetach",
    "cuCtxFromGreenCtx",
    "cuCtxGetCurrent",
    "cuCtxPopCurrent",
    "cuCtxPushCurrent",
    "cuCtxSetCurrent",
    "cuDevicePrimaryCtx",
    "cuGreenCtx",
)


def forwarded(name: str) -> Any:
    """The function or constant `name` of `cuda.bindings.driver`. Raises AttributeError, whose
    message names the replacement where there is one."""
    missing = f"module 'spanwise.driver' has no attribute {name!r}"
    if name in _REPLACEMENTS:
        raise AttributeError(f"{missing}: {_REPLACEMENTS[name]}")
    if not name.startswith(_PREFIXES):
        raise AttributeError(
            f"{missing}; docs/coming-from-pycuda.md lists PyCUDA's names that exist here; the driver's own functions "
            "have their own names (cuMemAdvise)"
        )
    try:
        from cuda.bindings import driver
    except ImportError:
        raise AttributeError(
            f"{missing}; the driver's own functions come with cuda.bindings: python3 -m pip install cuda-bindings"
        ) from None
    value = getattr(driver, name, None)
    if value is None:
        raise AttributeError(f"{missing}, and cuda.bindings has none either")
    # Constants, enumerations and structures are returned as they are.
    is_function = name.startswith("cu") and callable(value) and not isinstance(value, type)
    return _in_context(name, value) if is_function else value


def _in_context(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The driver function, called with handles of Spanwise objects in the default device's context."""

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        handles = [handle_of(value) for value in arguments]
        keyword_handles = {key: handle_of(value) for key, value in keywords.items()}
        changes_context = name.startswith(_CONTEXT_FUNCTIONS)
        with nullcontext() if changes_context else _driver_api.current_context(_core.device()):
            return _result(name, function(*handles, **keyword_handles))

    return call


def handle_of(value: Any) -> Any:
    """The driver handle or address of a Spanwise object as an integer; other values unchanged."""
    if isinstance(value, _core.Array):
        return value.ptr
    if isinstance(value, _core.device):
        return value.ordinal
    if isinstance(value, (_core.Stream, _core.Event, _core.Module, _core.KernelFunction)):
        return value.handle
    addressed = (Context, Device, DeviceAllocation, Surface, Texture)
    return int(value) if isinstance(value, addressed) else value


def _result(name: str, returned: Any) -> Any:
    """None, the result or a tuple of results of (status, *results). Raises DeviceError."""
    if not isinstance(returned, tuple):
        return returned
    status, *values = returned
    if int(status) != 0:
        error = _core.DeviceError(
            f"{name}: the driver reports {status.name} ({int(status)}); see its entry in the CUDA driver API"
        )
        error.code, error.name = int(status), status.name
        raise error
    return tuple(values) if len(values) > 1 else values[0] if values else None
