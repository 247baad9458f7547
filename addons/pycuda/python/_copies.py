# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's copies and memsets, which accept addresses as integers."""

import functools

import numpy as np

import spanwise as sw

from .._driver.memory import order_of
from ._memory import as_memory, host_bytes, mem_alloc, on_stream

__all__ = [
    "Memcpy2D", "Memcpy3D", "from_device", "from_device_like", "mem_alloc_like", "mem_alloc_pitch",
    "memcpy_dtod", "memcpy_dtod_async", "memcpy_dtoh", "memcpy_dtoh_async", "memcpy_htod",
    "memcpy_htod_async", "memcpy_peer", "memcpy_peer_async", "memset_d2d8", "memset_d2d8_async",
    "memset_d2d16", "memset_d2d16_async", "memset_d2d32", "memset_d2d32_async", "memset_d8",
    "memset_d8_async", "memset_d16", "memset_d16_async", "memset_d32", "memset_d32_async",
    "to_device",
]  # fmt: skip

_drv = sw.driver


def mem_alloc_like(x):
    """x.nbytes uninitialised bytes on the device."""
    return mem_alloc(x.nbytes)


def mem_alloc_pitch(width, height, access_size):
    """(allocation, pitch) for `height` rows of `width` bytes that start `pitch` bytes apart, a
    multiple of 512, which is enough for textures and for any `access_size`."""
    pitch = -(-int(width) // 512) * 512
    return mem_alloc(pitch * height), pitch


def memcpy_htod(dest, src, stream=None):
    """Copies the bytes of the host array `src` to the device memory `dest`, queued on `stream`; on
    return `src` may be modified."""
    source = host_bytes(src, "memcpy_htod")
    if source.size:
        _drv.memcpy_htod(as_memory(dest, source.nbytes), source, stream)


def memcpy_dtoh(dest, src, stream=None):
    """Fills the host array `dest` from the device memory `src`, on `stream`. It waits for the
    copy."""
    target = host_bytes(dest, "memcpy_dtoh")
    if target.size:
        _drv.memcpy_dtoh(target, as_memory(src, target.nbytes), stream)


memcpy_htod_async, memcpy_dtoh_async = memcpy_htod, memcpy_dtoh


def _between_addresses(copy):
    """`copy` for sources and destinations that may be addresses."""

    @functools.wraps(copy)
    def copy_bytes(dest, src, size, *args, **options):
        copy(as_memory(dest, size), as_memory(src, size), int(size), *args, **options)

    return copy_bytes


memcpy_dtod = memcpy_dtod_async = _between_addresses(_drv.memcpy_dtod)
memcpy_peer = memcpy_peer_async = _between_addresses(_drv.memcpy_peer)


def _memset(set_values, itemsize):
    """`set_values` for a destination that may be an address."""

    @functools.wraps(set_values)
    def memset(dest, value, count, *args, **options):
        count = int(count)
        set_values(as_memory(dest, count * itemsize), int(value), count, *args, **options)

    return memset


memset_d8 = memset_d8_async = _memset(_drv.memset_d8, 1)
memset_d16 = memset_d16_async = _memset(_drv.memset_d16, 2)
memset_d32 = memset_d32_async = _memset(_drv.memset_d32, 4)


def _memset_rows(set_rows, itemsize):
    """`set_rows` for a destination that may be an address, on a stream."""

    @functools.wraps(set_rows)
    def memset(dest, pitch, value, width, height, stream=None):
        nbytes = pitch * (height - 1) + width * itemsize
        with on_stream(stream):
            set_rows(as_memory(dest, nbytes), pitch, value, width, height)

    return memset


memset_d2d8 = memset_d2d8_async = _memset_rows(_drv.memset_d2d8, 1)
memset_d2d16 = memset_d2d16_async = _memset_rows(_drv.memset_d2d16, 2)
memset_d2d32 = memset_d2d32_async = _memset_rows(_drv.memset_d2d32, 4)


def to_device(x):
    """A new allocation on the device with the bytes of the host array or buffer `x`."""
    source = host_bytes(x, "to_device")
    allocation = mem_alloc(source.nbytes)
    memcpy_htod(allocation, source)
    return allocation


def from_device(devptr, shape, dtype, order="C"):
    """A new NumPy array of that shape, dtype and order with the bytes at `devptr`."""
    out = np.empty(shape, dtype, order)
    memcpy_dtoh(out, devptr)
    return out


def from_device_like(devptr, other):
    """A new NumPy array with the shape and dtype of `other` and the bytes at `devptr`."""
    return from_device(devptr, other.shape, other.dtype, order_of(other))


def _resolving_setter(setter, is_host):
    """`setter` of Memcpy2D or Memcpy3D for host arrays of any dtype, or for addresses."""

    @functools.wraps(setter)
    def set_memory(self, x):
        setter(self, host_bytes(x, type(self).__name__) if is_host else as_memory(x, 0))

    return set_memory


def _with_addresses(base):
    """A class of rectangular copies that takes addresses and arrays of any dtype."""
    members = {"__doc__": base.__doc__}
    for end in ("src", "dst"):
        for kind in ("host", "device", "unified"):
            name = f"set_{end}_{kind}"
            members[name] = _resolving_setter(getattr(base, name), kind == "host")
    return type(base.__name__, (base,), members)


Memcpy2D = _with_addresses(_drv.Memcpy2D)
Memcpy3D = _with_addresses(_drv.Memcpy3D)
