# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Host launchers: functions of an existing shared library that launch CUDA kernels."""

from __future__ import annotations

import ctypes
import mmap
import os
from difflib import get_close_matches
from typing import Any

from .. import _core
from .._driver.contexts import current_context
from .cuda_errors import described

_STREAM_TYPES = {"cudaStream_t", "CUstream"}
_NUMBERS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}
_RESULTS = {"void": None, "int": ctypes.c_int, "cudaError_t": ctypes.c_int}
#: Types of C that a misspelt type may be meant for.
_C_TYPES = [
    "bool",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "size_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "float2",
    "float3",
    "float4",
    "double2",
    "int2",
    "int3",
    "int4",
    "half",
]
#: cudaStreamLegacy of the CUDA runtime API: the stream of launches that name no stream.
_LEGACY_STREAM = 1
_QUALIFIERS = ("const", "volatile", "restrict", "__restrict__", "__restrict")


class HostLibrary:
    """A shared library with functions that take device pointers and launch kernels.

    ``HostLibrary("libblur.so").launcher("blur", "const float*, float*, int, int, cudaStream_t")``

    The functions of a library with device code take arrays of GPUs only.

    A `path` without a slash is searched for by the dynamic loader; any other is a file name,
    relative to the current folder. Raises DeviceError if the library cannot be loaded.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        name = self.path if os.sep not in self.path else os.path.abspath(self.path)
        try:
            self._library = ctypes.CDLL(name)
        except OSError as error:
            raise _core.DeviceError(
                f"HostLibrary: expected a shared library, got {self.path!r}: {error}. Remedy: give its full path, and "
                "see ldd for what it needs itself"
            ) from None
        self._needs_gpu = _has_device_code(name)

    def launcher(self, name: str, parameters: str, returns: str = "void") -> Launcher:
        """The exported function `name` as a callable.

        `parameters` is the C declaration of its parameters: pointers, numbers and cudaStream_t. The
        caller passes no value for a cudaStream_t: the launcher fills in the stream of the call.
        Write `struct Config*` for a pointer to a type of the library. `returns` is "void", "int" or
        "cudaError_t"; a result other than 0 raises DeviceError, with the name of CUDA's error for
        cudaError_t.

        Raises ArgumentError if the library has no such function, KernelArgumentError for other
        types.
        """
        if returns not in _RESULTS:
            raise _core.KernelArgumentError(
                f"launcher {name!r}: expected returns to be one of {', '.join(_RESULTS)}, got {returns!r}"
            )
        try:
            function = self._library[name]
        except AttributeError:
            raise _core.ArgumentError(
                f"HostLibrary {self.path!r}: expected the name of a function in it, got {name!r}. Remedy: C++ functions "
                'have mangled names (nm -D lists them); declare it extern "C", or give the mangled one'
            ) from None
        function.restype = _RESULTS[returns]
        names_errors = returns == "cudaError_t"
        known = _parameters_of(name, parameters)
        return Launcher(name, function, known, needs_gpu=self._needs_gpu, names_errors=names_errors)

    def __repr__(self) -> str:
        return f"HostLibrary({self.path!r})"


def _parameters_of(name: str, declaration: str) -> list[_core.KernelParameter]:
    found = _core._scan_kernels(f"__global__ void f({declaration});")
    if len(found) != 1:
        raise _core.KernelArgumentError(
            f"launcher {name!r}: expected C parameters such as 'const float*, int, cudaStream_t', got {declaration!r}"
        )
    parameters = found[0][-1]
    for place, parameter in enumerate(parameters, 1):
        known = parameter.is_pointer or parameter.type in _STREAM_TYPES
        if not known and (parameter.dtype is None or parameter.dtype.name not in _NUMBERS):
            raise _core.KernelArgumentError(
                f"launcher {name!r}, parameter {place}: expected a pointer, a number's type or cudaStream_t, got "
                f"{parameter.type!r}. Remedy: wrap the function in one that takes a pointer to the struct"
            )
        if parameter.is_pointer and parameter.dtype is None:
            _refuse_unknown(name, place, parameter.type)
    return parameters


def _refuse_unknown(name: str, place: int, declared: str) -> None:
    """Raises KernelArgumentError for a pointer to one unknown word, such as a misspelt type."""
    words = [word for word in declared.replace("*", " ").split() if word not in _QUALIFIERS]
    if len(words) != 1 or words[0] in ("void", *_C_TYPES):
        return
    similar = get_close_matches(words[0], _C_TYPES, 1)
    meant = f"write {similar[0]!r} if that is meant, " if similar else "write "
    raise _core.KernelArgumentError(
        f"launcher {name!r}, parameter {place}: expected a pointer to a type of C or CUDA, got {declared!r}. Remedy: "
        f"{meant}'struct {words[0]}' for a type of the library, or 'void'"
    )


def _has_device_code(path: str) -> bool:
    """Whether the shared library `path` was built by nvcc: it has the section of device code."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.rfind(b"\0.nv_fatbin\0") >= 0
    except (OSError, ValueError):
        return False  # found by the loader, or without a file


