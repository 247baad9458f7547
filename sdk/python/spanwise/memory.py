# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics, limits and allocators of the memory of arrays.

Each device has a memory pool, which keeps freed blocks for later arrays. `device` is anything that
``sw.device`` takes; None is the default device. All sizes are bytes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from . import _core
from ._core import ArgumentError, Stream, device

__all__ = ["Pool", "pool", "stats", "use_allocator"]

#: ``allocate(ordinal, nbytes, stream)`` returns an object that owns the memory, with the address as
#: ``.ptr``, ``.data_ptr()`` or ``int()``. See use_allocator().
Allocator = Callable[[int, int, int], Any]


def stats(device: Any = None) -> dict[str, Any]:
    """The memory statistics of `device`, as a dict:

    ``used``: bytes of live arrays; ``peak``: maximum of ``used`` since the last ``reset_peak()``;
    ``limit``: upper bound of ``used``, or None; ``allocations``: the number of allocations, not
    counting small blocks from a thread's own free list; ``held``: bytes that the pool holds, in use
    or free; ``free`` and ``total``: bytes of the whole device; ``allocator``: "pool", or the name
    of the allocator in use; ``device``: its name.

    Memory that an array borrows from another library is not counted. Does not synchronise. Figures
    may be inconsistent while other threads allocate.
    """
    return pool(device).stats()


def pool(device: Any = None) -> Pool:
    """The pool of `device`."""
    return Pool(device)


def _statistic(name: str, doc: str) -> property:
    return property(lambda self: self.stats()[name], doc=doc)


class Pool:
    """A handle to the memory pool of one device; all handles of a device are equivalent."""

    def __init__(self, device: Any = None) -> None:
        self.device = _core.device(device)

    def __repr__(self) -> str:
        stats = self.stats()
        return f"Pool({str(self.device)!r}, used={stats['used']}, held={stats['held']})"

    def stats(self) -> dict[str, Any]:
        """As ``sw.memory.stats(self.device)``."""
        return _core._memory_stats(self.device)

    used = _statistic("used", "Bytes of live arrays.")
    peak = _statistic("peak", "The maximum of `used` since the program began, or `reset_peak()`.")
    held = _statistic("held", "Bytes that the pool has taken from the system, in use or free.")

    @property
    def limit(self) -> int | None:
        """Upper bound of `used` in bytes; None: no limit. An allocation that would exceed it raises
        OutOfMemoryError; a limit below `used` leaves existing arrays as they are."""
        return self.stats()["limit"]

    @limit.setter
    def limit(self, nbytes: int | None) -> None:
        if nbytes is not None and not hasattr(nbytes, "__index__"):
            raise TypeError(
                "limit: expected a number of bytes, such as 8 << 30, or None, got "
                f"{nbytes!r} of type {type(nbytes).__name__}"
            )
        _core._memory_limit(self.device, nbytes)

    def reset_peak(self) -> None:
        """Sets `peak` to `used`."""
        _core._memory_reset_peak(self.device)

    def trim(self) -> None:
        """Returns the free memory of the pool to the system, for other libraries and processes. On
        a GPU it waits for all work of the device."""
        _core._memory_trim(self.device)


def use_allocator(allocator: str | Allocator | None, device: Any = None) -> AllocatorChange:
    """Makes new arrays on `device` take their memory from `allocator`: "torch", "cupy" or "rmm" for
    that library's GPU allocator, "pool" or None for Spanwise's pool, or a function.

    The function is called as ``allocate(ordinal, nbytes, stream)``, with the stream as an integer
    (0 on the CPU), on any thread. It returns an object that owns the memory, with the address as
    ``.ptr``, ``.data_ptr()`` or ``int()``, a multiple of 16. The memory must be usable in the order
    of `stream`; Spanwise drops the object in the order of that stream, after all work on the
    memory. Each allocation costs a Python call, a microsecond or more.

    It takes effect at the call; used as a context manager, the result restores the previous
    allocator at exit. Arrays keep the allocator of their memory alive. Raises ArgumentError for an
    unknown name or a library's allocator on the CPU, ImportError if the library is not installed.
    """
    return AllocatorChange(_core.device(device), _allocator_source(allocator, _core.device(device)))


class AllocatorChange:
    """The result of use_allocator(): as a context manager it restores the previous allocator."""

    def __init__(self, device: device, source: Any) -> None:
        self._device = device
        self._before = _core._memory_use(device, source)

    def __enter__(self) -> AllocatorChange:
        return self

    def __exit__(self, *error: object) -> None:
        _core._memory_use(self._device, self._before)


def _allocator_source(allocator: str | Allocator | None, target: device) -> Any:
    if allocator is None or allocator == "pool":
        return None
    if callable(allocator):
        return _core._memory_source(getattr(allocator, "__name__", repr(allocator)), allocator)
    if allocator not in _ALLOCATORS:
        raise ArgumentError(
            f"use_allocator: expected a function, {', '.join(map(repr, sorted(_ALLOCATORS)))}, "
            f"'pool' or None, got {allocator!r}"
        )
    if target.kind != "cuda":
        raise ArgumentError(
            f"use_allocator: {allocator} allocates on GPUs, and the device is {target}; pass "
            "device='cuda', or a function"
        )
    allocate = _ALLOCATORS[allocator](importlib.import_module(allocator))
    return _core._memory_source(allocator, allocate)


class _TorchBlock:
    """Owns memory of PyTorch's caching allocator, which returns bare addresses."""

    __slots__ = ("_free", "ptr")

    def __init__(self, ptr: int, free: Callable[[int], None]) -> None:
        self.ptr = ptr
        self._free = free

    def __del__(self) -> None:
        self._free(self.ptr)


def _torch(torch: Any) -> Allocator:
    allocate_block, free = torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete

    def allocate(ordinal: int, nbytes: int, stream: int) -> _TorchBlock:
        return _TorchBlock(allocate_block(nbytes, ordinal, stream), free)

    return allocate


def _cupy(cupy: Any) -> Allocator:
    # CuPy 14 added from_external and deprecated ExternalStream.
    from_external = getattr(cupy.cuda.Stream, "from_external", None)

    def cupy_stream(ordinal: int, stream: int) -> Any:
        if from_external is None:
            return cupy.cuda.ExternalStream(stream, ordinal)
        return from_external(Stream.foreign(stream, f"cuda:{ordinal}"))

    def allocate(ordinal: int, nbytes: int, stream: int) -> Any:
        # CuPy's pool reuses a freed block only on the stream that was current at its allocation.
        with cupy.cuda.Device(ordinal), cupy_stream(ordinal, stream):
            return cupy.cuda.alloc(nbytes)

    return allocate


def _rmm(rmm: Any) -> Allocator:
    stream_class = importlib.import_module("rmm.pylibrmm.stream").Stream

    def allocate(ordinal: int, nbytes: int, stream: int) -> Any:
        # rmm uses the memory resource of the current device.
        rmm_stream = stream_class(Stream.foreign(stream, f"cuda:{ordinal}"))
        return rmm.DeviceBuffer(size=nbytes, stream=rmm_stream)

    return allocate


_ALLOCATORS = {"cupy": _cupy, "rmm": _rmm, "torch": _torch}
