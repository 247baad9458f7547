# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A library with its own array type, which supports neither Spanwise nor DLPack nor NumPy.

A frame is a pitched array of float32, with padding after each row, as in cameras and codecs.
"""

from __future__ import annotations

import ctypes


class Frame:
    """``rows`` x ``columns`` pixels at ``address``, with ``pitch`` bytes from row to row. ``owner``
    keeps the memory alive."""

    def __init__(
        self,
        rows: int,
        columns: int,
        pitch: int | None = None,
        address: int | None = None,
        owner: object = None,
    ) -> None:
        self.rows, self.columns = rows, columns
        self.pitch = pitch if pitch is not None else (columns * 4 + 63) // 64 * 64
        if address is None:
            memory = (ctypes.c_char * (rows * self.pitch))()
            address, owner = ctypes.addressof(memory), memory
        self.address, self.owner = address, owner

    def row(self, i: int) -> ctypes.Array[ctypes.c_float]:
        return (ctypes.c_float * self.columns).from_address(self.address + i * self.pitch)

    def brighten(self, by: float) -> None:
        for i in range(self.rows):
            row = self.row(i)
            for j in range(self.columns):
                row[j] += by
