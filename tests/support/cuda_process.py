# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers for processes with several CUDA libraries: GPU memory for all, and the current context."""

import contextlib
import ctypes
import os
from functools import cache


def leave_gpu_memory_to_others():
    """Prevents JAX and TensorFlow from reserving most of the GPU memory at their first use.

    Must be called before they are imported. Variables that the user has set are not changed.
    """
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")


@cache
def _driver():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:  # a machine without a driver
        return None
    return driver if driver.cuInit(0) == 0 else None


def current_context():
    """The handle of this thread's current CUDA context, or None."""
    context = ctypes.c_void_p()
    if _driver() is None or _driver().cuCtxGetCurrent(ctypes.byref(context)) != 0:
        return None
    return context.value


def current_gpu():
    """The ordinal of the GPU whose context is current in this thread, or None."""
    ordinal = ctypes.c_int()
    if current_context() is None or _driver().cuCtxGetDevice(ctypes.byref(ordinal)) != 0:
        return None
    return ordinal.value


def restore_context(context):
    """Makes a context of `current_context` current again."""
    if _driver() is not None:
        _driver().cuCtxSetCurrent(ctypes.c_void_p(context))


@contextlib.contextmanager
def restored_context():
    """Restores the context that was current at the beginning, if there is a driver."""
    before = current_context()
    try:
        yield
    finally:
        if current_context() != before:
            restore_context(before)
