# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The memory that arrays hold: how much, how much at most, and where it comes from.

Arrays take memory from a pool of each device, which keeps what they give back for the next ones.
`device` is whatever ``sw.device`` takes, None the default one. All figures are bytes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import TracebackType
from typing import Any

from . import _core
from ._core import ArgumentError, Stream, device

__all__ = ["Pool", "pool", "stats", "use_allocator"]

#: ``allocate(ordinal, nbytes, stream)`` makes a block: an object that holds the memory while it
#: lives, with its address as ``.ptr``, ``.data_ptr()`` or ``int()``.
Allocator = Callable[[int, int, int], Any]


def stats(device: Any = None) -> dict[str, Any]:
    """What arrays hold on `device`: ``used`` now, ``peak`` since the last ``reset_peak()``,
    ``allocations`` (not counting small blocks that a thread kept for itself), ``limit``; what the
    pool ``held`` for them, in use or kept; ``free`` and ``total`` of the whole device; and
    ``allocator``, "pool" or who else makes new memory.

    Counted is memory that Spanwise allocated, not what arrays share with other libraries. Waits for
    nothing.
    """
    return pool(device).stats()


def pool(device: Any = None) -> Pool:
    """The pool of `device`."""
    return Pool(device)


class Pool:
    """The memory of one device's arrays; any number of these name the same pool."""

    def __init__(self, device: Any = None) -> None:
        self.device = _core.device(device)

    def __repr__(self) -> str:
        now = self.stats()
        return f"Pool({str(self.device)!r}, used={now['used']}, held={now['held']})"

    def stats(self) -> dict[str, Any]:
        """As ``sw.memory.stats``."""
        return _core._memory_stats(self.device)

    @property
    def used(self) -> int:
        """Bytes of arrays that are alive."""
        return self.stats()["used"]

    @property
    def peak(self) -> int:
        """The most that `used` was since the program began, or since `reset_peak()`."""
        return self.stats()["peak"]

    @property
    def held(self) -> int:
        """Bytes that the pool has from the system, in use or kept for the next arrays."""
        return self.stats()["held"]

    @property
    def limit(self) -> int | None:
        """What arrays may hold together, None for as much as there is. The array that would pass it
        raises OutOfMemoryError; those that there are stay."""
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
        """Counts `peak` from what is in use now."""
        _core._memory_reset_peak(self.device)

    def trim(self) -> None:
        """Gives what is kept back to the system, for other libraries and processes. On a GPU it
        waits for the device's work."""
        _core._memory_trim(self.device)


def use_allocator(allocator: str | Allocator | None, device: Any = None) -> Chosen:
    """From now on arrays on `device` take their memory from `allocator`: "torch", "cupy" or "rmm"
    for that library's on a GPU, "pool" or None for Spanwise's own, or a function.

    The function is called as ``allocate(ordinal, nbytes, stream)``, the stream as an integer (0 on
    the CPU), on any thread, and gives an object that holds the memory while it lives, with its
    address as ``.ptr``, ``.data_ptr()`` or ``int()``, which 16 divides. The bytes have to be usable
    in the stream's order; the object is dropped in its order too, behind all work on the bytes. Each
    allocation then costs a call of Python, a microsecond or more.

    In a ``with`` statement the allocator before comes back at the end. Arrays keep theirs alive.
    Raises ArgumentError for an unknown name, ImportError where the library is not installed.
    """
    return Chosen(_core.device(device), _source(allocator, _core.device(device)))


class Chosen:
    """An allocator that was put in the place of another."""

    def __init__(self, device: device, source: Any) -> None:
        self._device = device
        self._before = _core._memory_use(device, source)

    def __enter__(self) -> Chosen:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _core._memory_use(self._device, self._before)


def _source(allocator: str | Allocator | None, home: device) -> Any:
    if allocator is None or allocator == "pool":
        return None
    if callable(allocator):
        return _core._memory_source(getattr(allocator, "__name__", repr(allocator)), allocator)
    if allocator not in _LIBRARIES:
        raise ArgumentError(
            f"use_allocator: expected a function, {', '.join(map(repr, sorted(_LIBRARIES)))}, "
            f"'pool' or None, got {allocator!r}"
        )
    if home.kind != "cuda":
        raise ArgumentError(
            f"use_allocator: {allocator} allocates on GPUs, and the device is {home}; pass "
            "device='cuda', or a function"
        )
    return _core._memory_source(
        allocator, _LIBRARIES[allocator](importlib.import_module(allocator))
    )


class _TorchBlock:
    """Memory of PyTorch's caching allocator, which hands out addresses."""

    __slots__ = ("_free", "ptr")

    def __init__(self, ptr: int, free: Callable[[int], None]) -> None:
        self.ptr = ptr
        self._free = free

    def __del__(self) -> None:
        self._free(self.ptr)


def _torch(torch: Any) -> Allocator:
    take = torch.cuda.caching_allocator_alloc
    free = torch.cuda.caching_allocator_delete

    def allocate(ordinal: int, nbytes: int, stream: int) -> _TorchBlock:
        return _TorchBlock(take(nbytes, ordinal, stream), free)

    return allocate


def _cupy(cupy: Any) -> Allocator:
    # From CuPy 14 on; ExternalStream, which was there before, warns of its end.
    from_external = getattr(cupy.cuda.Stream, "from_external", None)

    def theirs(ordinal: int, stream: int) -> Any:
        if from_external is None:
            return cupy.cuda.ExternalStream(stream, ordinal)
        return from_external(Stream.foreign(stream, f"cuda:{ordinal}"))

    def allocate(ordinal: int, nbytes: int, stream: int) -> Any:
        # Its pool keeps what is given back for the stream that was current at the allocation.
        with cupy.cuda.Device(ordinal), theirs(ordinal, stream):
            return cupy.cuda.alloc(nbytes)

    return allocate


def _rmm(rmm: Any) -> Allocator:
    stream_class = importlib.import_module("rmm.pylibrmm.stream").Stream

    def allocate(ordinal: int, nbytes: int, stream: int) -> Any:
        # The current device's resource serves it; the stream's context is that device's.
        theirs = stream_class(Stream.foreign(stream, f"cuda:{ordinal}"))
        return rmm.DeviceBuffer(size=nbytes, stream=theirs)

    return allocate


_LIBRARIES = {"cupy": _cupy, "rmm": _rmm, "torch": _torch}
