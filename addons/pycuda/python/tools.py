# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.tools``."""

import functools
import gc
import os
from pathlib import Path

import spanwise as sw

from ._devices import (
    Context,
    Device,
    DeviceMemoryPool,
    PageLockedMemoryPool,
    PooledDeviceAllocation,
    bitlog2,
)
from ._types import (
    Argument,
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)
from ._unsupported import module_getattr

__all__ = [
    "Argument",
    "DeviceData",
    "DeviceMemoryPool",
    "PageLockedMemoryPool",
    "PooledDeviceAllocation",
    "ScalarArg",
    "VectorArg",
    "bitlog2",
    "clear_context_caches",
    "context_dependent_memoize",
    "dtype_to_ctype",
    "get_arg_type",
    "get_or_register_dtype",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
    "parse_c_arg",
    "register_dtype",
]


def _configured_ordinal():
    """The ordinal in $CUDA_DEVICE or ~/.cuda_device, or None."""
    ordinal = os.environ.get("CUDA_DEVICE")
    file = Path.home() / ".cuda_device"
    if ordinal is None and file.is_file():
        ordinal = file.read_text().strip()
    return int(ordinal) if ordinal else None


def make_default_context(ctx_maker=None):
    """Pushes and returns the context of the device that $CUDA_DEVICE or ~/.cuda_device names, else
    of the default device. `ctx_maker(device)` may push another."""
    ordinal = _configured_ordinal()
    device = Device(sw.device()) if ordinal is None else Device(ordinal)
    return device.make_context() if ctx_maker is None else ctx_maker(device)


class DeviceData:
    """Properties of a device that determine launch configurations."""

    def __init__(self, dev=None):
        dev = Context.get_device() if dev is None else dev
        properties = dev.spanwise_device.properties
        self.max_threads = properties.max_threads_per_block
        self.warp_size = properties.warp_size
        self.shared_memory = properties.max_shared_bytes
        # PyCUDA's constants: the driver does not report these.
        self.thread_blocks_per_mp, self.warps_per_mp = 8, 64
        self.registers = 65536
        self.smem_alloc_granularity, self.smem_granularity = 128, 32
        self.register_allocation_unit = "warp"

    def align_bytes(self, word_size=4):
        """The alignment in bytes for loads of 4, 8 or 16 bytes by each thread."""
        if word_size not in (4, 8, 16):
            raise ValueError(f"DeviceData: expected words of 4, 8 or 16 bytes, got {word_size}")
        return 64 if word_size == 4 else 128

    def align_words(self, word_size):
        return self.align_bytes(word_size) // word_size

    def align(self, bytes, word_size=4):
        return -(-bytes // self.align_bytes(word_size)) * self.align_bytes(word_size)

    def align_dtype(self, elements, dtype_size):
        return -(-elements // self.align_words(dtype_size)) * self.align_words(dtype_size)

    def coalesce(self, thread_count):
        """`thread_count` rounded up to a multiple of 16."""
        return -(-thread_count // 16) * 16


_caches = []


def context_dependent_memoize(func):
    """Decorator: caches the results of `func` for each context and each set of arguments."""
    cache = {}
    _caches.append(cache)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        key = (Context.get_current(), args, frozenset(kwargs.items()))
        if key not in cache:
            cache[key] = func(*args, **kwargs)
        return cache[key]

    return wrapper


def clear_context_caches():
    """Empties the caches of context_dependent_memoize."""
    for cache in _caches:
        cache.clear()


def init_cuda_context_fixture():
    """A generator for a pytest fixture: pushes the default context, and pops it afterwards."""
    context = make_default_context()
    yield
    context.pop()
    clear_context_caches()
    gc.collect()


def mark_cuda_test(inner_f):
    """Decorator: runs a test inside the default context."""

    @functools.wraps(inner_f)
    def wrapper(*args, **kwargs):
        fixture = init_cuda_context_fixture()
        next(fixture)
        try:
            inner_f(*args, **kwargs)
        finally:
            next(fixture, None)

    return wrapper


__getattr__ = module_getattr("pycuda.tools", __name__)
