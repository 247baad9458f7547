# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Host memory between inaccessible pages: an access outside of it ends the process."""

import ctypes
import mmap

import numpy as np

_PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class Arena:
    """A block of memory that is reused, for one array at a time."""

    def __init__(self, capacity):
        self.capacity = -(-capacity // _PAGE) * _PAGE
        self._memory = mmap.mmap(-1, self.capacity + 2 * _PAGE)
        whole = np.frombuffer(self._memory, np.uint8)
        for guard in (0, _PAGE + self.capacity):
            if _libc.mprotect(whole.ctypes.data + guard, _PAGE, 0) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")
        self._bytes = whole[_PAGE : _PAGE + self.capacity]

    def allocate(self, count, dtype, at_end):
        """`count` elements, of which the last (else the first) is next to an inaccessible page.

        They share the memory of earlier calls.
        """
        size = count * dtype.itemsize
        if size > self.capacity:
            raise ValueError(
                f"Arena.allocate: expected at most {self.capacity} bytes, got {size}, which do not fit"
            )
        start = self.capacity - size if at_end else 0
        return self._bytes[start : start + size].view(dtype)
