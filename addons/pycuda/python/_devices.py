# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory, copies, devices, contexts and exceptions of ``pycuda.driver``.

PyCUDA's functions accept addresses as integers. An address inside an allocation of this module is
resolved to that allocation, so that bounds are checked and work is ordered after earlier work on
the same memory. Other addresses are used as they are.
"""

import bisect
import contextlib
import functools
import itertools
import threading
import weakref

import numpy as np

import spanwise as sw
from spanwise.driver import all_bytes, array_at, order_of

__all__ = [
    "CompileError",
    "Context",
    "Device",
    "DeviceAllocation",
    "Error",
    "LaunchError",
    "LogicError",
    "Memcpy2D",
    "Memcpy3D",
    "MemoryError",
    "PointerHolderBase",
    "RuntimeError",
    "from_device",
    "from_device_like",
    "get_driver_version",
    "get_version",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memcpy_peer",
    "memcpy_peer_async",
    "memset_d2d8",
    "memset_d2d8_async",
    "memset_d2d16",
    "memset_d2d16_async",
    "memset_d2d32",
    "memset_d2d32_async",
    "memset_d8",
    "memset_d8_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d32",
    "memset_d32_async",
    "to_device",
]  # fmt: skip

#: Address -> the allocation that begins there.
_allocations = weakref.WeakValueDictionary()
#: The keys of _allocations in ascending order, among them some of freed allocations.
_starts = []
#: Key -> an upper bound of the ends of all allocations that begin there or before.
_reach = {}
_starts_lock = threading.RLock()  # re-entrant: a garbage collection may run code that allocates


class DeviceAllocation(sw.driver.DeviceAllocation):
    """Device memory without a dtype. ``int(allocation)`` is its address, and ``allocation + n`` the
    address n bytes behind it. The memory is freed with the last reference, or by free()."""

    def __add__(self, nbytes):
        return int(self) + int(nbytes)

    __radd__ = __add__

    def __sub__(self, nbytes):
        return int(self) - int(nbytes)

    def free(self):
        """Releases the memory after the work that is queued on it."""
        with _starts_lock:
            if _allocations.get(int(self)) is self:
                del _allocations[int(self)]
            super().free()


class PointerHolderBase:
    """Base of objects that own device memory: get_pointer() returns its address."""

    def get_pointer(self):
        raise NotImplementedError(
            f"{type(self).__name__}: expected a method get_pointer() that returns the address"
        )

    def __int__(self):
        return int(self.get_pointer())

    __index__ = __int__


def registered(allocation):
    """`allocation`, to which addresses inside it are resolved from now on."""
    start = int(allocation)
    with _starts_lock:
        known = _allocations.get(start)
        if known is not None and known.nbytes >= allocation.nbytes:
            return allocation
        _allocations[start] = allocation
        index, end = bisect.bisect_left(_starts, start), start + allocation.nbytes
        if start not in _reach:
            _reach[start] = max(end, _reach[_starts[index - 1]] if index else 0)
            bisect.insort(_starts, start)
        while index < len(_starts) and _reach[_starts[index]] <= end:
            _reach[_starts[index]] = end
            index += 1
        if len(_starts) > 2 * len(_allocations) + 64:  # rarely, as it visits all of them
            ends = {start: start + known.nbytes for start, known in sorted(_allocations.items())}
            _starts[:] = ends
            _reach.clear()
            _reach.update(zip(ends, itertools.accumulate(ends.values(), max), strict=True))
    return allocation


def mem_alloc(nbytes):
    """`nbytes` uninitialised bytes on the current context's device. Raises driver.MemoryError."""
    return registered(DeviceAllocation(sw.empty(int(nbytes), dtype="uint8")))


def allocation_at(address):
    """The allocation from `address` to its end, or None if the address is in no allocation. Of several
    that overlap, views of one memory, that with the last end."""
    owner = _allocations.get(address)
    if owner is not None and _reach.get(address) == address + owner.nbytes:
        return owner
    with _starts_lock:
        owner = _allocations.get(address)
        end = address if owner is None else address + owner.nbytes
        index = bisect.bisect_right(_starts, address) - 1
        while index >= 0 and _reach[start := _starts[index]] > end:
            known = _allocations.get(start)
            if known is None:
                del _reach[start], _starts[index]
            elif start + known.nbytes > end:
                owner, end = known, start + known.nbytes
            index -= 1
        if owner is None or int(owner) == address:
            return owner
        return sw.driver.DeviceAllocation(owner.array[address - int(owner) :])


