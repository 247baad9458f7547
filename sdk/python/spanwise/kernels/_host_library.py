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
from ..driver._driver_api import current_context
from ._pickle import interned

_STREAM_TYPES = {"cudaStream_t", "CUstream"}
_RESULTS = {"void": None, "int": ctypes.c_int, "cudaError_t": ctypes.c_int}
#: cudaStreamLegacy of the CUDA runtime API: the stream of launches that name no stream.
_LEGACY_STREAM = 1


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
                "see ldd for the libraries that it needs"
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
                'have mangled names (nm -D lists them); declare it extern "C", or give the mangled name'
            ) from None
        function.restype = _RESULTS[returns]
        return Launcher(self, function, name, parameters, returns)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the path, absolute if it names a file. The library must exist where it is unpickled."""
        return _load_library, (self._library._name,)

    def __repr__(self) -> str:
        return f"HostLibrary({self.path!r})"


def _parameters_of(name: str, declaration: str) -> list[_core.KernelParameter]:
    kernels = _core._scan_kernels(f"__global__ void f({declaration});")
    if len(kernels) != 1:
        raise _core.KernelArgumentError(
            f"launcher {name!r}: expected C parameters such as 'const float*, int, cudaStream_t', got {declaration!r}"
        )
    parameters = kernels[0][-1]
    for position, parameter in enumerate(parameters, 1):
        is_number = parameter.dtype is not None and parameter.dtype.name in _C_TYPES
        if not (parameter.is_pointer or parameter.type in _STREAM_TYPES or is_number):
            raise _core.KernelArgumentError(
                f"launcher {name!r}, parameter {position}: expected a pointer, a number's type or cudaStream_t, got "
                f"{parameter.type!r}. Remedy: wrap the function in one that takes a pointer to the struct"
            )
        if parameter.is_pointer and parameter.dtype is None:
            _check_pointer_type(name, position, parameter.type)
    return parameters


class Launcher:
    """A host launcher, called with arrays of any library and numbers, as a kernel is.

    The device is that of the arrays, or the default device without arrays. A launcher with a
    cudaStream_t parameter gets `stream`, by default the current stream of the device; one without
    works, on a GPU, on the legacy default stream and takes no `stream`. Events order that stream
    after the work queued on the arrays, and later work on the arrays after it. The device's primary
    context is current during the call. With config.launch_blocking the call waits for the stream.
    """

    def __init__(
        self, library: HostLibrary, function: Any, name: str, parameters: str, returns: str
    ) -> None:
        self._origin = (library, name, parameters, returns)
        self._needs_gpu, self._names_errors = library._needs_gpu, returns == "cudaError_t"
        self._function = function
        self.name = self.__name__ = name
        self.parameters = tuple(_parameters_of(name, parameters))
        #: The parameters for which a call passes values: all but those for the stream.
        self._value_parameters = [p for p in self.parameters if p.type not in _STREAM_TYPES]
        self._takes_stream = len(self._value_parameters) < len(self.parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_launcher, self._origin

    def __call__(self, *args: Any, stream: Any = None) -> None:
        parameters = self._value_parameters
        if len(args) != len(parameters):
            raise _core.KernelArgumentError(
                f"launcher {self.name!r}: expected {len(parameters)} arguments "
                f"({', '.join(map(_declaration_of, parameters))}), got {len(args)}. Remedy: pass one value for each "
                "parameter; the stream is passed as stream="
            )
        converted = []
        for position, (parameter, value) in enumerate(zip(parameters, args, strict=True), 1):
            declared = _declaration_of(parameter)
            label = f"launcher {self.name!r}, argument {position} of {len(args)} ({declared})"
            convert = _pointer_value if parameter.is_pointer else _number_value
            converted.append(convert(label, parameter, value))
        arrays = [
            (value, not parameter.is_const)
            for parameter, value in zip(parameters, converted, strict=True)
            if isinstance(value, _core.Array)
        ]
        device = self._device_of([array for array, _ in arrays])
        stream = self._launch_stream(device, stream)
        for array, writes in arrays:
            _core._order_use(stream, array, writes)
        values = iter(converted)
        passed = [
            ctypes.c_void_p(stream.handle) if p.type in _STREAM_TYPES else _c_value(p, next(values))
            for p in self.parameters
        ]
        with current_context(device):
            code = self._function(*passed)
        if code:
            raise _core.DeviceError(
                f"launcher {self.name!r} on {device}: it returned the error "
                f"{_error_text(code) if self._names_errors else code}"
            )
        if _core._config_get("launch_blocking") in ("1", "true", "yes", "on"):
            stream.synchronize()

    def _launch_stream(self, device: _core.device, stream: Any) -> _core.Stream:
        if self._takes_stream or device.kind == "cpu":
            return _core.Stream.foreign(stream, device)  # None: the current stream
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

    def __repr__(self) -> str:
        return f"<launcher {self.name}({', '.join(map(_declaration_of, self.parameters))})>"


# Functions that pickles refer to: their names and parameters must not change.


def _load_library(path: str) -> HostLibrary:
    return interned(("HostLibrary", path), lambda: HostLibrary(path))


def _load_launcher(library: HostLibrary, name: str, parameters: str, returns: str) -> Launcher:
    key = (library, name, parameters, returns)
    return interned(key, lambda: library.launcher(name, parameters, returns))


# ---- Parameters: checks of their types, and conversion of arguments to C values ----

_INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
#: Types that an error suggests for a misspelt one.
_SUGGESTED_TYPES = [
    *("bool", "char", "short", "int", "long", "float", "double", "half", "size_t"),
    *(f"{name}_t" for name in _INTEGERS),
    *("float2", "float3", "float4", "double2", "int2", "int3", "int4"),
]
_QUALIFIERS = ("const", "volatile", "restrict", "__restrict__", "__restrict")


def _check_pointer_type(name: str, position: int, declared: str) -> None:
    """Raises KernelArgumentError for a pointer to an unknown type of one word, as a typo is."""
    words = [word for word in declared.replace("*", " ").split() if word not in _QUALIFIERS]
    if len(words) != 1 or words[0] in ("void", *_SUGGESTED_TYPES):
        return
    similar = get_close_matches(words[0], _SUGGESTED_TYPES, 1)
    suggestion = f"write {similar[0]!r} if that is meant, " if similar else "write "
    raise _core.KernelArgumentError(
        f"launcher {name!r}, parameter {position}: expected a pointer to a type of C or CUDA, got {declared!r}. Remedy: "
        f"{suggestion}'struct {words[0]}' for a type of the library, or 'void'"
    )


def _has_device_code(path: str) -> bool:
    """Whether the shared library `path` was built by nvcc: it has the section of device code."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.rfind(b"\0.nv_fatbin\0") >= 0
    except (OSError, ValueError):
        return False  # a name that only the dynamic loader resolves


