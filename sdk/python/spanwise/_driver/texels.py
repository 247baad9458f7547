# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays as the texels of textures and surfaces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .. import _core

# Ordered by the kind numbers of the CPU's texture functions.
DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float16")
REALS = ("float32", "float16")
FRACTIONS = ("uint8", "int8", "uint16", "int16")
_CHANNELS = (1, 2, 4)


@dataclass(frozen=True)
class Texels:
    """An array with the meaning of its axes: [layers,] [z,] [y,] x [, channels]."""

    array: _core.Array
    channels: int
    layers: int  # 0: not layered
    extent: tuple[int, ...]  # (x[, y[, z]]) in texels
    pitch: int  # bytes from row to row; 0: rows are not contiguous

    @property
    def kind(self) -> int:
        """The number of the dtype in the CPU's texture functions."""
        return DTYPES.index(self.array.dtype.name)

    @property
    def bytes(self) -> int:
        """Bytes of one texel."""
        return self.array.itemsize * self.channels

    @property
    def width_bytes(self) -> int:
        return self.extent[0] * self.bytes

    def packed(self) -> Texels:
        """The texels in a C-contiguous copy of the array; waits for the copy."""
        copy = self.array.copy("C")
        copy.sync()
        return Texels(copy, self.channels, self.layers, self.extent, self.width_bytes)


def texels(caller: str, array: Any, device: Any, channels: int | None, layered: bool) -> Texels:
    """`array` (of any library) as texels, on `device` if given. Raises ArgumentError for dtypes,
    channels and ranks that textures and surfaces do not support."""
    source = _core._asarray(array, device=device)
    if source.dtype.name not in DTYPES:
        raise _core.ArgumentError(
            f"{caller}: expected an array of {', '.join(DTYPES)}, got {source.dtype}; convert it with astype()"
        )
    if channels is not None and channels not in _CHANNELS:
        raise _core.ArgumentError(
            f"{caller}: expected channels to be one of {_CHANNELS}, got {channels!r}; three channels are "
            "stored as four"
        )
    shape, axes = list(source.shape), "1 or 2 dimensions" if layered else "1 to 3 dimensions"
    if channels is not None:
        last = shape.pop() if shape else 0
        if last != channels:
            raise _core.ArgumentError(
                f"{caller}: expected the last axis to be the {channels} channels, got shape {source.shape}"
            )
        axes += ", and one of channels"
    layers = 0
    if layered:
        layers = shape.pop(0) if shape else 0
        axes += " behind one of layers"
    if not 1 <= len(shape) <= (2 if layered else 3) or source.size == 0:
        raise _core.ArgumentError(
            f"{caller}: expected an array of {axes} with elements, got shape {source.shape}"
        )
    extent = tuple(reversed(shape))
    return Texels(source, channels or 1, layers, extent, _pitch(source, channels, extent))


def _pitch(source: _core.Array, channels: int | None, extent: tuple[int, ...]) -> int:
    """Bytes from row to row; 0 if the texels of a row are not contiguous."""
    strides = list(source.strides)
    width = extent[0] * source.itemsize * (channels or 1)
    if channels is not None and strides.pop() != source.itemsize and channels > 1:
        return 0
    if extent[0] > 1 and strides[-1] != source.itemsize * (channels or 1):
        return 0
    if math.prod(source.shape) * source.itemsize == width:  # one row
        return width
    return strides[-2] if strides[-2] >= width else 0
