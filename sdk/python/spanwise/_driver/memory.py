# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's raw allocations, copies and memsets, with bounds checks, on the CPU too.

A destination or source on the device is a DeviceAllocation or a C-contiguous array of any library.
Copies are queued on `stream`, by default the current stream, and the _async functions are the same.
All functions raise ArgumentError for too little memory, CopyNeededError for memory that is not
C-contiguous.
"""

from typing import Any

from .. import _core
from .host import order_of

__all__ = [
    "DeviceAllocation", "from_device", "from_device_like", "mem_alloc", "mem_alloc_like",
    "mem_get_info", "memcpy_dtod", "memcpy_dtod_async", "memcpy_dtoh", "memcpy_dtoh_async",
    "memcpy_htod", "memcpy_htod_async", "memcpy_peer", "memcpy_peer_async", "memset_d8",
    "memset_d8_async", "memset_d16", "memset_d16_async", "memset_d32", "memset_d32_async",
    "to_device",
]  # fmt: skip


class DeviceAllocation(_core._DriverMemory):
    """Device memory without a dtype: a kernel argument for a pointer of any type.

    int() is the address. The memory is freed with the last reference, or by free(), in stream order
    after all work queued on it. After free() every use raises ArgumentError.
    """

    @property
    def nbytes(self):
        return self._live_array().nbytes

    def free(self):
        self.array = None

    def _live_array(self):
        if self.array is None:
            raise _core.ArgumentError(
                "device allocation: it was freed; make another with mem_alloc()"
            )
        return self.array

    def __int__(self):
        return self._live_array().ptr

    __index__ = __int__


class _AddressedMemory:
    """Memory at an address, described for asarray(); keeps `owner` alive."""

    def __init__(self, protocol, description, owner):
        self.owner = owner
        setattr(self, protocol, description)


def array_at(
    address: int,
    shape: tuple[int, ...],
    typestr: str = "|u1",
    strides: tuple[int, ...] | None = None,
    owner: Any = None,
) -> _core.Array:
    """The array over the default device's memory at `address`; strides are in bytes. The array keeps
    `owner`, which owns the memory, alive."""
    description = {
        "shape": shape, "typestr": typestr, "strides": strides, "data": (address, False),
        "version": 3,
    }  # fmt: skip
    is_cpu = _core.device().kind == "cpu"
    protocol = "__array_interface__" if is_cpu else "__cuda_array_interface__"
    return _core._asarray(_AddressedMemory(protocol, description, owner), copy=False)


def mem_alloc(nbytes):
    """`nbytes` uninitialised bytes on the default device."""
    return DeviceAllocation(_core.empty(nbytes, dtype="uint8"))


def mem_alloc_like(x):
    """x.nbytes uninitialised bytes on the default device."""
    return mem_alloc(x.nbytes)


def mem_get_info():
    """(free, total) memory of the default device in bytes."""
    properties = _core.device().properties
    return properties.free_memory, properties.total_memory


def all_bytes(x, caller):
    """The bytes of an allocation or of a C-contiguous array of any device, as a uint8 array that shares
    their memory. Raises ArgumentError for a freed allocation, CopyNeededError for other layouts."""
    is_allocation = isinstance(x, DeviceAllocation)
    return _flat(x._live_array() if is_allocation else _core._asarray(x, copy=False), caller)


def bytes_on_device(x, nbytes, caller):
    """The first `nbytes` of all_bytes(); ArgumentError if it has fewer."""
    flat = all_bytes(x, caller)
    if flat.nbytes < nbytes:
        raise _core.ArgumentError(
            f"{caller}: expected at least {nbytes} bytes on the device, got {flat.nbytes}; allocate as many bytes as the call copies or sets"
        )
    return flat[:nbytes]


def _flat(array, caller):
    if not array.flags.c_contiguous:
        raise _core.CopyNeededError(
            f"{caller}: expected C-contiguous memory, as it is used as bytes, got strides {array.strides} for "
            f"shape {array.shape}; use sw.copyto(), which copies any layout, or sw.asarray(x), which shares it"
        )
    return array.reshape(-1).view("uint8")


def host_bytes(x, caller):
    """The bytes of a contiguous array on the host, as a uint8 array."""
    array = _core._asarray(x, copy=False)
    if array.device.kind != "cpu":
        raise _core.ArgumentError(
            f"{caller}: expected a host array, got one on {array.device}; use memcpy_dtod or sw.copyto"
        )
    return _flat(array, caller)


def on_stream(stream, copy, *args):
    """copy(*args) with `stream` as the current stream; None leaves the current stream."""
    if stream is None:
        return copy(*args)
    with _core.Stream.foreign(stream):
        return copy(*args)


def memcpy_htod(dest, src, stream=None):
    """Copies the bytes of the host array `src` to the allocation or array `dest`; on return `src`
    may be modified."""
    source = host_bytes(src, "memcpy_htod")
    target = bytes_on_device(dest, source.nbytes, "memcpy_htod")
    on_stream(stream, _core.copyto, target, source)


def memcpy_dtoh(dest, src, stream=None):
    """Fills the host array `dest` from the allocation or array `src`, and waits for the copy."""
    target = host_bytes(dest, "memcpy_dtoh")
    source = bytes_on_device(src, target.nbytes, "memcpy_dtoh")
    on_stream(stream, _core.copyto, target, source)


def memcpy_dtod(dest, src, size, stream=None):
    """Copies `size` bytes between two allocations or arrays."""
    target = bytes_on_device(dest, size, "memcpy_dtod")
    on_stream(stream, _core.copyto, target, bytes_on_device(src, size, "memcpy_dtod"))


def memcpy_peer(dest, src, size, dest_context=None, src_context=None, stream=None):
    """memcpy_dtod() between any devices. The contexts are ignored."""
    memcpy_dtod(dest, src, size, stream)


def _memset(bits):
    dtype, itemsize, caller = _core.dtype(f"uint{bits}"), bits // 8, f"memset of uint{bits}"

    def memset(dest, value, count, stream=None):
        target = bytes_on_device(dest, count * itemsize, caller).view(dtype)
        on_stream(stream, target.__setitem__, ..., value)

    memset.__name__ = memset.__qualname__ = f"memset_d{bits}"
    memset.__doc__ = f"Sets `count` {bits}-bit values of an allocation or array to `value`."
    return memset


memset_d8, memset_d16, memset_d32 = map(_memset, (8, 16, 32))
memcpy_htod_async, memcpy_dtoh_async = memcpy_htod, memcpy_dtoh
memcpy_dtod_async, memcpy_peer_async = memcpy_dtod, memcpy_peer
memset_d8_async, memset_d16_async, memset_d32_async = memset_d8, memset_d16, memset_d32


def to_device(x):
    """A new allocation on the default device with the bytes of the host array `x`."""
    allocation = mem_alloc_like(x)
    memcpy_htod(allocation, x)
    return allocation


def from_device(allocation, shape, dtype, order="C"):
    """A new NumPy array of that shape, dtype and order with the allocation's bytes."""
    import numpy

    out = numpy.empty(shape, dtype, order)
    memcpy_dtoh(out.T if order == "F" else out, allocation)
    return out


def from_device_like(allocation, other):
    """A new NumPy array like `other` with the allocation's bytes."""
    return from_device(allocation, other.shape, other.dtype, order_of(other))
