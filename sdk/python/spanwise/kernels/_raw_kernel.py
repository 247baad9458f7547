# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""RawKernel and RawModule with CuPy's arguments (cupy/_core/raw.pyx), over SourceModule."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from .. import _core

_BACKENDS = ("nvrtc", "nvcc")  # CuPy's
#: CuPy's names, which kernels of Spanwise have as attributes.
_ATTRIBUTES = (
    *("num_regs", "shared_size_bytes", "local_size_bytes", "const_size_bytes"),
    "max_threads_per_block",
)
_DYNAMIC = "MAX_DYNAMIC_SHARED_SIZE_BYTES"


class RawModule:
    """The kernels of a CUDA C++ text or file, compiled for each device at its first use.

    Give either `code` or `path`. `name_expressions` are the template instances to compile, such as
    ``"scale<float>"``. `backend` is accepted and ignored: a GPU's kernels are compiled by NVRTC, the
    CPU's by the C++ compiler. `translate_cucomplex` has no effect, as the types of cuComplex.h are
    compiled. With `enable_cooperative_groups` kernels are launched cooperatively, so that all blocks may
    wait for each other. Raises ArgumentError for arguments that CuPy has and Spanwise does not.
    """

    __slots__ = (
        *(
            "code",
            "file_path",
            "options",
            "enable_cooperative_groups",
            "name_expressions",
            "backend",
        ),
        "_modules",
    )

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | os.PathLike[str] | None = None,
        options: Iterable[str] = (),
        backend: str = "nvrtc",
        name_expressions: Iterable[str] | None = None,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        **others: Any,
    ) -> None:
        _check("RawModule", backend, others)
        if (code is None) == (path is None):
            raise _core.ArgumentError(
                "RawModule: expected either code=, a text, or path=, a file, got "
                f"{'neither' if code is None else 'both'}. Remedy: pass one of them"
            )
        if code is not None and not isinstance(code, str):
            raise TypeError(f"RawModule: expected code to be a text, got {type(code).__name__}")
        self.code, self.file_path, self.backend = code, path, backend
        self.options = _texts("RawModule: options", options)
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.name_expressions = _texts("RawModule: name_expressions", name_expressions or ())
        self._modules: dict[str, Any] = {}

    def get_function(self, name: str) -> RawKernel:
        """The kernel `name`, or the instance of a template that is among name_expressions."""
        return RawKernel._from_module(self, name)

    def get_global(self, name: str, device: Any = None) -> Any:
        """As SourceModule.get_global: the bytes of a ``__device__`` or ``__constant__`` variable."""
        return self.compile(device=device).get_global(name)

    def compile(self, log_stream: Any = None, device: Any = None) -> Any:
        """The SourceModule for a device, by default the current one. Raises CompileError, after
        writing the compiler's messages to `log_stream`."""
        device = _core.default_device() if device is None else _core.device(device)
        if str(device) not in self._modules:
            try:
                self._modules[str(device)] = _core.SourceModule(
                    self.code,
                    options=list(self.options),
                    names=list(self.name_expressions),
                    device=device,
                    path=self.file_path,
                )
            except _core.CompileError as error:
                if log_stream is not None:
                    log_stream.write(error.log)
                raise
        return self._modules[str(device)]

    def __repr__(self) -> str:
        return f"<RawModule {self.file_path or 'of a text'}>"


