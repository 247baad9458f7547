# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's memory pools over the pool of the device.

Spanwise's allocations come from the device's pool in any case; these classes round sizes and count
blocks as PyCUDA's do. Free blocks are held by the device's pool, not by these objects.
"""

import weakref

import numpy as np

import spanwise as sw

from ._memory import DeviceAllocation, registered

_MANTISSA_BITS = 2


def bitlog2(n):
    """The position of the highest set bit of `n`."""
    return int(n).bit_length() - 1


class _Pool:
    held_blocks = 0
    managed_bytes = property(lambda self: self.active_bytes)

    def __init__(self):
        self.active_blocks = self.active_bytes = 0

    @staticmethod
    def bin_number(size):
        """The number of the bin for blocks of `size` bytes: exponent and two bits of mantissa."""
        exponent = bitlog2(size)
        if size <= 0:
            return 0
        shift = exponent - _MANTISSA_BITS
        head = size >> shift if shift >= 0 else size << -shift
        return (exponent << _MANTISSA_BITS) | (head & ((1 << _MANTISSA_BITS) - 1))

    @staticmethod
    def alloc_size(bin_nr):
        """The bytes of the blocks of a bin: the largest size that belongs to it."""
        exponent, mantissa = bin_nr >> _MANTISSA_BITS, bin_nr & ((1 << _MANTISSA_BITS) - 1)
        shift = exponent - _MANTISSA_BITS
        head = (1 << _MANTISSA_BITS) | mantissa
        return ((head + 1) << shift) - 1 if shift >= 0 else max(head >> -shift, 1)

    def _count(self, block, nbytes):
        """Counts `block` as active until it is destroyed, and returns it."""
        self._changed(1, nbytes)
        weakref.finalize(block, self._changed, -1, -nbytes).atexit = False
        return block

    def _changed(self, blocks, nbytes):
        self.active_blocks += blocks
        self.active_bytes += nbytes

    def free_held(self):
        """No effect: free blocks are held by the device's pool; see spanwise.memory."""

    stop_holding = free_held


class PooledDeviceAllocation(DeviceAllocation):
    """Memory of a DeviceMemoryPool."""


class DeviceMemoryPool(_Pool):
    """Allocates device memory; active_blocks and active_bytes count what is in use."""

    def allocate(self, size):
        """At least `size` bytes on the device, as an allocation that frees itself."""
        rounded = max(self.alloc_size(self.bin_number(size)), size)
        block = registered(PooledDeviceAllocation(sw.empty(rounded, dtype="uint8")))
        return self._count(block, rounded)

    __call__ = allocate


class PageLockedMemoryPool(_Pool):
    """Allocates page-locked host memory as NumPy arrays."""

    def allocate(self, shape, dtype, order="C"):
        array = sw.driver.pagelocked_empty(shape, dtype, order)
        owner = np.asarray(array).base  # lives as long as any view of the memory
        self._count(array if owner is None else owner, array.nbytes)
        return array
