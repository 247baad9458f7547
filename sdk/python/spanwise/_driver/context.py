# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's devices, contexts and modules. Each device has only its primary context, never
released."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

from .. import _core
from .._core import DeviceError
from . import driver_api as _driver_api
from .attributes import attribute_of, attributes_of, device_attribute, get_limit, set_limit

__all__ = [
    "Context", "Device", "func_cache", "function_attribute", "module_from_buffer",
    "module_from_file",
]  # fmt: skip


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
        if name not in device_attribute.__members__:
            raise AttributeError(f"Device has no attribute {name!r}; see drv.device_attribute")
        return self.get_attribute(device_attribute[name])

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
