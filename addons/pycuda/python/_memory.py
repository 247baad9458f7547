# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Device memory by address: allocations, integers and pointer holders as Spanwise's memory.

PyCUDA's functions accept addresses as integers. An address inside an allocation of this module is
resolved to that allocation, so that bounds are checked and work is ordered after earlier work on
the same memory. Other addresses are used as they are.
"""

import bisect
import contextlib
import itertools
import threading
import weakref

import numpy as np

import spanwise as sw

from .._driver.memory import all_bytes, array_at

#: Address -> the allocation that begins there.
_allocations = weakref.WeakValueDictionary()
#: The keys of _allocations in ascending order, among them some of freed allocations.
_starts = []
#: Key -> an upper bound of the ends of all allocations that begin there or before.
_reach = {}
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
        with _starts_lock:
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
        index, end = bisect.bisect_left(_starts, start), start + allocation.nbytes
        if start not in _reach:
            _reach[start] = max(end, _reach[_starts[index - 1]] if index else 0)
            bisect.insort(_starts, start)
        while index < len(_starts) and _reach[_starts[index]] <= end:
            _reach[_starts[index]] = end
            index += 1
        if len(_starts) > 2 * len(_allocations) + 64:  # rarely, as it visits all of them
            ends = {start: start + known.nbytes for start, known in sorted(_allocations.items())}
            _starts[:] = ends
            _reach.clear()
            _reach.update(zip(ends, itertools.accumulate(ends.values(), max), strict=True))
    return allocation


def mem_alloc(nbytes):
    """`nbytes` uninitialised bytes on the current context's device. Raises driver.MemoryError."""
    return registered(DeviceAllocation(sw.empty(int(nbytes), dtype="uint8")))


def allocation_at(address):
    """The allocation from `address` to its end, or None if the address is in no allocation. Of several
    that overlap, views of one memory, that with the last end."""
    owner = _allocations.get(address)
    if owner is not None and _reach.get(address) == address + owner.nbytes:
        return owner
    with _starts_lock:
        owner = _allocations.get(address)
        end = address if owner is None else address + owner.nbytes
        index = bisect.bisect_right(_starts, address) - 1
        while index >= 0 and _reach[start := _starts[index]] > end:
            known = _allocations.get(start)
            if known is None:
                del _reach[start], _starts[index]
            elif start + known.nbytes > end:
                owner, end = known, start + known.nbytes
            index -= 1
        if owner is None or int(owner) == address:
            return owner
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


def as_allocation(x, nbytes, caller):
    """as_memory() as an allocation, which has the memory of another library's array. Raises
    CopyNeededError for one that is not C-contiguous."""
    memory = as_memory(x, nbytes)
    is_allocation = isinstance(memory, sw.driver.DeviceAllocation)
    return memory if is_allocation else sw.driver.DeviceAllocation(all_bytes(memory, caller))


def host_bytes(x, caller):
    """The bytes of a contiguous host array, bytes or another buffer, in the order of memory. Raises
    ValueError for strided arrays."""
    if not isinstance(x, np.ndarray):
        x = np.frombuffer(x, "uint8")  # read-only for NumPy's scalars, which cannot be written
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
