# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's memory: raw allocations, their copies and memsets, also of rectangles and boxes of pitched
memory, with bounds checks, and page-locked and aligned NumPy arrays. All of it on the CPU too, where
page-locked memory is pageable.

A destination or source on the device is a DeviceAllocation or a C-contiguous array of any library.
Copies are queued on `stream`, by default the current stream, and the _async functions are the same.
All functions raise ArgumentError for too little memory, CopyNeededError for memory that is not
C-contiguous.

Widths, pitches and x offsets are bytes; heights, depths, y and z are rows and slices. Rectangles
are copied as strided arrays, so that pitches need no alignment."""

from __future__ import annotations

import ctypes
import enum
import functools
import math
import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core
from . import _driver_api

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "DeviceAllocation", "Memcpy2D", "Memcpy3D", "aligned_empty", "aligned_zeros", "all_bytes",
    "array_at", "bytes_on_device", "from_device", "from_device_like", "host_alloc_flags",
    "mem_alloc", "mem_alloc_like", "mem_alloc_pitch", "mem_get_info", "mem_host_register_flags",
    "memcpy_dtod", "memcpy_dtod_async", "memcpy_dtoh", "memcpy_dtoh_async", "memcpy_htod",
    "memcpy_htod_async", "memcpy_peer", "memcpy_peer_async", "memset_d2d8", "memset_d2d16",
    "memset_d2d32", "memset_d8", "memset_d8_async", "memset_d16", "memset_d16_async",
    "memset_d32", "memset_d32_async", "order_of", "pagelocked_empty", "pagelocked_empty_like",
    "pagelocked_zeros", "pagelocked_zeros_like", "register_host_memory", "to_device",
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


# ---- Pitched memory: rectangles and boxes ----

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


class _PitchedOperand:
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
        self._source, self._target = _PitchedOperand(), _PitchedOperand()

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
        target = _PitchedOperand()
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


# ---- Host memory ----

# CU_MEMHOSTALLOC_* and CU_MEMHOSTREGISTER_*.
host_alloc_flags = enum.IntFlag(
    "host_alloc_flags", {"PORTABLE": 1, "DEVICEMAP": 2, "WRITECOMBINED": 4}
)
mem_host_register_flags = enum.IntFlag("mem_host_register_flags", {"PORTABLE": 1, "DEVICEMAP": 2})


def _release(device: Any, process: int, function: str, address: int) -> None:
    if process == os.getpid():  # a forked child cannot call the driver
        _driver_api.destroy(device, function, ctypes.c_void_p(address))


def _memory_at(address: int, nbytes: int, device: Any, function: str) -> Any:
    """The memory at `address` as an object with the buffer protocol. The driver function `function` is
    called on `address` when the object is freed."""
    memory = (ctypes.c_uint8 * nbytes).from_address(address)
    # Not at exit: the end of the process frees the memory.
    weakref.finalize(memory, _release, device, os.getpid(), function, address).atexit = False
    return memory


def _nbytes(shape: Any, dtype: np.dtype[Any]) -> int:
    return math.prod(shape if isinstance(shape, tuple | list) else (shape,)) * dtype.itemsize


def aligned_empty(
    shape: Any, dtype: Any, order: Any = "C", alignment: int = 4096
) -> np.ndarray[Any, Any]:
    """An uninitialised NumPy array whose address is a multiple of `alignment` bytes."""
    import numpy as np

    dtype = np.dtype(dtype)
    nbytes = _nbytes(shape, dtype)
    buffer = np.empty(nbytes + alignment, "uint8")
    start = -buffer.ctypes.data % alignment
    return buffer[start : start + nbytes].view(dtype).reshape(shape, order=order)


def pagelocked_empty(
    shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0
) -> np.ndarray[Any, Any]:
    """An uninitialised NumPy array in page-locked memory. The memory is freed with the array's last
    view, after waiting for all work of the device. `mem_flags` are host_alloc_flags. Raises
    DeviceError."""
    import numpy as np

    device, dtype = _core.device(), np.dtype(dtype)
    nbytes = _nbytes(shape, dtype)
    if device.kind == "cpu" or nbytes == 0:
        return aligned_empty(shape, dtype, order)
    address, size = ctypes.c_void_p(), ctypes.c_size_t(nbytes)
    with _driver_api.current_context(device):
        _driver_api.call("cuMemHostAlloc", ctypes.byref(address), size, mem_flags)
    memory = _memory_at(address.value or 0, nbytes, device, "cuMemFreeHost")
    return np.frombuffer(memory, dtype).reshape(shape, order=order)


def order_of(like: Any) -> str:
    """The memory order of a NumPy array: "F" if it is contiguous in Fortran order only, else "C"."""
    return "F" if like.flags.f_contiguous and not like.flags.c_contiguous else "C"


def pagelocked_empty_like(array: Any, mem_flags: int = 0) -> np.ndarray[Any, Any]:
    """pagelocked_empty() with the shape, dtype and order of `array`."""
    return pagelocked_empty(array.shape, array.dtype, order_of(array), mem_flags)


def _with_zeros(empty: Callable[..., Any]) -> Callable[..., np.ndarray[Any, Any]]:
    @functools.wraps(empty)
    def zeros(*args: Any, **options: Any) -> np.ndarray[Any, Any]:
        out = empty(*args, **options)
        out.fill(0)
        return out

    zeros.__name__ = zeros.__qualname__ = empty.__name__.replace("empty", "zeros")
    zeros.__doc__ = f"As {empty.__name__}, filled with zeros."
    return zeros


aligned_zeros, pagelocked_zeros = _with_zeros(aligned_empty), _with_zeros(pagelocked_empty)
pagelocked_zeros_like = _with_zeros(pagelocked_empty_like)


def register_host_memory(array: Any, flags: int = 0) -> np.ndarray[Any, Any]:
    """Page-locks the memory of a contiguous NumPy array and returns an array over it, which keeps
    `array` alive. The last view of the result unregisters the memory, after waiting for all work of
    the device. `flags` are mem_host_register_flags. Raises ArgumentError for memory that is not
    contiguous, DeviceError from the driver."""
    import numpy as np

    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise _core.ArgumentError(
            f"register_host_memory: expected contiguous memory, got strides {array.strides}; pass the whole array"
        )
    device = _core.device()
    if device.kind == "cpu" or array.nbytes == 0:
        return array.view()
    address, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
    with _driver_api.current_context(device):
        _driver_api.call("cuMemHostRegister_v2", address, size, flags)
    memory = _memory_at(array.ctypes.data, array.nbytes, device, "cuMemHostUnregister")
    memory.owner = array  # outlives the registration
    return np.frombuffer(memory, array.dtype).reshape(array.shape, order=order_of(array))
