# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's devices, their attributes, contexts and limits, modules, profiler control and version
numbers. Each device has only its primary context, never released."""

from __future__ import annotations

import ctypes
import enum
import threading
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from .. import _core
from .._core import DeviceError
from . import _driver_api

__all__ = [
    "Context", "Device", "ctx_flags", "device_attribute", "event_flags", "func_cache",
    "function_attribute", "get_driver_version", "get_version", "limit", "module_from_buffer",
    "module_from_file", "start_profiler", "stop_profiler",
]  # fmt: skip


# ---- Attributes and limits ----

# CUdevice_attribute of CUDA 13.0, numbered from 1 without gaps.
device_attribute = enum.IntEnum(
    "device_attribute",
    """
    MAX_THREADS_PER_BLOCK MAX_BLOCK_DIM_X MAX_BLOCK_DIM_Y MAX_BLOCK_DIM_Z MAX_GRID_DIM_X MAX_GRID_DIM_Y
    MAX_GRID_DIM_Z MAX_SHARED_MEMORY_PER_BLOCK TOTAL_CONSTANT_MEMORY WARP_SIZE MAX_PITCH
    MAX_REGISTERS_PER_BLOCK CLOCK_RATE TEXTURE_ALIGNMENT GPU_OVERLAP MULTIPROCESSOR_COUNT
    KERNEL_EXEC_TIMEOUT INTEGRATED CAN_MAP_HOST_MEMORY COMPUTE_MODE MAXIMUM_TEXTURE1D_WIDTH
    MAXIMUM_TEXTURE2D_WIDTH MAXIMUM_TEXTURE2D_HEIGHT MAXIMUM_TEXTURE3D_WIDTH MAXIMUM_TEXTURE3D_HEIGHT
    MAXIMUM_TEXTURE3D_DEPTH MAXIMUM_TEXTURE2D_LAYERED_WIDTH MAXIMUM_TEXTURE2D_LAYERED_HEIGHT
    MAXIMUM_TEXTURE2D_LAYERED_LAYERS SURFACE_ALIGNMENT CONCURRENT_KERNELS ECC_ENABLED PCI_BUS_ID
    PCI_DEVICE_ID TCC_DRIVER MEMORY_CLOCK_RATE GLOBAL_MEMORY_BUS_WIDTH L2_CACHE_SIZE
    MAX_THREADS_PER_MULTIPROCESSOR ASYNC_ENGINE_COUNT UNIFIED_ADDRESSING MAXIMUM_TEXTURE1D_LAYERED_WIDTH
    MAXIMUM_TEXTURE1D_LAYERED_LAYERS CAN_TEX2D_GATHER MAXIMUM_TEXTURE2D_GATHER_WIDTH
    MAXIMUM_TEXTURE2D_GATHER_HEIGHT MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE
    MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE PCI_DOMAIN_ID TEXTURE_PITCH_ALIGNMENT MAXIMUM_TEXTURECUBEMAP_WIDTH
    MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS MAXIMUM_SURFACE1D_WIDTH
    MAXIMUM_SURFACE2D_WIDTH MAXIMUM_SURFACE2D_HEIGHT MAXIMUM_SURFACE3D_WIDTH MAXIMUM_SURFACE3D_HEIGHT
    MAXIMUM_SURFACE3D_DEPTH MAXIMUM_SURFACE1D_LAYERED_WIDTH MAXIMUM_SURFACE1D_LAYERED_LAYERS
    MAXIMUM_SURFACE2D_LAYERED_WIDTH MAXIMUM_SURFACE2D_LAYERED_HEIGHT MAXIMUM_SURFACE2D_LAYERED_LAYERS
    MAXIMUM_SURFACECUBEMAP_WIDTH MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH
    MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS MAXIMUM_TEXTURE1D_LINEAR_WIDTH MAXIMUM_TEXTURE2D_LINEAR_WIDTH
    MAXIMUM_TEXTURE2D_LINEAR_HEIGHT MAXIMUM_TEXTURE2D_LINEAR_PITCH MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH
    MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT COMPUTE_CAPABILITY_MAJOR COMPUTE_CAPABILITY_MINOR
    MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH STREAM_PRIORITIES_SUPPORTED GLOBAL_L1_CACHE_SUPPORTED
    LOCAL_L1_CACHE_SUPPORTED MAX_SHARED_MEMORY_PER_MULTIPROCESSOR MAX_REGISTERS_PER_MULTIPROCESSOR
    MANAGED_MEMORY MULTI_GPU_BOARD MULTI_GPU_BOARD_GROUP_ID HOST_NATIVE_ATOMIC_SUPPORTED
    SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO PAGEABLE_MEMORY_ACCESS CONCURRENT_MANAGED_ACCESS
    COMPUTE_PREEMPTION_SUPPORTED CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM CAN_USE_STREAM_MEM_OPS_V1
    CAN_USE_64_BIT_STREAM_MEM_OPS_V1 CAN_USE_STREAM_WAIT_VALUE_NOR_V1 COOPERATIVE_LAUNCH
    COOPERATIVE_MULTI_DEVICE_LAUNCH MAX_SHARED_MEMORY_PER_BLOCK_OPTIN CAN_FLUSH_REMOTE_WRITES
    HOST_REGISTER_SUPPORTED PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES
    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED HANDLE_TYPE_WIN32_HANDLE_SUPPORTED
    HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED MAX_BLOCKS_PER_MULTIPROCESSOR GENERIC_COMPRESSION_SUPPORTED
    MAX_PERSISTING_L2_CACHE_SIZE MAX_ACCESS_POLICY_WINDOW_SIZE GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
    RESERVED_SHARED_MEMORY_PER_BLOCK SPARSE_CUDA_ARRAY_SUPPORTED READ_ONLY_HOST_REGISTER_SUPPORTED
    TIMELINE_SEMAPHORE_INTEROP_SUPPORTED MEMORY_POOLS_SUPPORTED GPU_DIRECT_RDMA_SUPPORTED
    GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS GPU_DIRECT_RDMA_WRITES_ORDERING
    """,
)

# CUlimit.
limit = enum.IntEnum(
    "limit",
    "STACK_SIZE PRINTF_FIFO_SIZE MALLOC_HEAP_SIZE DEV_RUNTIME_SYNC_DEPTH DEV_RUNTIME_PENDING_LAUNCH_COUNT",
    start=0,
)

# Limits that cuCtxSetLimit rejects once a kernel is loaded that prints or allocates -> that verb.
_BEFORE_KERNELS = {limit.PRINTF_FIFO_SIZE: "prints", limit.MALLOC_HEAP_SIZE: "allocates"}
_INVALID_VALUE = 1  # CUDA_ERROR_INVALID_VALUE

# CUevent_flags. Event ignores them: it always times, never blocks and is not interprocess.
event_flags = enum.IntFlag(
    "event_flags", {"DEFAULT": 0, "BLOCKING_SYNC": 1, "DISABLE_TIMING": 2, "INTERPROCESS": 4}
)

# CUctx_flags. They are ignored: the primary context exists already.
ctx_flags = enum.IntFlag(
    "ctx_flags",
    {
        "SCHED_AUTO": 0,
        "SCHED_SPIN": 1,
        "SCHED_YIELD": 2,
        "SCHED_BLOCKING_SYNC": 4,
        "MAP_HOST": 8,
        "LMEM_RESIZE_TO_MAX": 16,
    },
)


def _cpu_attributes(device: _core.device) -> dict[str, int]:
    """The device attributes that the CPU has."""
    properties = device.properties
    return {
        "MAX_THREADS_PER_BLOCK": properties.max_threads_per_block,
        **{f"MAX_BLOCK_DIM_{c}": n for c, n in zip("XYZ", properties.max_block, strict=True)},
        **{f"MAX_GRID_DIM_{c}": n for c, n in zip("XYZ", properties.max_grid, strict=True)},
        "MAX_SHARED_MEMORY_PER_BLOCK": properties.max_shared_bytes,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": properties.max_shared_bytes_optin,
        "WARP_SIZE": properties.warp_size,
        "MULTIPROCESSOR_COUNT": properties.multiprocessors,
    }


def attribute_of(device: _core.device, attribute: Any) -> int:
    """The value of a device_attribute of `device`. Raises DeviceError for one that the CPU or the driver does
    not have."""
    attribute = device_attribute(attribute)
    if device.kind == "cpu":
        values = _cpu_attributes(device)
        if attribute.name not in values:
            raise _core.DeviceError(
                f"Device.get_attribute: the CPU has no {attribute.name}; it has {', '.join(sorted(values))}"
            )
        return values[attribute.name]
    return _gpu_attribute(_handle_of(device), attribute)


def _handle_of(device: _core.device) -> ctypes.c_int:
    """The CUdevice."""
    handle = ctypes.c_int()
    _core.zeros(1, dtype="uint8", device=device)  # initialises the driver
    _driver_api.call("cuDeviceGet", ctypes.byref(handle), device.ordinal)
    return handle


def _gpu_attribute(handle: ctypes.c_int, attribute: Any) -> int:
    value = ctypes.c_int()
    _driver_api.call("cuDeviceGetAttribute", ctypes.byref(value), int(attribute), handle)
    return value.value


def attributes_of(device: _core.device) -> dict[Any, int]:
    """All attributes that `device` has, as a dict. Raises DeviceError for a GPU that failed."""
    handle = None if device.kind == "cpu" else _handle_of(device)
    values = {}
    for attribute in device_attribute:
        with suppress(_core.DeviceError):  # unknown to this driver, or to the CPU
            values[attribute] = (
                attribute_of(device, attribute)
                if handle is None
                else _gpu_attribute(handle, attribute)
            )
    return values


def _default_gpu(caller: str) -> _core.device:
    device = _core.device()
    if device.kind == "cpu":
        raise _core.DeviceError(
            f"{caller}: the CPU has no such limit; its kernels' stacks are config.cpu_stack_kb, their heap is the host's"
        )
    return device


def get_limit(which: Any) -> int:
    """A limit (bytes or a count) of the default device's primary context. Raises DeviceError on the
    CPU."""
    value = ctypes.c_size_t()
    with _driver_api.current_context(_default_gpu("Context.get_limit")):
        _driver_api.call("cuCtxGetLimit", ctypes.byref(value), int(which))
    return value.value


def set_limit(which: Any, value: int) -> None:
    """Sets a limit of the default device's primary context, which other libraries share. Raises
    DeviceError on the CPU, and for a limit that can no longer be set."""
    with _driver_api.current_context(_default_gpu("Context.set_limit")):
        code = _driver_api.driver().cuCtxSetLimit(int(which), ctypes.c_size_t(value))
    if code == _INVALID_VALUE and which in _BEFORE_KERNELS:
        raise _core.DeviceError(
            f"Context.set_limit: the driver takes {limit(which).name} only before the first kernel "
            f"that {_BEFORE_KERNELS[which]} is loaded; set it where the program starts"
        )
    _driver_api.check(code, "cuCtxSetLimit")


def _profile(name: str) -> None:
    device = _core.device()
    if device.kind != "cpu":
        with _driver_api.current_context(device):
            _driver_api.call(name)


def start_profiler() -> None:
    """cuProfilerStart in the default device's context: an attached profiler starts to record. No
    effect on the CPU."""
    _profile("cuProfilerStart")


def stop_profiler() -> None:
    """cuProfilerStop in the default device's context. No effect on the CPU."""
    _profile("cuProfilerStop")


