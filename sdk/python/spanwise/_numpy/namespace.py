# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The inspection API and the array methods of the array API standard
(data-apis.org/array-api/2024.12)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .. import _core
from .dtypes import isdtype

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


def namespace_for(array: _core.Array, *, api_version: str | None = None) -> ModuleType:
    """Implements Array.__array_namespace__: the module `spanwise`. Raises ArgumentError for an
    unknown version."""
    if api_version is not None and api_version not in _VERSIONS:
        raise _core.ArgumentError(
            f"__array_namespace__: expected a version of the array API standard among "
            f"{', '.join(_VERSIONS)}, got {api_version!r}"
        )
    import spanwise

    return spanwise


def to_device(array: _core.Array, device: Any, /, *, stream: Any = None) -> _core.Array:
    """Implements Array.to_device: `array` on `device`, copied in the order of `stream`, a stream
    of the array's device, of any library."""
    if stream is None:
        return array.to(device)
    with _core.Stream.foreign(stream, array.device):
        return array.to(device)


class _NamespaceInfo:
    """The result of __array_namespace_info__()."""

    def capabilities(self) -> dict[str, Any]:
        """The capabilities that the standard leaves optional."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _core._max_rank,
        }

    def default_device(self) -> _core.device:
        """The device of new arrays for which no device is given."""
        return _core.default_device()

    def devices(self) -> list[_core.device]:
        """All devices of this machine that Spanwise can use, the CPU among them."""
        return _core.devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, _core.dtype]:
        """The dtypes of arrays made from Python numbers, and of indices; equal on all devices."""
        _core.device(device)  # raises for an unknown device
        return {
            "real floating": _core.float64,
            "complex floating": _core.complex128,
            "integral": _core.int64,
            "indexing": _core.int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, _core.dtype]:
        """Name -> dtype for the standard's dtypes of `kind`, a kind of isdtype(), or all. float16
        and bfloat16 are not in the standard."""
        _core.device(device)  # raises for an unknown device
        dtypes = {name: _core.dtype(name) for name in _DTYPES}
        return {name: x for name, x in dtypes.items() if kind is None or isdtype(x, kind)}


def __array_namespace_info__() -> _NamespaceInfo:  # noqa: N807  (the standard's name)
    """The inspection object of the array API standard."""
    return _NamespaceInfo()
