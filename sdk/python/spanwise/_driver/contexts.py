# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA's current context, for code of others that works in whichever is current."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .. import _core


@functools.cache
def driver() -> ctypes.CDLL:
    # Loaded already: arrays of a GPU come from it.
    return ctypes.CDLL("libcuda.so.1")


def check(code: int, what: str) -> None:
    if code != 0:
        text = ctypes.c_char_p()
        driver().cuGetErrorString(code, ctypes.byref(text))
        said = (text.value or b"an unknown error").decode()
        raise _core.DeviceError(f"{what}: the driver says {said} ({code})")


def call(name: str, *arguments: Any) -> None:
    """A function of the driver that gives its status. Raises DeviceError."""
    check(getattr(driver(), name)(*arguments), name)


@functools.cache
def primary_context(ordinal: int) -> int:
    """The primary context of a GPU, which this library works in, as an integer; never released."""
    context, device = ctypes.c_void_p(), ctypes.c_int()
    _core.zeros(1, dtype="uint8", device=f"cuda:{ordinal}")  # starts the driver
    check(driver().cuDeviceGet(ctypes.byref(device), ordinal), f"looking for cuda:{ordinal}")
    code = driver().cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    check(code, f"retaining the primary context of cuda:{ordinal}")
    return context.value or 0


def push(ordinal: int) -> None:
    """Makes a GPU's primary context current."""
    check(
        driver().cuCtxPushCurrent_v2(ctypes.c_void_p(primary_context(ordinal))), "cuCtxPushCurrent"
    )


def pop() -> None:
    """Puts back the context that was current before push()."""
    check(driver().cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p())), "cuCtxPopCurrent")


@contextmanager
def current_context(device: _core.device) -> Iterator[None]:
    """Inside it the device's primary context is current; on the CPU nothing happens."""
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
    """Gives something back by the function `name`, after all work of the device, which may use it; also
    while another thread captures a stream."""
    with suppress(_core.DeviceError), current_context(device):
        mode = ctypes.c_int(_RELAXED)
        call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        try:
            call("cuCtxSynchronize")
            call(name, handle)
        finally:
            call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
