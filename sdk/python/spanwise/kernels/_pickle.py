# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Pickling of kernels: a pickle holds the constructor arguments, and unpickling constructs again.

Unpickled kernels are cached: two pickles with the same text give the same compiled kernel. A
kernel for a GPU, of any ordinal, is loaded for the default device of the receiving process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from .. import _core

#: The least recently used kernels beyond this number are dropped.
_LIMIT = 256
_cache: OrderedDict[Any, Any] = OrderedDict()
_lock = Lock()


def interned(key: Any, make: Callable[[], Any]) -> Any:
    """The cached value of `key` for the default device of this thread, from `make()` at first."""
    key = (str(_core.default_device()), key)
    with _lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    value = make()  # without the lock: the compiler runs for seconds
    with _lock:
        value = _cache.setdefault(key, value)
        while len(_cache) > _LIMIT:
            _cache.popitem(last=False)
    return value


def _device_name(device: Any) -> str | None:
    """The device to pickle: its name, or None, the default device, for a GPU."""
    if device is None:
        return None
    name = str(_core.device(device) if isinstance(device, str) else device)
    return name if name.startswith("cpu") else None


# ---- Implementations of __reduce__ ----


def reduce_user_kernel(kind: type, spec: dict[str, Any]) -> tuple[Any, ...]:
    return _load_user_kernel, (kind, tuple(spec.items()))


def reduce_source_module(
    source: Any,
    options: list[str],
    names: list[str],
    include_dirs: list[str],
    device: Any,
    keep: bool,
    link: Any,
    path: Any,
) -> tuple[Any, ...]:
    units = tuple(unit if isinstance(unit, str) else bytes(unit) for unit in link)
    texts = (tuple(options), tuple(names), tuple(include_dirs))
    absolute = None if path is None else str(Path(path).absolute())
    return _load_source_module, (source, *texts, _device_name(device), keep, units, absolute)


def reduce_loaded_module(path_or_bytes: Any, device: Any) -> tuple[Any, ...]:
    if not isinstance(path_or_bytes, bytes):
        path_or_bytes = str(Path(path_or_bytes).absolute())
    return _load_module, (path_or_bytes, _device_name(device))


def reduce_kernel(module: Any, name: str, declared: tuple[str, ...] | None) -> tuple[Any, ...]:
    return _load_kernel, (module, name, declared)


# ---- Functions that pickles refer to: their names and parameters must not change ----


def _load_user_kernel(kind: type, spec: tuple[tuple[str, Any], ...]) -> Any:
    # The C++ class's constructor takes `spec`; those of the Python classes take PyCUDA's arguments.
    base = next(cls for cls in kind.__mro__ if cls.__module__ == "spanwise._core")
    return interned((kind, spec), lambda: base.__new__(kind, **dict(spec)))


def _load_source_module(source: str | None, *arguments: Any) -> Any:
    """SourceModule(source, options, names, include_dirs, device, keep, link, path)."""
    path = arguments[-1]
    key = ("SourceModule", source if path is None else Path(path).read_bytes(), *arguments)
    return interned(key, lambda: _core.SourceModule(source, *arguments))


def _load_module(path_or_bytes: str | bytes, device: str | None) -> Any:
    image = path_or_bytes if isinstance(path_or_bytes, bytes) else Path(path_or_bytes).read_bytes()
    return interned(
        ("Module", image, path_or_bytes, device), lambda: _core.Module.load(path_or_bytes, device)
    )


def _load_kernel(module: Any, name: str, declared: tuple[str, ...] | None) -> Any:
    def make() -> Any:
        kernel = module.get_function(name)
        return kernel if declared is None else kernel.bind(declared)

    return interned((module, name, declared), make)