class Launcher:
    """A host launcher, called with arrays of any library and numbers, as a kernel is.

    The device is that of the arrays, or the default device without arrays. A launcher with a
    cudaStream_t parameter gets `stream`, by default the current stream of the device; one without
    works, on a GPU, on the legacy default stream and takes no `stream`. Events order that stream
    after the work queued on the arrays, and later work on the arrays after it. The device's primary
    context is current during the call. With config.launch_blocking the call waits for the stream.
    """

    def __init__(
        self,
        name: str,
        function: Any,
        parameters: list[_core.KernelParameter],
        *,
        needs_gpu: bool = False,
        names_errors: bool = False,
    ) -> None:
        self._needs_gpu, self._names_errors = needs_gpu, names_errors
        self.name = self.__name__ = name
        self.parameters = tuple(parameters)
        self._function = function
        self._takes_stream = any(p.type in _STREAM_TYPES for p in parameters)

    def __call__(self, *args: Any, stream: Any = None) -> None:
        wanted = [p for p in self.parameters if p.type not in _STREAM_TYPES]
        if len(args) != len(wanted):
            raise _core.KernelArgumentError(
                f"launcher {self.name!r}: expected {len(wanted)} arguments ({', '.join(map(_shown, wanted))}), got "
                f"{len(args)}. Remedy: pass one value for each parameter but the stream, which stream= is for"
            )
        converted = [
            self._argument(place, parameter, value)
            for place, (parameter, value) in enumerate(zip(wanted, args, strict=True), 1)
        ]
        arrays = [
            (value, not parameter.is_const)
            for parameter, value in zip(wanted, converted, strict=True)
            if isinstance(value, _core.Array)
        ]
        device = self._device_of([array for array, _ in arrays])
        queue = self._queue(device, stream)
        for array, writes in arrays:
            _core._order_use(queue, array, writes)
        values = iter(converted)
        passed = [
            ctypes.c_void_p(queue.handle) if p.type in _STREAM_TYPES else _c_value(p, next(values))
            for p in self.parameters
        ]
        with current_context(device):
            code = self._function(*passed)
        if code:
            raise _core.DeviceError(
                f"launcher {self.name!r} on {device}: it returned the error "
                f"{described(code) if self._names_errors else code}"
            )
        if _blocking():
            queue.synchronize()

    def _queue(self, device: _core.device, stream: Any) -> _core.Stream:
        if self._takes_stream or device.kind == "cpu":
            if stream is None:
                return _core.current_stream(device)
            return (
                stream if isinstance(stream, _core.Stream) else _core.Stream.foreign(stream, device)
            )
        if stream is not None:
            raise _core.KernelArgumentError(
                f"launcher {self.name!r}: expected no stream=, as its declaration has no cudaStream_t, got {stream!r}. "
                "Remedy: leave it out; the work is ordered by events"
            )
        return _core.Stream.foreign(_LEGACY_STREAM, device)

    def _device_of(self, arrays: list[_core.Array]) -> _core.device:
        devices = {str(array.device): array.device for array in arrays}
        if len(devices) > 1:
            raise _core.KernelArgumentError(
                f"launcher {self.name!r}: expected arrays of one device, got {' and '.join(devices)}. Remedy: move them, "
                'x.to("cuda:0")'
            )
        device = next(iter(devices.values()), _core.default_device())
        if self._needs_gpu and arrays and device.kind == "cpu":
            raise _core.KernelArgumentError(
                f"launcher {self.name!r}: expected arrays on a GPU, as the library has device code, got arrays on cpu. "
                'Remedy: move them, x.to("cuda:0")'
            )
        return device

    def _argument(self, place: int, parameter: _core.KernelParameter, value: Any) -> Any:
        where = f"launcher {self.name!r}, argument {place} of {len(self.parameters)} ({_shown(parameter)})"
        if parameter.is_pointer:
            return _pointer(where, parameter, value)
        return _number(where, parameter, value)

    def __repr__(self) -> str:
        return f"<launcher {self.name}({', '.join(map(_shown, self.parameters))})>"


