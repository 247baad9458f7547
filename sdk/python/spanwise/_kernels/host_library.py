# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Host launchers: functions of an existing shared library that launch CUDA kernels."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from .. import _core
from .._driver.driver_api import current_context
from .cuda_errors import error_text
from .launcher_values import (
    C_TYPES,
    c_value,
    check_pointer_type,
    declaration_of,
    has_device_code,
    number_value,
    pointer_value,
)
from .pickle import interned

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
        self._needs_gpu = has_device_code(name)

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
        is_number = parameter.dtype is not None and parameter.dtype.name in C_TYPES
        if not (parameter.is_pointer or parameter.type in _STREAM_TYPES or is_number):
            raise _core.KernelArgumentError(
                f"launcher {name!r}, parameter {position}: expected a pointer, a number's type or cudaStream_t, got "
                f"{parameter.type!r}. Remedy: wrap the function in one that takes a pointer to the struct"
            )
        if parameter.is_pointer and parameter.dtype is None:
            check_pointer_type(name, position, parameter.type)
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
                f"({', '.join(map(declaration_of, parameters))}), got {len(args)}. Remedy: pass one value for each "
                "parameter; the stream is passed as stream="
            )
        converted = []
        for position, (parameter, value) in enumerate(zip(parameters, args, strict=True), 1):
            declared = declaration_of(parameter)
            label = f"launcher {self.name!r}, argument {position} of {len(args)} ({declared})"
            convert = pointer_value if parameter.is_pointer else number_value
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
            ctypes.c_void_p(stream.handle) if p.type in _STREAM_TYPES else c_value(p, next(values))
            for p in self.parameters
        ]
        with current_context(device):
            code = self._function(*passed)
        if code:
            raise _core.DeviceError(
                f"launcher {self.name!r} on {device}: it returned the error "
                f"{error_text(code) if self._names_errors else code}"
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
        return f"<launcher {self.name}({', '.join(map(declaration_of, self.parameters))})>"


# Functions that pickles refer to: their names and parameters must not change.


def _load_library(path: str) -> HostLibrary:
    return interned(("HostLibrary", path), lambda: HostLibrary(path))


def _load_launcher(library: HostLibrary, name: str, parameters: str, returns: str) -> Launcher:
    key = (library, name, parameters, returns)
    return interned(key, lambda: library.launcher(name, parameters, returns))
