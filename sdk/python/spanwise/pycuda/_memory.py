# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Device memory by address: allocations, integers and pointer holders as Spanwise's memory.

PyCUDA's functions accept addresses as integers. An address inside an allocation of this module is
resolved to that allocation, so that bounds are checked and work is ordered after earlier work on
the same memory. Other addresses are used as they are.
"""

import bisect
import contextlib
import weakref

import numpy as np

import spanwise as sw

#: Address -> the allocation that begins there.
_allocations = weakref.WeakValueDictionary()


class DeviceAllocation(sw.driver.DeviceAllocation):
    """Device memory without a dtype. ``int(allocation)`` is its address, and ``allocation + n`` the
    address n bytes behind it. The memory is freed with the last reference, or by free()."""

    def __add__(self, nbytes):
        return int(self) + int(nbytes)

    __radd__ = __add__

    def __sub__(self, nbytes):
        return int(self) - int(nbytes)

    def free(self):
        """Releases the memory after the work that is queued on it."""
        if _allocations.get(int(self)) is self:
            del _allocations[int(self)]
        super().free()


class PointerHolderBase:
    """Base of objects that own device memory: get_pointer() returns its address."""

    def get_pointer(self):
        raise NotImplementedError(
            f"{type(self).__name__}: expected a method get_pointer() that returns the address"
        )

    def __int__(self):
        return int(self.get_pointer())

    __index__ = __int__


class _AddressedMemory:
    """Memory at an address, described for sw.asarray; keeps `owner` alive."""

    def __init__(self, protocol, description, owner):
        self.owner = owner
        setattr(self, protocol, description)


def array_at(address, shape, typestr="|u1", strides=None, owner=None):
    """The array over the current device's memory at `address`; strides are in bytes."""
    description = {
        "shape": shape, "typestr": typestr, "strides": strides, "data": (address, False),
        "version": 3,
    }  # fmt: skip
    if sw.device().kind == "cpu":
        source = np.asarray(_AddressedMemory("__array_interface__", description, owner))
    else:
        source = _AddressedMemory("__cuda_array_interface__", description, owner)
    return sw.asarray(source, copy=False)


def registered(allocation):
    """`allocation`, to which addresses inside it are resolved from now on."""
    known = _allocations.get(int(allocation))
    if known is None or known.nbytes < allocation.nbytes:
        _allocations[int(allocation)] = allocation
    return allocation


def mem_alloc(nbytes):
    """`nbytes` uninitialised bytes on the current context's device. Raises driver.MemoryError."""
    return registered(DeviceAllocation(sw.empty(int(nbytes), dtype="uint8")))


def allocation_at(address):
    """The allocation from `address` to its end, or None if the address is in no allocation."""
    exact = _allocations.get(address)
    if exact is not None:
        return exact
    starts = sorted(_allocations.keys())
    index = bisect.bisect_right(starts, address) - 1
    owner = _allocations.get(starts[index]) if index >= 0 else None
    if owner is None or address >= int(owner) + owner.nbytes:
        return None
    return sw.driver.DeviceAllocation(owner.array[address - int(owner) :])


def is_address(x):
    return isinstance(x, int | np.integer | PointerHolderBase) and not isinstance(x, bool)


def as_memory(x, nbytes):
    """`x` as memory that spanwise.driver accepts: an allocation, or another library's array. `x` may
    be an address; `nbytes` are then assumed to be there if it is in no known allocation."""
    if isinstance(x, sw.driver.DeviceAllocation):
        return x
    if is_address(x):
        return allocation_at(int(x)) or sw.driver.DeviceAllocation(
            array_at(int(x), (int(nbytes),), owner=x)
        )
    gpudata = getattr(x, "gpudata", None)
    return x if gpudata is None else as_memory(gpudata, nbytes)


def host_bytes(x, caller):
    """The bytes of a contiguous host array, bytes or another buffer, in the order of memory. Raises
    ValueError for strided arrays."""
    if not isinstance(x, np.ndarray):
        x = np.asarray(x) if isinstance(x, np.generic) else np.frombuffer(x, "uint8")
    if x.flags.c_contiguous:
        return x.reshape(-1).view("uint8")
    if x.flags.f_contiguous:
        return x.T.reshape(-1).view("uint8")
    raise ValueError(
        f"{caller}: expected contiguous host memory, got strides {x.strides} for shape {x.shape}; pass "
        "numpy.ascontiguousarray(x)"
    )


def on_stream(stream):
    """A context in which `stream`, if there is one, is the current stream."""
    return contextlib.nullcontext() if stream is None else sw.Stream.foreign(stream)


def order_of(x):
    """ "F" for an array that is contiguous in Fortran order only, else "C"."""
    return "F" if x.flags.f_contiguous and not x.flags.c_contiguous else "C"