#: dtype -> the ctypes type of a number.
_C_TYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    **{name: getattr(ctypes, f"c_{name}") for name in _INTEGERS},
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def _declaration_of(parameter: _core.KernelParameter) -> str:
    return f"{parameter.type} {parameter.name}".strip()


def _pointer_value(label: str, parameter: _core.KernelParameter, value: Any) -> Any:
    """The Array over the memory of `value`, or an address as an int: 0 for None. Raises KernelArgumentError for
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
        raise _core.KernelArgumentError(f"{label}: expected an array, {error}") from None
    if parameter.dtype is not None and array.dtype != parameter.dtype:
        raise _core.KernelArgumentError(
            f"{label}: expected an array of {parameter.dtype.name}, got {array.dtype.name} {array.shape}. Remedy: convert "
            f'it with x.astype("{parameter.dtype.name}")'
        )
    if not array.flags.c_contiguous:
        raise _core.KernelArgumentError(
            f"{label}: expected a C-contiguous array, as a pointer carries no strides, got {array.shape} with strides "
            f"{array.strides} on {array.device}. Remedy: pass x.copy(), and copy back what it writes"
        )
    if not parameter.is_const and not array.flags.writeable:
        raise _core.ReadOnlyError(
            f"{label}: expected an array that may be written, got a read-only one. Remedy: pass a copy, or declare the "
            "parameter const where the function only reads"
        )
    return array


def _number_value(label: str, parameter: _core.KernelParameter, value: Any) -> Any:
    """`value` as a Python number. Raises KernelArgumentError for an integer outside the range of
    the parameter's type, a float for an integer type, or a finite number that overflows float32."""
    dtype = parameter.dtype
    assert dtype is not None
    try:
        number = value.item() if hasattr(value, "item") else value
    except (TypeError, ValueError):
        number = None
    if dtype.name.startswith("float"):
        fits = isinstance(number, int | float)
        if fits and dtype.name == "float32" and abs(number) != float("inf"):
            fits = abs(ctypes.c_float(number).value) != float("inf")
    else:
        fits = isinstance(number, int) and _C_TYPES[dtype.name](number).value == number
    if not fits:
        raise _core.KernelArgumentError(
            f"{label}: expected a number that {dtype.name} holds, got {value!r} of type {type(value).__name__}"
        )
    return number


