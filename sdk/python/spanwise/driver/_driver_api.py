# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of the CUDA driver API through ctypes, and context managers for the current CUDA context."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .. import _core


@functools.cache
def driver() -> ctypes.CDLL:
    """The driver library, libcuda."""
    # The extension module has loaded it already for arrays on a GPU.
    return ctypes.CDLL("libcuda.so.1")


def c_fields(*declared: tuple[str, Any]) -> list[tuple[str, Any]]:
    """The ``_fields_`` of a ctypes.Structure from pairs (names separated by spaces, their type)."""
    return [(name, kind) for names, kind in declared for name in names.split()]


def check(code: int, function: str) -> None:
    """Raises DeviceError unless `code`, a CUresult that `function` returned, is CUDA_SUCCESS."""
    if code != 0:
        text = ctypes.c_char_p()
        driver().cuGetErrorString(code, ctypes.byref(text))
        description = (text.value or b"an unknown error").decode()
        raise _core.DeviceError(f"{function}: the driver reports {description} ({code})")


def call(name: str, *arguments: Any) -> None:
    """Calls a driver function that returns a CUresult. Raises DeviceError if that is an error."""
    check(getattr(driver(), name)(*arguments), name)


@functools.cache
def primary_context(ordinal: int) -> int:
    """The CUcontext of a GPU's primary context, as an integer. Retained once, and never
    released."""
    context, device = ctypes.c_void_p(), ctypes.c_int()
    _core.zeros(1, dtype="uint8", device=f"cuda:{ordinal}")  # initialises the driver
    call("cuDeviceGet", ctypes.byref(device), ordinal)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    return context.value or 0


def push(ordinal: int) -> None:
    """Makes a GPU's primary context current on this thread."""
    call("cuCtxPushCurrent_v2", ctypes.c_void_p(primary_context(ordinal)))


def pop() -> None:
    """Restores the context that was current before push()."""
    call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


@contextmanager
def current_context(device: _core.device) -> Iterator[None]:
    """Context manager: makes the device's primary context current on this thread. No effect on the
    CPU."""
    if device.kind == "cpu":
        yield
        return
    push(device.ordinal)
    try:
        yield
    finally:
        pop()


_RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED


def destroy(device: _core.device, name: str, handle: Any) -> None:
    """Synchronises the device's context, then calls the driver function `name` to destroy `handle`.
    Ignores errors. Works in capture mode "relaxed", so that it is legal while another thread
    captures a stream."""
    with suppress(_core.DeviceError), current_context(device):
        mode = ctypes.c_int(_RELAXED)
        call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        try:
            call("cuCtxSynchronize")
            call(name, handle)
        finally:
            call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
