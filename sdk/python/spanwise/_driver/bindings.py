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
from . import driver_api as _driver_api
from .attributes import REPLACEMENTS

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
    if name in REPLACEMENTS:
        raise AttributeError(f"{missing}: {REPLACEMENTS[name]}")
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
    from .context import Context, Device
    from .memory import DeviceAllocation
    from .textures import Surface, Texture

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