def get_driver_version() -> int:
    """The CUDA version of the driver: 13000 for 13.0; 0 if the default device is the CPU."""
    version = _core.device().properties.driver
    major, _, minor = version.partition(".")
    return int(major) * 1000 + int(minor or 0) * 10 if major.isdigit() else 0


def get_version() -> tuple[int, int, int]:
    """The CUDA version of the driver: (13, 0, 0) for 13.0."""
    version = get_driver_version()
    return version // 1000, version % 1000 // 10, 0


# ---- Contexts, modules and devices ----


class _ContextStack(threading.local):
    """The contexts pushed by this thread, innermost last."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []


_stack = _ContextStack()


class Context:
    """A device's primary context. As in PyCUDA, between push() (or make_context()) and pop() the
    device is this thread's default device, and on a GPU its context is the current CUDA context.
    """

    spanwise_device = property(lambda self: self._device)

    def __init__(self, device: _core.device) -> None:
        self._device = device

    @property
    def handle(self) -> int:
        """CUcontext as an integer; 0 on the CPU."""
        device = self._device
        return 0 if device.kind == "cpu" else _driver_api.primary_context(device.ordinal)

    def __int__(self) -> int:
        return self.handle

    def push(self) -> None:
        if self._device.kind != "cpu":
            _driver_api.push(self._device.ordinal)
        self._device.__enter__()
        _stack.contexts.append(self)

    @staticmethod
    def pop() -> None:
        if not _stack.contexts:
            raise _core.ArgumentError(
                "Context.pop: expected a context that this thread has pushed, got none; each pop() undoes one "
                "push() or make_context()"
            )
        context = _stack.contexts.pop()
        context._device.__exit__(None, None, None)
        if context._device.kind != "cpu":
            _driver_api.pop()

    def detach(self) -> None:
        """Has no effect: the primary context lives as long as the process."""

    @staticmethod
    def get_current() -> Context:
        """The innermost context pushed by this thread, else that of the default device."""
        return _stack.contexts[-1] if _stack.contexts else Context(_core.device())

    @staticmethod
    def synchronize() -> None:
        """Waits for all work on the default device."""
        _core.device().synchronize()

    get_limit, set_limit = staticmethod(get_limit), staticmethod(set_limit)

    @staticmethod
    def get_device() -> Any:
        return Device(str(_core.device()))

    def __enter__(self) -> Context:
        self.push()
        return self

    def __exit__(self, *error: object) -> None:
        self.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self._device == other._device

    def __hash__(self) -> int:
        return hash(str(self._device))

    def __repr__(self) -> str:
        return f"Context({str(self._device)!r})"


def _enumeration(*names: str) -> SimpleNamespace:
    """A namespace like an enumeration of PyCUDA's: the value of each attribute is its name."""
    return SimpleNamespace(**dict(zip(names, names, strict=True)))


