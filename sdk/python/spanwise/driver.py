# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's driver names over Spanwise's devices, memory and streams.

Programs written for ``pycuda.driver`` find here what they use most: host arrays around a call (In, Out,
InOut), raw allocations and copies, streams and events, and the current device. Everything works on
the default device, the CPU included. There is one context a device, its primary one, so that
contexts need not be made, pushed or popped.
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

# PyCUDA's names for failures.
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
    """The driver's own functions, cuMemAdvise and its like, by cuda.bindings where it is installed."""
    from ._driver.bindings import forwarded

    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return forwarded(name)


def init(flags=0):
    """Does nothing: a device is initialised when it is first used."""


class Stream(_core.Stream):
    """A new queue on the default device; any Spanwise function takes it as well."""

    def __init__(self, flags=0):
        super().__init__()

    def is_done(self):
        return self.query()

    def wait_for_event(self, event):
        self.wait(event)


class Event(_core.Event):
    """A point in a stream that times what lies between two of its kind."""

    def __init__(self, flags=0):
        super().__init__(timing=True)

    def record(self, stream=None):
        super().record(stream)
        return self

    def time_till(self, end):
        """Milliseconds from this event to `end`, both passed already."""
        return self.elapsed(end)

    def time_since(self, start):
        """Milliseconds from `start` to this event, both passed already."""
        return start.elapsed(self)