def _c_value(parameter: _core.KernelParameter, value: Any) -> Any:
    """The ctypes object for a result of _pointer_value() or _number_value()."""
    if parameter.is_pointer:
        return ctypes.c_void_p(value.ptr if isinstance(value, _core.Array) else value)
    assert parameter.dtype is not None
    return _C_TYPES[parameter.dtype.name](value)


# ---- Errors of the CUDA runtime API (cudaError) ----

_INSTALL = "update the driver, or build the library with the toolkit of the driver's version"
_BUILD = "build the library for this GPU (nvcc -arch=native)"

#: Code -> name and remedy.
_ERRORS = {
    1: ("cudaErrorInvalidValue", ""),
    2: ("cudaErrorMemoryAllocation", "free memory of the device"),
    3: ("cudaErrorInitializationError", ""),
    9: ("cudaErrorInvalidConfiguration", "give another number of threads or less shared memory"),
    35: (
        "cudaErrorInsufficientDriver",
        f"the library's CUDA runtime needs a newer driver: {_INSTALL}",
    ),
    46: ("cudaErrorDevicesUnavailable", "another process has exclusive use of the GPU"),
    98: ("cudaErrorInvalidDeviceFunction", _BUILD),
    100: ("cudaErrorNoDevice", "the library needs a GPU"),
    101: ("cudaErrorInvalidDevice", ""),
    200: ("cudaErrorInvalidKernelImage", _BUILD),
    201: ("cudaErrorDeviceUninitialized", ""),
    209: ("cudaErrorNoKernelImageForDevice", _BUILD),
    218: ("cudaErrorInvalidPtx", _BUILD),
    222: ("cudaErrorUnsupportedPtxVersion", _INSTALL),
    400: ("cudaErrorInvalidResourceHandle", "give a stream of the arrays' device"),
    700: ("cudaErrorIllegalAddress", "the process cannot use the GPU any more; check its indices"),
    701: ("cudaErrorLaunchOutOfResources", "launch fewer threads in a block"),
    702: ("cudaErrorLaunchTimeout", "the process cannot use the GPU any more"),
    716: ("cudaErrorMisalignedAddress", "the process cannot use the GPU any more"),
    719: ("cudaErrorLaunchFailure", "the process cannot use the GPU any more"),
    801: ("cudaErrorNotSupported", ""),
    803: ("cudaErrorSystemDriverMismatch", "restart after an update of the driver"),
    999: ("cudaErrorUnknown", ""),
}


def _error_text(code: int) -> str:
    """Such as "35, cudaErrorInsufficientDriver. Remedy: ..."; the number alone without a name here."""
    name, remedy = _ERRORS.get(code, ("", ""))
    return str(code) + (f", {name}" if name else "") + (f". Remedy: {remedy}" if remedy else "")