function_attribute = _enumeration(
    *("MAX_THREADS_PER_BLOCK", "SHARED_SIZE_BYTES", "CONST_SIZE_BYTES", "LOCAL_SIZE_BYTES"),
    *("NUM_REGS", "MAX_DYNAMIC_SHARED_SIZE_BYTES"),
)
func_cache = _enumeration("PREFER_NONE", "PREFER_SHARED", "PREFER_L1", "PREFER_EQUAL")


def module_from_file(filename: Any) -> _core.Module:
    """Loads a cubin, PTX or fat binary from a file."""
    return _core.Module.load(filename)


def module_from_buffer(buffer: Any, options: Any = (), message_handler: Any = None) -> _core.Module:
    """Loads a cubin, PTX or fat binary from memory. `options` and `message_handler` are ignored;
    errors contain the driver's messages."""
    return _core.Module.load(bytes(buffer))


class Device:
    """The GPU with ordinal `which`, or the device of a name such as "cpu"."""

    spanwise_device = property(lambda self: self._device)

    def __init__(self, which=0):
        name = f"cuda:{which}" if isinstance(which, int) else which
        self._device = _core.device(name)

    @staticmethod
    def count():
        """The number of GPUs."""
        return sum(device.kind == "cuda" for device in _core.devices())

    def name(self):
        return self._device.properties.name

    def total_memory(self):
        """Memory of the device in bytes."""
        return self._device.properties.total_memory

    def compute_capability(self):
        """(9, 0) for "sm_90". Raises DeviceError on the CPU, which has none."""
        architecture = self._device.properties.architecture
        digits = architecture.removeprefix("sm_").rstrip("abcdefghijklmnopqrstuvwxyz")
        if not digits.isdigit():
            raise DeviceError(
                f"{self._device} has no compute capability; expected a GPU, identify devices by .name()"
            )
        return int(digits[:-1]), int(digits[-1])

    def get_attribute(self, which):
        """The value of a device_attribute; ``device.WARP_SIZE`` is short for it. Raises DeviceError
        for an attribute that the device does not have."""
        return attribute_of(self._device, which)

    def get_attributes(self):
        """A dict from device_attribute to value, for every attribute that the device has."""
        return attributes_of(self._device)

    def __getattr__(self, name):
        # PyCUDA also has the names in lower case.
        if name.upper() not in device_attribute.__members__:
            raise AttributeError(f"Device has no attribute {name!r}; see drv.device_attribute")
        return self.get_attribute(device_attribute[name.upper()])

    def make_context(self, flags=0):
        """The primary context, after pushing it on this thread; `flags` are ignored."""
        context = self.retain_primary_context()
        context.push()
        return context

    def retain_primary_context(self):
        """The primary context, not pushed."""
        return Context(self._device)

    def __int__(self):
        """The CUdevice. Raises DeviceError for the CPU."""
        if self._device.kind == "cpu":
            raise DeviceError("Device: the CPU is no CUdevice; use a GPU's, Device(0)")
        return self._device.ordinal

    def __eq__(self, other):
        return isinstance(other, Device) and self._device == other._device

    def __hash__(self):
        return hash(str(self._device))

    def __repr__(self):
        return f"Device({str(self._device)!r})"