def _blocking() -> bool:
    return _core._config_get("launch_blocking") in ("1", "true", "yes", "on")


def _shown(parameter: _core.KernelParameter) -> str:
    return f"{parameter.type} {parameter.name}".strip()


def _pointer(where: str, parameter: _core.KernelParameter, value: Any) -> Any:
    """The Array behind `value`, or an address as an int: 0 for None. Raises KernelArgumentError for
    another dtype or memory that is not C-contiguous, ReadOnlyError for a non-const parameter and a
    read-only array."""
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, _core._DriverMemory):
        return value.array
    try:
        array = _core._asarray(value, copy=False)
    except _core.Error as error:
        raise _core.KernelArgumentError(f"{where}: expected an array, {error}") from None
    if parameter.dtype is not None and array.dtype != parameter.dtype:
        raise _core.KernelArgumentError(
            f"{where}: expected an array of {parameter.dtype.name}, got {array.dtype.name} {array.shape}. Remedy: convert "
            f'it with x.astype("{parameter.dtype.name}")'
        )
    if not array.flags.c_contiguous:
        raise _core.KernelArgumentError(
            f"{where}: expected a C-contiguous array, as a pointer carries no strides, got {array.shape} with strides "
            f"{array.strides} on {array.device}. Remedy: pass x.copy(), and copy back what it writes"
        )
    if not parameter.is_const and not array.flags.writeable:
        raise _core.ReadOnlyError(
            f"{where}: expected an array that may be written, got a read-only one. Remedy: pass a copy, or declare the "
            "parameter const where the function only reads"
        )
    return array


def _number(where: str, parameter: _core.KernelParameter, value: Any) -> Any:
    """`value` as a Python number. Raises KernelArgumentError for an integer outside the range of
    the parameter's type, a float for an integer type, or a finite number that overflows float32."""
    dtype = parameter.dtype
    assert dtype is not None
    try:
        number = value.item() if hasattr(value, "item") else value
    except (TypeError, ValueError):
        number = None
    is_whole = isinstance(number, int)
    good = is_whole or (isinstance(number, float) and dtype.name.startswith("float"))
    if good and is_whole and not dtype.name.startswith("float"):
        good = _NUMBERS[dtype.name](number).value == number
    if good and dtype.name == "float32" and abs(number) != float("inf"):
        good = abs(ctypes.c_float(number).value) != float("inf")
    if not good:
        raise _core.KernelArgumentError(
            f"{where}: expected a number that {dtype.name} holds, got {value!r} of type {type(value).__name__}"
        )
    return number


def _c_value(parameter: _core.KernelParameter, value: Any) -> Any:
    if parameter.is_pointer:
        return ctypes.c_void_p(value.ptr if isinstance(value, _core.Array) else value)
    assert parameter.dtype is not None
    return _NUMBERS[parameter.dtype.name](value)
