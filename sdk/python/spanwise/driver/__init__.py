# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.driver`` over Spanwise's devices, memory and streams.

It has host arrays as kernel arguments (In, Out, InOut), raw allocations and copies, streams and
events, devices and contexts. Functions work on the default device, which may be the CPU. Each
device has one context, its primary context, so that contexts need not be made, pushed or popped.
"""

from .. import _core
from .._core import CompileError as CompileError, Error as Error, SourceModule as SourceModule
from ._context import *  # noqa: F403
from ._memory import *  # noqa: F403

In, InOut, Out = _core._DriverIn, _core._DriverInOut, _core._DriverOut

# PyCUDA's names of exceptions.
LogicError = LaunchError = _core.DeviceError
MemoryError = _core.OutOfMemoryError


def __getattr__(name):
    """Functions and constants of the CUDA driver (cuMemAdvise, CU_...), from cuda.bindings if it is
    installed."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._bindings import forwarded

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
