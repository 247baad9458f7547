# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels called as PyCUDA's: any memory for any pointer, host arrays by In, Out and InOut."""

import numpy as np

import spanwise as sw

from ._copies import memcpy_dtoh_async, memcpy_htod_async
from ._memory import allocation_at, as_allocation, is_address, mem_alloc

__all__ = ["ArgumentHandler", "Function", "In", "InOut", "Out"]


class ArgumentHandler:
    """A host array as a kernel argument, in device memory that is allocated for it."""

    def __init__(self, ary):
        self.array = ary
        self.dev_alloc = None

    def get_device_alloc(self):
        if self.dev_alloc is None:
            self.dev_alloc = mem_alloc(max(self.array.nbytes, 1))
        return self.dev_alloc

    def pre_call(self, stream):
        """Queues the work before the kernel."""

    def post_call(self, stream):
        """Queues the work after the kernel."""


class In(ArgumentHandler):
    """A host array that is copied to the device before the kernel."""

    def pre_call(self, stream):
        memcpy_htod_async(self.get_device_alloc(), self.array, stream)


class Out(ArgumentHandler):
    """A host array that is filled from the device after the kernel."""

    def post_call(self, stream):
        memcpy_dtoh_async(self.array, self.get_device_alloc(), stream)


class InOut(In, Out):
    """A host array that is copied to the device before the kernel and back after it."""


def _struct_value(x):
    """A NumPy array as the value of a struct parameter: its element, or all its bytes."""
    return x[()] if x.ndim == 0 else np.frombuffer(x.tobytes(), f"V{x.nbytes}")[0]


def _converted(x, parameter):
    """One of PyCUDA's kernel arguments as one of Spanwise's; `parameter` is None where the number of
    arguments differs from that of the parameters."""
    if isinstance(x, ArgumentHandler):
        x = x.get_device_alloc()
    if isinstance(x, sw.driver.DeviceAllocation):
        return x
    if isinstance(x, np.ndarray):
        return _struct_value(x)
    if hasattr(x, "gpudata"):
        return 0 if x.gpudata is None else as_allocation(x, getattr(x, "nbytes", 0), "kernel call")
    if is_address(x):
        if not isinstance(x, int | np.integer) or (parameter is not None and parameter.is_pointer):
            return allocation_at(int(x)) or int(x)
        if x < 0 and parameter is not None and str(parameter.dtype or "").startswith("uint"):
            return int(x) % (1 << 8 * parameter.size)  # the bits, as in C
        return x
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface and not isinstance(x, sw.Array):
        address = int(interface["data"][0])
        return allocation_at(address) or (x if sw.device().kind == "cuda" else address)
    return x


class Function:
    """A kernel. Calls convert their arguments to the types of the parameters, and arrays are passed
    by address whatever their dtype and strides."""

    def __init__(self, function, module=None):
        self.function, self.module = function, module
        self._parameters = tuple(function.parameters)
        self._textures = () if module is None else tuple(module.textures.values())

    def _launch(self, args, block, grid, shared, stream):
        if len(args) != len(self._parameters):
            converted = [_converted(x, None) for x in args]
        else:
            converted = [_converted(x, p) for x, p in zip(args, self._parameters, strict=True)]
        for texture in self._textures:
            texture.update()
        handlers = [x for x in args if isinstance(x, ArgumentHandler)]
        for handler in handlers:
            handler.pre_call(stream)
        self.function(*converted, block=block, grid=grid, shared=shared, stream=stream)
        for handler in handlers:
            handler.post_call(stream)

    def __call__(
        self, *args, block=None, grid=(1, 1), stream=None, shared=0, texrefs=(), time_kernel=False
    ):
        """Launches the kernel. With `time_kernel` waits and returns the seconds, else None. The
        module's own texture references are used, whatever `texrefs` lists. Raises ValueError without
        `block`."""
        if block is None:
            raise ValueError(f"kernel {self.name!r}: expected block=(x, y, z), got none")
        if not time_kernel:
            return self._launch(args, tuple(block), tuple(grid), shared, stream)
        return self._timed(args, block, grid, shared, stream)()

    def _timed(self, args, block, grid, shared, stream):
        start, end = sw.Event(timing=True), sw.Event(timing=True)
        start.record(stream)
        self._launch(args, tuple(block), tuple(grid), shared, stream)
        end.record(stream)

        def seconds():
            end.synchronize()
            return start.elapsed(end) * 1e-3

        return seconds

    def prepare(self, arg_types, shared=None, texrefs=()):
        """Returns the function. `arg_types` are not needed: every launch is checked against the
        parameters of the kernel."""
        return self

    def prepared_call(self, grid, block, *args, shared_size=0):
        self._launch(args, tuple(block), tuple(grid), shared_size, None)

    def prepared_async_call(self, grid, block, stream, *args, shared_size=0):
        self._launch(args, tuple(block), tuple(grid), shared_size, stream)

    def prepared_timed_call(self, grid, block, *args, shared_size=0):
        """Launches the kernel and returns a function that waits and returns the seconds."""
        return self._timed(args, block, grid, shared_size, None)

    def __getattr__(self, name):
        """num_regs, get_attribute and the other members of spanwise's kernels."""
        if name.startswith("__") or name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def __repr__(self):
        return f"Function({self.function!r})"
