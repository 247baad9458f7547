# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A library with arrays of its own that has never heard of Spanwise, DLPack or NumPy.

A frame is rows of float32 with some bytes to spare after each, as cameras and codecs have them.
"""

import ctypes


class Frame:
    """``rows`` x ``columns`` pixels from ``address`` on, rows ``pitch`` bytes apart."""

    def __init__(self, rows, columns, pitch=None, address=None, owner=None):
        self.rows, self.columns = rows, columns
        self.pitch = pitch if pitch is not None else (columns * 4 + 63) // 64 * 64
        if address is None:
            owner = (ctypes.c_char * (rows * self.pitch))()
            address = ctypes.addressof(owner)
        self.address, self.owner = address, owner

    def row(self, i):
        return (ctypes.c_float * self.columns).from_address(self.address + i * self.pitch)

    def brighten(self, by):
        for i in range(self.rows):
            row = self.row(i)
            for j in range(self.columns):
                row[j] += by
