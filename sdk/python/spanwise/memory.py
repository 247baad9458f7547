# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What memory arrays have on each device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

from . import _core

__all__ = ["MemoryStats", "reset_peak", "stats"]


@dataclass(frozen=True)
class MemoryStats:
    """The memory of one device; bytes but for `blocks`.

    `in_use` is what arrays have, `blocks` in how many pieces, and `peak` the most there was at once.
    `held` is all that Spanwise has taken from the device: the rest is kept for the next arrays. `free`
    and `total` are the device's own (the machine's on the CPU), whoever uses it. On the CPU `in_use`
    counts the small blocks that a thread keeps, too; on a GPU what was freed until the GPU has passed that.
    """

    device: str
    in_use: int
    peak: int
    held: int
    blocks: int
    free: int
    total: int

    def __str__(self) -> str:
        return (
            f"{self.device}: {_size(self.in_use)} in use in {self.blocks} blocks "
            f"(peak {_size(self.peak)}), {_size(self.held)} held; "
            f"{_size(self.free)} of {_size(self.total)} free"
        )


@overload
def stats(device: None = None) -> dict[str, MemoryStats]: ...
@overload
def stats(device: Any) -> MemoryStats: ...
def stats(device: Any = None) -> Any:
    """The MemoryStats of `device`; without one a dict by name of all devices that are in use.

    Asking for a GPU takes it into use. The driver is asked for `free`, and nothing waits for the GPU.
    Raises DeviceError for a device that is not there.
    """
    if device is not None:
        wanted = _core.device(device)
        return MemoryStats(str(wanted), *_core._memory_stats(wanted))
    return {str(d): stats(d) for d in _core.devices() if _core._is_in_use(d)}


def reset_peak(device: Any = None) -> None:
    """From now on `peak` counts from what is in use: on `device`, or on all that are in use."""
    if device is not None:
        _core._reset_memory_peak(_core.device(device))
        return
    for each in _core.devices():
        if _core._is_in_use(each):
            _core._reset_memory_peak(each)


def _size(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