def is_address(x):
    return isinstance(x, int | np.integer | PointerHolderBase) and not isinstance(x, bool)


def as_memory(x, nbytes):
    """`x` as memory that spanwise.driver accepts: an allocation, or another library's array. `x` may
    be an address; `nbytes` are then assumed to be there if it is in no known allocation."""
    if isinstance(x, sw.driver.DeviceAllocation):
        return x
    if is_address(x):
        return allocation_at(int(x)) or sw.driver.DeviceAllocation(
            array_at(int(x), (int(nbytes),), owner=x)
        )
    gpudata = getattr(x, "gpudata", None)
    return x if gpudata is None else as_memory(gpudata, nbytes)


def as_allocation(x, nbytes, caller):
    """as_memory() as an allocation, which has the memory of another library's array. Raises
    CopyNeededError for one that is not C-contiguous."""
    memory = as_memory(x, nbytes)
    is_allocation = isinstance(memory, sw.driver.DeviceAllocation)
    return memory if is_allocation else sw.driver.DeviceAllocation(all_bytes(memory, caller))


def host_bytes(x, caller):
    """The bytes of a contiguous host array, bytes or another buffer, in the order of memory. Raises
    ValueError for strided arrays."""
    if not isinstance(x, np.ndarray):
        x = np.frombuffer(x, "uint8")  # read-only for NumPy's scalars, which cannot be written
    if x.flags.c_contiguous:
        return x.reshape(-1).view("uint8")
    if x.flags.f_contiguous:
        return x.T.reshape(-1).view("uint8")
    raise ValueError(
        f"{caller}: expected contiguous host memory, got strides {x.strides} for shape {x.shape}; pass "
        "numpy.ascontiguousarray(x)"
    )


def on_stream(stream):
    """A context in which `stream`, if there is one, is the current stream."""
    return contextlib.nullcontext() if stream is None else sw.Stream.foreign(stream)


# ---- Memory pools ----


_MANTISSA_BITS = 2


def bitlog2(n):
    """The position of the highest set bit of `n`."""
    return int(n).bit_length() - 1


class _Pool:
    held_blocks = 0
    managed_bytes = property(lambda self: self.active_bytes)

    def __init__(self):
        self.active_blocks = self.active_bytes = 0

    @staticmethod
    def bin_number(size):
        """The number of the bin for blocks of `size` bytes: exponent and two bits of mantissa."""
        exponent = bitlog2(size)
        if size <= 0:
            return 0
        shift = exponent - _MANTISSA_BITS
        head = size >> shift if shift >= 0 else size << -shift
        return (exponent << _MANTISSA_BITS) | (head & ((1 << _MANTISSA_BITS) - 1))

    @staticmethod
    def alloc_size(bin_nr):
        """The bytes of the blocks of a bin: the largest size that belongs to it."""
        exponent, mantissa = bin_nr >> _MANTISSA_BITS, bin_nr & ((1 << _MANTISSA_BITS) - 1)
        shift = exponent - _MANTISSA_BITS
        head = (1 << _MANTISSA_BITS) | mantissa
        return ((head + 1) << shift) - 1 if shift >= 0 else max(head >> -shift, 1)

    def _count(self, block, nbytes):
        """Counts `block` as active until it is destroyed, and returns it."""
        self._changed(1, nbytes)
        weakref.finalize(block, self._changed, -1, -nbytes).atexit = False
        return block

    def _changed(self, blocks, nbytes):
        self.active_blocks += blocks
        self.active_bytes += nbytes

    def free_held(self):
        """No effect: free blocks are held by the device's pool; see spanwise.memory."""

    stop_holding = free_held


class PooledDeviceAllocation(DeviceAllocation):
    """Memory of a DeviceMemoryPool."""


