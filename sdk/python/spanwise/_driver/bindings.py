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
from . import contexts as _contexts
from .attributes import INSTEAD

_PREFIXES = ("cu", "CU")
# Functions that create, change or return the current context: called without pushing one.
_OF_CONTEXTS = (
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
    absent = f"module 'spanwise.driver' has no attribute {name!r}"
    if name in INSTEAD:
        raise AttributeError(f"{absent}: {INSTEAD[name]}")
    if not name.startswith(_PREFIXES):
        raise AttributeError(
            f"{absent}; docs/coming-from-pycuda.md lists what there is of PyCUDA's, and the driver's own functions "
            "go by their own names (cuMemAdvise)"
        )
    try:
        from cuda.bindings import driver
    except ImportError:
        raise AttributeError(
            f"{absent}; the driver's own functions come with cuda.bindings: python3 -m pip install cuda-bindings"
        ) from None
    found = getattr(driver, name, None)
    if found is None:
        raise AttributeError(f"{absent}, and cuda.bindings has none either")
    # Constants, enumerations and structures are returned as they are.
    is_function = name.startswith("cu") and callable(found) and not isinstance(found, type)
    return _function(name, found) if is_function else found


def _function(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        handles = [handle_of(value) for value in arguments]
        named_handles = {word: handle_of(value) for word, value in named.items()}
        makes_context = name.startswith(_OF_CONTEXTS)
        with nullcontext() if makes_context else _contexts.current_context(_core.device()):
            return _result(name, function(*handles, **named_handles))

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
    if isinstance(value, (Context, Texture, Surface)):
        return value.handle
    return int(value) if isinstance(value, (Device, DeviceAllocation)) else value


def _result(name: str, answer: Any) -> Any:
    if not isinstance(answer, tuple):
        return answer
    status, *values = answer
    if int(status) != 0:
        error = _core.DeviceError(
            f"{name}: the driver says {status.name} ({int(status)}); see its entry in the CUDA driver API"
        )
        error.code, error.name = int(status), status.name
        raise error
    return tuple(values) if len(values) > 1 else values[0] if values else None
