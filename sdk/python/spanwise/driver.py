# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.driver`` over Spanwise's devices, memory and streams.

It has host arrays as kernel arguments (In, Out, InOut), raw allocations and copies, streams and
events, devices and contexts. Functions work on the default device, which may be the CPU. Each
device has one context, its primary context, so that contexts need not be made, pushed or popped.
"""

from . import _core
from ._core import (
    CompileError as CompileError,
    Error as Error,
    SourceModule as SourceModule,
)
from ._driver.attributes import (
    ctx_flags as ctx_flags,
    device_attribute as device_attribute,
    event_flags as event_flags,
    get_driver_version as get_driver_version,
    get_version as get_version,
    limit as limit,
    start_profiler as start_profiler,
    stop_profiler as stop_profiler,
)
from ._driver.context import (
    Context as Context,
    Device as Device,
    func_cache as func_cache,
    function_attribute as function_attribute,
    module_from_buffer as module_from_buffer,
    module_from_file as module_from_file,
)
from ._driver.host import (
    aligned_empty as aligned_empty,
    aligned_zeros as aligned_zeros,
    host_alloc_flags as host_alloc_flags,
    mem_host_register_flags as mem_host_register_flags,
    pagelocked_empty as pagelocked_empty,
    pagelocked_empty_like as pagelocked_empty_like,
    pagelocked_zeros as pagelocked_zeros,
    pagelocked_zeros_like as pagelocked_zeros_like,
    register_host_memory as register_host_memory,
)
from ._driver.memory import (
    DeviceAllocation as DeviceAllocation,
    from_device as from_device,
    from_device_like as from_device_like,
    mem_alloc as mem_alloc,
    mem_alloc_like as mem_alloc_like,
    mem_get_info as mem_get_info,
    memcpy_dtod as memcpy_dtod,
    memcpy_dtod_async as memcpy_dtod_async,
    memcpy_dtoh as memcpy_dtoh,
    memcpy_dtoh_async as memcpy_dtoh_async,
    memcpy_htod as memcpy_htod,
    memcpy_htod_async as memcpy_htod_async,
    memcpy_peer as memcpy_peer,
    memcpy_peer_async as memcpy_peer_async,
    memset_d8 as memset_d8,
    memset_d8_async as memset_d8_async,
    memset_d16 as memset_d16,
    memset_d16_async as memset_d16_async,
    memset_d32 as memset_d32,
    memset_d32_async as memset_d32_async,
    to_device as to_device,
)
from ._driver.pitched import (
    Memcpy2D as Memcpy2D,
    Memcpy3D as Memcpy3D,
    mem_alloc_pitch as mem_alloc_pitch,
    memset_d2d8 as memset_d2d8,
    memset_d2d16 as memset_d2d16,
    memset_d2d32 as memset_d2d32,
)

In, InOut, Out = _core._DriverIn, _core._DriverInOut, _core._DriverOut

# PyCUDA's names of exceptions.
LogicError = LaunchError = _core.DeviceError
MemoryError = _core.OutOfMemoryError


def __getattr__(name):
    """Functions and constants of the CUDA driver (cuMemAdvise, CU_...), from cuda.bindings if it is
    installed."""
    from ._driver.bindings import forwarded

    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return forwarded(name)


def init(flags=0):
    """Does nothing: a device is initialised by its first use."""


class Stream(_core.Stream):
    """A new stream on the default device, accepted wherever a spanwise.Stream is; `flags` are
    ignored."""

    def __init__(self, flags=0):
        super().__init__()

    def is_done(self):
        return self.query()

    def wait_for_event(self, event):
        self.wait(event)


class Event(_core.Event):
    """An event with timing; `flags` are ignored."""

    def __init__(self, flags=0):
        super().__init__(timing=True)

    def record(self, stream=None):
        super().record(stream)
        return self

    def time_till(self, end):
        """Milliseconds from this event to `end`; both must have completed."""
        return self.elapsed(end)

    def time_since(self, start):
        """Milliseconds from `start` to this event; both must have completed."""
        return start.elapsed(self)