class RawKernel:
    """One kernel of a CUDA C++ text, called as ``kernel(grid, block, args, shared_mem=0, stream=None)``.

    It runs on the device of the first array among `args`, or on the current device. Arguments are
    checked and converted as by SourceModule's functions; `stream` is by default the current stream of
    the device, on which the arrays are ordered.
    """

    __slots__ = ("_module", "name")

    def __init__(
        self,
        code: str,
        name: str,
        options: Iterable[str] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        **others: Any,
    ) -> None:
        _check("RawKernel", backend, others)
        if not isinstance(code, str) or not isinstance(name, str):
            raise TypeError(
                f"RawKernel: expected the texts code and name, got {type(code).__name__} and "
                f"{type(name).__name__}"
            )
        names = [name] if "<" in name else []
        self._module = RawModule(
            code=code,
            options=options,
            backend=backend,
            name_expressions=names,
            enable_cooperative_groups=enable_cooperative_groups,
        )
        self.name = name

    @classmethod
    def _from_module(cls, module: RawModule, name: str) -> RawKernel:
        kernel = cls.__new__(cls)
        kernel._module, kernel.name = module, name
        return kernel

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        stream: Any = None,
    ) -> None:
        kernel = self._kernel(_device_of(args))
        grid, block = tuple(grid), tuple(block)
        together = self._module.enable_cooperative_groups
        kernel(
            *args, grid=grid, block=block, shared=shared_mem, stream=stream, cooperative=together
        )

    def compile(self, log_stream: Any = None) -> None:
        """Compiles the text for the current device; as RawModule.compile."""
        self._module.compile(log_stream)

    @property
    def code(self) -> str | None:
        return self._module.code

    @property
    def enable_cooperative_groups(self) -> bool:
        return self._module.enable_cooperative_groups

    @property
    def options(self) -> tuple[str, ...]:
        return self._module.options

    @property
    def backend(self) -> str:
        return self._module.backend

    @property
    def file_path(self) -> str | os.PathLike[str] | None:
        return self._module.file_path

    @property
    def attributes(self) -> dict[str, int]:
        """The resources of the kernel on the current device, by CuPy's names."""
        return {
            name: getattr(self, name) for name in (*_ATTRIBUTES, "max_dynamic_shared_size_bytes")
        }

    def __getattr__(self, name: str) -> int:
        """num_regs and the like: one of `attributes`."""
        if name not in _ATTRIBUTES:
            raise AttributeError(f"'RawKernel' object has no attribute {name!r}")
        return getattr(self._kernel(None), name)  # type: ignore[no-any-return]

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """The most that `shared_mem` may be on the current device. A launch raises the driver's limit
        itself; a value that is set is checked. Raises KernelArgumentError for more than the device has."""
        return self._kernel(None).get_attribute(_DYNAMIC)  # type: ignore[no-any-return]

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, value: int) -> None:
        self._kernel(None).set_attribute(_DYNAMIC, value)

    def _kernel(self, device: Any) -> Any:
        return self._module.compile(device=device).get_function(self.name)

    def __repr__(self) -> str:
        return f"<RawKernel {self.name}>"


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None) -> Any:
    """`a`, an array of any library, copied to a new NumPy array, or to `out`.

    `order` is "C", "F" or "A" (of `a`). Waits for `stream`, by default for the work queued on `a`.
    """
    import numpy

    array = _core._asarray(a)
    if stream is not None:
        stream.synchronize()
    host = array.numpy()  # of a GPU a copy, of the CPU its memory
    if out is not None:
        numpy.copyto(out, host)
        return out
    return numpy.array(host, order=order, copy=None if array.device.kind == "cuda" else True)


def get_array_module(*args: Any) -> ModuleType:
    """The module `spanwise` if one of the arguments is its array or a variable of a graph, else numpy."""
    found = any(isinstance(x, _core.Array | _core.Variable) for x in args)
    return import_module("spanwise" if found else "numpy")


def _texts(what: str, values: Iterable[str]) -> tuple[str, ...]:
    texts = () if isinstance(values, str) else tuple(values)
    if isinstance(values, str) or not all(isinstance(x, str) for x in texts):
        raise TypeError(f"{what}: expected a tuple of texts, got {values!r}")
    return texts


def _device_of(args: Sequence[Any]) -> Any:
    arrays = [value for value in args if isinstance(value, _core.Array)]
    if arrays:
        return arrays[0].device
    for value in args:
        if hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack_device__"):
            return _core._asarray(value, copy=False).device
    return None


def _check(caller: str, backend: str, others: dict[str, Any]) -> None:
    """Raises ArgumentError for an unknown backend or a true value among `others`, CuPy's arguments."""
    if backend not in _BACKENDS:
        raise _core.ArgumentError(f"{caller}: expected backend 'nvrtc' or 'nvcc', got {backend!r}")
    for name, value in others.items():
        if value:
            raise _core.ArgumentError(
                f"{caller}: expected no {name}=, which Spanwise does not have, got {value!r}. Remedy: leave it out"
            )