class DeviceMemoryPool(_Pool):
    """Allocates device memory; active_blocks and active_bytes count what is in use."""

    def allocate(self, size):
        """At least `size` bytes on the device, as an allocation that frees itself."""
        rounded = max(self.alloc_size(self.bin_number(size)), size)
        block = registered(PooledDeviceAllocation(sw.empty(rounded, dtype="uint8")))
        return self._count(block, rounded)

    __call__ = allocate


class PageLockedMemoryPool(_Pool):
    """Allocates page-locked host memory as NumPy arrays."""

    def allocate(self, shape, dtype, order="C"):
        array = sw.driver.pagelocked_empty(shape, dtype, order)
        owner = np.asarray(array).base  # lives as long as any view of the memory
        self._count(array if owner is None else owner, array.nbytes)
        return array


# ---- Copies and memsets ----


_drv = sw.driver


def mem_alloc_like(x):
    """x.nbytes uninitialised bytes on the device."""
    return mem_alloc(x.nbytes)


def mem_alloc_pitch(width, height, access_size):
    """(allocation, pitch) for `height` rows of `width` bytes that start `pitch` bytes apart, a
    multiple of 512, which is enough for textures and for any `access_size`."""
    pitch = -(-int(width) // 512) * 512
    return mem_alloc(pitch * height), pitch


def memcpy_htod(dest, src, stream=None):
    """Copies the bytes of the host array `src` to the device memory `dest`, queued on `stream`; on
    return `src` may be modified."""
    source = host_bytes(src, "memcpy_htod")
    if source.size:
        _drv.memcpy_htod(as_memory(dest, source.nbytes), source, stream)


def memcpy_dtoh(dest, src, stream=None):
    """Fills the host array `dest` from the device memory `src`, on `stream`. It waits for the
    copy."""
    target = host_bytes(dest, "memcpy_dtoh")
    if target.size:
        _drv.memcpy_dtoh(target, as_memory(src, target.nbytes), stream)


memcpy_htod_async, memcpy_dtoh_async = memcpy_htod, memcpy_dtoh


def _between_addresses(copy):
    """`copy` for sources and destinations that may be addresses."""

    @functools.wraps(copy)
    def copy_bytes(dest, src, size, *args, **options):
        copy(as_memory(dest, size), as_memory(src, size), int(size), *args, **options)

    return copy_bytes


memcpy_dtod = memcpy_dtod_async = _between_addresses(_drv.memcpy_dtod)
memcpy_peer = memcpy_peer_async = _between_addresses(_drv.memcpy_peer)


def _memset(set_values, itemsize):
    """`set_values` for a destination that may be an address."""

    @functools.wraps(set_values)
    def memset(dest, value, count, *args, **options):
        count = int(count)
        set_values(as_memory(dest, count * itemsize), int(value), count, *args, **options)

    return memset


memset_d8 = memset_d8_async = _memset(_drv.memset_d8, 1)
memset_d16 = memset_d16_async = _memset(_drv.memset_d16, 2)
memset_d32 = memset_d32_async = _memset(_drv.memset_d32, 4)


def _memset_rows(set_rows, itemsize):
    """`set_rows` for a destination that may be an address, on a stream."""

    @functools.wraps(set_rows)
    def memset(dest, pitch, value, width, height, stream=None):
        nbytes = pitch * (height - 1) + width * itemsize
        with on_stream(stream):
            set_rows(as_memory(dest, nbytes), pitch, value, width, height)

    return memset


memset_d2d8 = memset_d2d8_async = _memset_rows(_drv.memset_d2d8, 1)
memset_d2d16 = memset_d2d16_async = _memset_rows(_drv.memset_d2d16, 2)
memset_d2d32 = memset_d2d32_async = _memset_rows(_drv.memset_d2d32, 4)


def to_device(x):
    """A new allocation on the device with the bytes of the host array or buffer `x`."""
    source = host_bytes(x, "to_device")
    allocation = mem_alloc(source.nbytes)
    memcpy_htod(allocation, source)
    return allocation


def from_device(devptr, shape, dtype, order="C"):
    """A new NumPy array of that shape, dtype and order with the bytes at `devptr`."""
    out = np.empty(shape, dtype, order)
    memcpy_dtoh(out, devptr)
    return out


def from_device_like(devptr, other):
    """A new NumPy array with the shape and dtype of `other` and the bytes at `devptr`."""
    return from_device(devptr, other.shape, other.dtype, order_of(other))


def _resolving_setter(setter, is_host):
    """`setter` of Memcpy2D or Memcpy3D for host arrays of any dtype, or for addresses."""

    @functools.wraps(setter)
    def set_memory(self, x):
        setter(self, host_bytes(x, type(self).__name__) if is_host else as_memory(x, 0))

    return set_memory


def _with_addresses(base):
    """A class of rectangular copies that takes addresses and arrays of any dtype."""
    members = {"__doc__": base.__doc__}
    for end in ("src", "dst"):
        for kind in ("host", "device", "unified"):
            name = f"set_{end}_{kind}"
            members[name] = _resolving_setter(getattr(base, name), kind == "host")
    return type(base.__name__, (base,), members)


Memcpy2D = _with_addresses(_drv.Memcpy2D)
Memcpy3D = _with_addresses(_drv.Memcpy3D)


# ---- Devices and contexts; without a GPU the CPU is device 0 ----


#: The CPU reports the compute capability that its kernels see as __CUDA_ARCH__, and CUDA 13.0, so
#: that programs which ask for the version use no texture references.
_CPU_CAPABILITY = (8, 0)
_CPU_CUDA_VERSION = 13000
_CPU_ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": _CPU_CAPABILITY[0], "COMPUTE_CAPABILITY_MINOR": _CPU_CAPABILITY[1],
    "CONCURRENT_KERNELS": 1, "INTEGRATED": 1, "CAN_MAP_HOST_MEMORY": 1, "UNIFIED_ADDRESSING": 1,
    "COMPUTE_MODE": 0, "KERNEL_EXEC_TIMEOUT": 0, "ECC_ENABLED": 0, "TOTAL_CONSTANT_MEMORY": 65536,
    "MAX_REGISTERS_PER_BLOCK": 65536, "PCI_DOMAIN_ID": 0, "PCI_BUS_ID": 0, "PCI_DEVICE_ID": 0,
    "ASYNC_ENGINE_COUNT": 0, "GPU_OVERLAP": 0, "CLOCK_RATE": 0, "MEMORY_CLOCK_RATE": 0,
    "GLOBAL_MEMORY_BUS_WIDTH": 0, "TEXTURE_ALIGNMENT": 512, "MAX_PITCH": 2**31 - 1,
}  # fmt: skip
_CPU_PCI_BUS_ID = "0000:00:00.0"


