# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's pitched memory: allocations, and copies and memsets of rectangles and boxes.

Widths, pitches and x offsets are bytes; heights, depths, y and z are rows and slices. Rectangles
are copied as strided arrays, so that pitches need no alignment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .memory import DeviceAllocation, all_bytes, mem_alloc, on_stream

__all__ = ["Memcpy2D", "Memcpy3D", "mem_alloc_pitch", "memset_d2d8", "memset_d2d16", "memset_d2d32"]

_PITCH = 512  # bytes; a multiple of the pitch alignment of textures on every GPU


def mem_alloc_pitch(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]:
    """(allocation, pitch): memory for `height` rows of `width` bytes that start `pitch` bytes
    apart. Raises ArgumentError unless access_size is 4, 8 or 16."""
    if access_size not in (4, 8, 16):
        raise _core.ArgumentError(
            f"mem_alloc_pitch: expected access_size 4, 8 or 16, the bytes a thread reads at once, got {access_size}"
        )
    pitch = -(-width // _PITCH) * _PITCH
    return mem_alloc(pitch * height), pitch


def _pieces(
    flat: _core.Array, start: int, steps: tuple[int, int], size: tuple[int, int, int]
) -> Any:
    """Views that together cover the box of `size` (slices, rows, bytes). The last row and the last
    slice are separate views, since the memory may end before their full pitch."""
    (by_slice, by_row), (depth, height, width) = steps, size
    if depth > 1:
        slices = flat[start : start + (depth - 1) * by_slice]
        rows = slices.reshape(depth - 1, by_slice)[:, : height * by_row]
        # The last row of each slice is separate as well: a slice may end before its full pitch.
        yield rows[:, : (height - 1) * by_row].reshape(depth - 1, height - 1, by_row)[..., :width]
        yield rows[:, (height - 1) * by_row :][:, :width]
        start += (depth - 1) * by_slice
    rows = flat[start : start + (height - 1) * by_row]
    yield rows.reshape(height - 1, by_row)[:, :width]
    start += (height - 1) * by_row
    yield flat[start : start + width]


class _CopyOperand:
    """The source or destination of a copy: the memory, the start of the rectangle or box in it, and
    the bytes between rows and rows between slices (0: packed)."""

    memory: Any = None
    x = y = z = pitch = slice_rows = 0

    def pieces(self, size: tuple[int, int, int], caller: str) -> list[_core.Array]:
        """As _pieces(), after checks. Raises ArgumentError for a box that exceeds the memory."""
        depth, height, width = size
        if self.memory is None:
            raise _core.ArgumentError(f"{caller}: expected set_src_... and set_dst_..., got one")
        flat = all_bytes(self.memory, caller)
        pitch = self.pitch or self.x + width
        by_slice = (self.slice_rows or self.y + height) * pitch
        if pitch < width or (by_slice < height * pitch and depth > 1):
            raise _core.ArgumentError(
                f"{caller}: rows of {width} bytes, {height} of them, do not fit into a pitch of {pitch} and {self.slice_rows} "
                "rows a slice; pass larger ones"
            )
        start = self.z * by_slice + self.y * pitch + self.x
        end = start + (depth - 1) * by_slice + (height - 1) * pitch + width
        if start < 0 or end > flat.nbytes:
            raise _core.ArgumentError(
                f"{caller}: expected bytes within the {flat.nbytes} of the memory, got {start} to {end}; see pitch, "
                "height and the start offsets"
            )
        return list(_pieces(flat, start, (by_slice, pitch), size))


def _operand_property(operand: str, field: str) -> property:
    def get(copy: Any) -> int:
        return getattr(getattr(copy, operand), field)

    def set_(copy: Any, value: int) -> None:
        setattr(getattr(copy, operand), field, int(value))

    return property(get, set_)


class Memcpy2D:
    """A copy of a rectangle: set source, destination and sizes, then call the object.

    src_pitch and dst_pitch are the bytes between rows (0: rows are packed); src_x_in_bytes, src_y,
    dst_x_in_bytes and dst_y the start of the rectangle; width_in_bytes and height (in rows) its
    size. Memory is a DeviceAllocation, or a C-contiguous array of any library. Raises ArgumentError
    for a rectangle that exceeds the memory.
    """

    src_x_in_bytes = _operand_property("_source", "x")
    src_y = _operand_property("_source", "y")
    src_pitch = _operand_property("_source", "pitch")
    dst_x_in_bytes = _operand_property("_target", "x")
    dst_y = _operand_property("_target", "y")
    dst_pitch = _operand_property("_target", "pitch")
    width_in_bytes = height = 0
    depth = 1

    def __init__(self) -> None:
        self._source, self._target = _CopyOperand(), _CopyOperand()

    def set_src_host(self, buffer: Any) -> None:
        """Sets the source, a host array."""
        self._source.memory = buffer

    def set_dst_host(self, buffer: Any) -> None:
        """Sets the destination, a writeable host array."""
        self._target.memory = buffer

    # The memory object itself determines its device.
    set_src_device = set_src_unified = set_src_host
    set_dst_device = set_dst_unified = set_dst_host

    def set_src_array(self, array: Any) -> None:
        """Always raises ArgumentError: CUDA arrays are made by sw.Texture and sw.Surface."""
        raise _core.ArgumentError(
            f"{type(self).__name__}: CUDA arrays are made by sw.Texture(x) and sw.Surface(x), which copy any array "
            "to them; surface.get() copies back"
        )

    set_dst_array = set_src_array

    def __call__(self, stream: Any = None, aligned: bool = True) -> None:
        """Copies on `stream`, by default the current stream. A copy to the host is complete on
        return. `aligned` is ignored."""
        # PyCUDA's copy(aligned) passes a bool.
        on_stream(None if isinstance(stream, bool) else stream, self._copy)

    def _copy(self) -> None:
        caller = type(self).__name__
        size = (self.depth, self.height, self.width_in_bytes)
        if min(size) <= 0:
            raise _core.ArgumentError(
                f"{caller}: expected width_in_bytes, height and depth of at least 1, got {size[::-1]}"
            )
        targets = self._target.pieces(size, caller)
        sources = self._source.pieces(size, caller)
        for target, source in zip(targets, sources, strict=True):
            if target.size:
                _core.copyto(target, source)


class Memcpy3D(Memcpy2D):
    """A copy of a box: as Memcpy2D, with slices. src_height and dst_height are the rows between
    slices (0: slices are packed), src_z and dst_z the first slice, depth the number of slices."""

    src_z = _operand_property("_source", "z")
    src_height = _operand_property("_source", "slice_rows")
    dst_z = _operand_property("_target", "z")
    dst_height = _operand_property("_target", "slice_rows")


def _memset_rows(bits: int) -> Callable[[Any, int, int, int, int], None]:
    dtype = _core.dtype(f"uint{bits}")
    caller = f"memset of {dtype}"

    def memset(dest: Any, pitch: int, value: int, width: int, height: int) -> None:
        target = _CopyOperand()
        target.memory, target.pitch = dest, pitch
        if pitch % dtype.itemsize:
            raise _core.ArgumentError(
                f"{caller}: expected a pitch that is a multiple of {dtype.itemsize} bytes, got {pitch}"
            )
        for piece in target.pieces((1, height, width * dtype.itemsize), caller):
            if piece.size:
                piece.view(dtype)[...] = value

    memset.__name__ = memset.__qualname__ = f"memset_d2d{bits}"
    memset.__doc__ = f"Sets `height` rows of `width` {bits}-bit values, which start `pitch` bytes apart, to `value`."
    return memset


memset_d2d8, memset_d2d16, memset_d2d32 = map(_memset_rows, (8, 16, 32))
