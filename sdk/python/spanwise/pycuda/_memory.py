# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Device memory by address: allocations, integers and pointer holders as Spanwise's memory.

PyCUDA's functions accept addresses as integers. An address inside an allocation of this module is
resolved to that allocation, so that bounds are checked and work is ordered after earlier work on
the same memory. Other addresses are used as they are.
"""

import bisect
import contextlib
import threading
import weakref

import numpy as np

import spanwise as sw

from .._driver.memory import array_at

#: Address -> the allocation that begins there.
_allocations = weakref.WeakValueDictionary()
#: The keys of _allocations in ascending order, among them some of freed allocations.
_starts = []
_starts_lock = threading.RLock()  # re-entrant: a garbage collection may run code that allocates


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


def registered(allocation):
    """`allocation`, to which addresses inside it are resolved from now on."""
    start = int(allocation)
    with _starts_lock:
        known = _allocations.get(start)
        if known is not None and known.nbytes >= allocation.nbytes:
            return allocation
        _allocations[start] = allocation
        index = bisect.bisect_left(_starts, start)
        if index == len(_starts) or _starts[index] != start:
            _starts.insert(index, start)
        if len(_starts) > 2 * len(_allocations) + 64:  # rarely, as it visits all of them
            _starts[:] = [start for start in _starts if start in _allocations]
    return allocation


def mem_alloc(nbytes):
    """`nbytes` uninitialised bytes on the current context's device. Raises driver.MemoryError."""
    return registered(DeviceAllocation(sw.empty(int(nbytes), dtype="uint8")))


def allocation_at(address):
    """The allocation from `address` to its end, or None if the address is in no allocation."""
    exact = _allocations.get(address)
    if exact is not None:
        return exact
    owner = None
    with _starts_lock:
        end = bisect.bisect_right(_starts, address)
        while end > 0 and (owner := _allocations.get(_starts[end - 1])) is None:
            end -= 1
            del _starts[end]
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
