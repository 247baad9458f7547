# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.driver`` over Spanwise's devices, memory and streams.

It has host arrays as kernel arguments (In, Out, InOut), raw allocations and copies, streams and
events, devices and contexts. Functions work on the default device, which may be the CPU. Each
device has one context, its primary context, so that contexts need not be made, pushed or popped.
"""

from . import _core
from ._core import (
    CompileError,
    DeviceError,
    Error,
    OutOfMemoryError,
    SourceModule,
    _DriverIn as In,
    _DriverInOut as InOut,
    _DriverOut as Out,
)
from ._driver.attributes import (
    ctx_flags,
    device_attribute,
    event_flags,
    get_driver_version,
    get_version,
    limit,
    start_profiler,
    stop_profiler,
)
from ._driver.context import (
    Context,
    Device,
    func_cache,
    function_attribute,
    module_from_buffer,
    module_from_file,
)
from ._driver.host import (
    aligned_empty,
    aligned_zeros,
    host_alloc_flags,
    mem_host_register_flags,
    pagelocked_empty,
    pagelocked_empty_like,
    pagelocked_zeros,
    pagelocked_zeros_like,
    register_host_memory,
)
from ._driver.memory import (
    DeviceAllocation,
    from_device,
    from_device_like,
    mem_alloc,
    mem_alloc_like,
    mem_get_info,
    memcpy_dtod,
    memcpy_dtod_async,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
    memcpy_peer,
    memcpy_peer_async,
    memset_d8,
    memset_d8_async,
    memset_d16,
    memset_d16_async,
    memset_d32,
    memset_d32_async,
    to_device,
)
from ._driver.pitched import (
    Memcpy2D,
    Memcpy3D,
    mem_alloc_pitch,
    memset_d2d8,
    memset_d2d16,
    memset_d2d32,
)

# PyCUDA's names of exceptions.
LogicError = LaunchError = DeviceError
MemoryError = OutOfMemoryError

__all__ = [
    "CompileError",
    "Context",
    "Device",
    "DeviceAllocation",
    "Error",
    "Event",
    "In",
    "InOut",
    "LaunchError",
    "LogicError",
    "Memcpy2D",
    "Memcpy3D",
    "MemoryError",
    "Out",
    "SourceModule",
    "Stream",
    "aligned_empty",
    "aligned_zeros",
    "ctx_flags",
    "device_attribute",
    "event_flags",
    "from_device",
    "from_device_like",
    "func_cache",
    "function_attribute",
    "get_driver_version",
    "get_version",
    "host_alloc_flags",
    "init",
    "limit",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_get_info",
    "mem_host_register_flags",
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memcpy_peer",
    "memcpy_peer_async",
    "memset_d2d8",
    "memset_d2d16",
    "memset_d2d32",
    "memset_d8",
    "memset_d8_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d32",
    "memset_d32_async",
    "module_from_buffer",
    "module_from_file",
    "pagelocked_empty",
    "pagelocked_empty_like",
    "pagelocked_zeros",
    "pagelocked_zeros_like",
    "register_host_memory",
    "start_profiler",
    "stop_profiler",
    "to_device",
]


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
