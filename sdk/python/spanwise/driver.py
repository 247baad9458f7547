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
)
from ._core import _DriverIn as In
from ._core import _DriverInOut as InOut
from ._core import _DriverMemory as _Memory
from ._core import _DriverOut as Out
from ._driver_context import (
    Context,
    func_cache,
    function_attribute,
    module_from_buffer,
    module_from_file,
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
    "MemoryError",
    "Out",
    "SourceModule",
    "Stream",
    "from_device",
    "from_device_like",
    "func_cache",
    "function_attribute",
    "init",
    "mem_alloc",
    "mem_alloc_like",
    "mem_get_info",
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memset_d8",
    "memset_d16",
    "memset_d32",
    "module_from_buffer",
    "module_from_file",
    "to_device",
]


def __getattr__(name):
    """The driver's own functions, cuMemAdvise and its like, by cuda.bindings where it is installed."""
    from ._driver_bindings import forwarded

    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return forwarded(name)


def init(flags=0):
    """Does nothing: a device is initialised when it is first used."""


class Device:
    """The GPU of an ordinal, or the device of a name such as "cpu"."""

    def __init__(self, which=0):
        name = f"cuda:{which}" if isinstance(which, int) else which
        self._device = _core.device(name)

    @staticmethod
    def count():
        """How many GPUs there are."""
        return sum(device.kind == "cuda" for device in _core.devices())

    def name(self):
        return self._device.properties.name

    def total_memory(self):
        """Bytes."""
        return self._device.properties.total_memory

    def compute_capability(self):
        """(9, 0) for "sm_90". Raises DeviceError on the CPU, which has none."""
        architecture = self._device.properties.architecture
        digits = architecture.removeprefix("sm_").rstrip("abcdefghijklmnopqrstuvwxyz")
        if not digits.isdigit():
            raise DeviceError(
                f"{self._device} has no compute capability; expected a GPU, use .name() to tell them apart"
            )
        return int(digits[:-1]), int(digits[-1])

    def make_context(self, flags=0):
        """The primary context, pushed."""
        context = Context(self._device)
        context.push()
        return context

    def retain_primary_context(self):
        """The primary context, not pushed."""
        return Context(self._device)

    def __int__(self):
        """CUdevice; raises DeviceError for the CPU."""
        if self._device.kind == "cpu":
            raise DeviceError("Device: the CPU is no CUdevice; use a GPU's, Device(0)")
        return self._device.ordinal

    def __eq__(self, other):
        return isinstance(other, Device) and self._device == other._device

    def __hash__(self):
        return hash(str(self._device))

    def __repr__(self):
        return f"Device({str(self._device)!r})"


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


class DeviceAllocation(_Memory):
    """Bytes of a device without a dtype: a kernel argument for a pointer to anything.

    int() gives the address. The memory is given back with the last reference, or by free(), after
    all work queued on it.
    """

    @property
    def nbytes(self):
        return self._held().nbytes

    def free(self):
        self.array = None

    def _held(self):
        if self.array is None:
            raise _core.ArgumentError(
                "device allocation: it was freed; make another with mem_alloc()"
            )
        return self.array

    def __int__(self):
        return self._held().ptr

    __index__ = __int__


def mem_alloc(nbytes):
    """`nbytes` uninitialised bytes on the default device."""
    return DeviceAllocation(_core.empty(nbytes, dtype="uint8"))


def mem_alloc_like(x):
    """Uninitialised bytes for as much as the array `x` holds."""
    return mem_alloc(x.nbytes)


def mem_get_info():
    """(free, total) bytes of the default device."""
    properties = _core.device().properties
    return properties.free_memory, properties.total_memory


def _bytes_on_device(x, nbytes, what):
    """The first `nbytes` bytes of an allocation or a contiguous array, as a uint8 array."""
    if isinstance(x, DeviceAllocation):
        flat = x._held()
    else:
        array = _core.asarray(x, copy=False)
        flat = _flat(array, what)
    if flat.nbytes < nbytes:
        raise _core.ArgumentError(
            f"{what}: expected at least {nbytes} bytes on the device, got {flat.nbytes}; allocate as much as is copied"
        )
    return flat[:nbytes]


def _flat(array, what):
    if not array.flags.c_contiguous:
        raise _core.CopyNeededError(
            f"{what}: expected C-contiguous memory, as only its bytes are copied, got strides {array.strides}; use "
            "sw.copyto(), which copies any layout"
        )
    return array.reshape(-1).view("uint8")


def _host_bytes(x, what):
    array = _core.asarray(x, copy=False)
    if array.device.kind != "cpu":
        raise _core.ArgumentError(
            f"{what}: expected a host array, got one on {array.device}; use memcpy_dtod or sw.copyto"
        )
    return _flat(array, what)


def memcpy_htod(dest, src):
    """Copies the bytes of the host array `src` to the allocation or array `dest`."""
    source = _host_bytes(src, "memcpy_htod")
    _core.copyto(_bytes_on_device(dest, source.nbytes, "memcpy_htod"), source)


def memcpy_dtoh(dest, src):
    """Fills the host array `dest` from the allocation or array `src`; the bytes are there on return."""
    target = _host_bytes(dest, "memcpy_dtoh")
    _core.copyto(target, _bytes_on_device(src, target.nbytes, "memcpy_dtoh"))


def memcpy_dtod(dest, src, size):
    """Copies `size` bytes between two allocations or arrays."""
    _core.copyto(
        _bytes_on_device(dest, size, "memcpy_dtod"), _bytes_on_device(src, size, "memcpy_dtod")
    )


def _on(stream, copy, *args):
    if stream is None:
        return copy(*args)
    own = stream if isinstance(stream, _core.Stream) else _core.Stream.foreign(stream)
    with own:
        return copy(*args)


def memcpy_htod_async(dest, src, stream=None):
    """As memcpy_htod, queued on `stream`; returns when `src` may be changed."""
    _on(stream, memcpy_htod, dest, src)


def memcpy_dtoh_async(dest, src, stream=None):
    """As memcpy_dtoh, after the work queued on `stream`."""
    _on(stream, memcpy_dtoh, dest, src)


def memcpy_dtod_async(dest, src, size, stream=None):
    """As memcpy_dtod, queued on `stream`."""
    _on(stream, memcpy_dtod, dest, src, size)


def _memset(dest, value, count, dtype):
    target = _bytes_on_device(dest, count * _core.dtype(dtype).itemsize, f"memset of {dtype}")
    target.view(dtype)[...] = value


def memset_d8(dest, value, count):
    """Sets `count` bytes of an allocation or array to `value`."""
    _memset(dest, value, count, "uint8")


def memset_d16(dest, value, count):
    """Sets `count` values of two bytes."""
    _memset(dest, value, count, "uint16")


def memset_d32(dest, value, count):
    """Sets `count` values of four bytes."""
    _memset(dest, value, count, "uint32")


def to_device(x):
    """A new allocation with the bytes of the host array `x`."""
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
    return from_device(
        allocation, other.shape, other.dtype, "C" if other.flags.c_contiguous else "F"
    )