def _gpus():
    """The GPUs in use: none if the configuration chooses the CPU."""
    if sw.config.device == "cpu":
        return []
    return [device for device in sw.devices() if device.kind == "cuda"]


def get_driver_version():
    """The CUDA version of the driver, 13000 for 13.0. 13000 on the CPU."""
    return sw.driver.get_driver_version() or _CPU_CUDA_VERSION


def get_version():
    """The CUDA version of the driver, (13, 0, 0) for 13.0."""
    version = get_driver_version()
    return version // 1000, version % 1000 // 10, 0


class Device(sw.driver.Device):
    """The GPU with an ordinal or a PCI id ("0000:65:00.0"). Device(0) is the CPU if there is no GPU,
    or if the configuration chooses the CPU."""

    def __init__(self, which=0):
        super().__init__(which if isinstance(which, sw.device) else _device_at(which))

    @staticmethod
    def count():
        """The number of GPUs; 1, the CPU, without any."""
        return len(_gpus()) or 1

    @staticmethod
    def from_pci_bus_id(pci_bus_id):
        return Device(pci_bus_id)

    def compute_capability(self):
        """(9, 0) for "sm_90"; on the CPU that of the __CUDA_ARCH__ of its kernels."""
        if self.spanwise_device.kind == "cpu":
            return _CPU_CAPABILITY
        return super().compute_capability()

    def get_attribute(self, which):
        """The value of a device_attribute, also as ``device.WARP_SIZE``. The CPU has values for most
        attributes, 0 where it does not report one. Raises DeviceError for the others."""
        which = sw.driver.device_attribute(which)
        if self.spanwise_device.kind == "cpu" and which.name in _CPU_ATTRIBUTES:
            return _CPU_ATTRIBUTES[which.name]
        return super().get_attribute(which)

    def get_attributes(self):
        """A dict from device_attribute to value, for the attributes that the device has."""
        attributes = super().get_attributes()
        if self.spanwise_device.kind == "cpu":
            for name, value in _CPU_ATTRIBUTES.items():
                attributes[sw.driver.device_attribute[name]] = value
        return attributes

    def pci_bus_id(self):
        """The PCI id as "domain:bus:device.0", zeros for the CPU."""
        if self.spanwise_device.kind == "cpu":
            return _CPU_PCI_BUS_ID
        return f"{self.PCI_DOMAIN_ID:04x}:{self.PCI_BUS_ID:02x}:{self.PCI_DEVICE_ID:02x}.0"

    def retain_primary_context(self):
        """The device's primary context, not pushed."""
        return Context(self.spanwise_device)

    def can_access_peer(self, other):
        """Whether copies between the two GPUs pass through no host memory: between any two
        different GPUs, as the driver chooses the path."""
        return self != other and self.spanwise_device.kind == other.spanwise_device.kind == "cuda"


def _device_at(which):
    """The spanwise.device for an ordinal, a PCI id or a device's name."""
    devices = _gpus() or [sw.device("cpu")]
    if isinstance(which, str) and ":" in which and not which.startswith("cuda"):
        for candidate in map(Device, devices):
            if candidate.pci_bus_id() == which.lower():
                return candidate.spanwise_device
        raise sw.DeviceError(
            f"Device: no device has the PCI id {which!r}; list Device(i).pci_bus_id()"
        )
    if isinstance(which, str):
        return sw.device(which)
    ordinal = int(which)
    if not 0 <= ordinal < len(devices):
        raise sw.DeviceError(
            f"Device: expected an ordinal from 0 to {len(devices) - 1}, got {ordinal}; see Device.count()"
        )
    return devices[ordinal]


class Context(sw.driver.Context):
    """A device's primary context, which other libraries share. Between push() and pop() it is the
    current context of the thread."""

    @staticmethod
    def get_current():
        """The innermost pushed context, else that of the default device."""
        current = sw.driver.Context.get_current()
        return current if isinstance(current, Context) else Context(sw.device())

    @staticmethod
    def get_device():
        """The current context's device."""
        return Device(sw.device())

    @staticmethod
    def attach(flags=0):
        """The current context."""
        return Context.get_current()

    def detach(self):
        """Pops the context if it is current. The primary context lives as long as the process."""
        if sw.driver.Context.get_current() is self:
            Context.pop()

    def enable_peer_access(self, flags=0):
        """No effect: copies between GPUs need no permission."""

    disable_peer_access = enable_peer_access

    @staticmethod
    def get_api_version():
        """The driver's version, as get_driver_version()."""
        return get_driver_version()

    @staticmethod
    def get_cache_config():
        return sw.driver.func_cache.PREFER_NONE

    @staticmethod
    def set_cache_config(config):
        """No effect: L1 cache and shared memory are one since compute capability 7.0."""


# ---- Exceptions, some of the names of built-in ones; all but CompileError are Spanwise's ----


Error = sw.Error
LogicError = LaunchError = RuntimeError = sw.DeviceError
MemoryError = sw.OutOfMemoryError


class CompileError(sw.CompileError):
    """Source that does not compile: `msg`, and the compiler's output as `stderr` and `log`."""

    def __init__(self, msg, command_line=(), stdout=None, stderr=None):
        super().__init__(msg)
        self.msg, self.command_line, self.stdout, self.stderr = msg, command_line, stdout, stderr
        self.log = stderr or msg

    def __str__(self):
        return self.msg if not self.stderr else f"{self.msg}\n{self.stderr}"


def pycuda_compile_error(error, source):
    """The CompileError for a spanwise.CompileError; `source` is what did not compile."""
    return CompileError(f"compilation of {source} failed", stderr=str(error))
