# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the array API standard (data-apis.org/array-api/2025.12) for dtypes (astype, finfo,
iinfo, isdtype) and inspection, and its array methods."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .. import _core
from .._core import Array, Variable, _asarray as asarray, dtype

# (mantissa bits without the leading 1, largest exponent of two)
_FLOATS = {"float16": (10, 15), "bfloat16": (7, 127), "float32": (23, 127), "float64": (52, 1023)}
# complex dtype -> the dtype of its parts
_PARTS = {"complex64": "float32", "complex128": "float64"}

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


#: NumPy's other names of dtypes, as on 64-bit Linux.
int_ = intp = long = longlong = _core.int64
uint = uintp = ulong = ulonglong = _core.uint64
byte, short, intc = _core.int8, _core.int16, _core.int32
ubyte, ushort, uintc = _core.uint8, _core.uint16, _core.uint32
half, single, double = _core.float16, _core.float32, _core.float64
csingle, cdouble = _core.complex64, _core.complex128


class _Limits:
    """Base of finfo and iinfo: repr, == and hash by the public attributes."""

    bits: int
    dtype: dtype

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__}({fields})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.dtype))


class finfo(_Limits):  # noqa: N801  (NumPy's name)
    """The limits of a floating dtype, or of the parts of a complex one, as Python numbers. Raises
    ArgumentError for other dtypes."""

    def __init__(self, type: Any, /) -> None:
        dtype = _dtype_from(type)
        name = _PARTS.get(dtype.name, dtype.name)
        if name not in _FLOATS:
            raise _core.ArgumentError(
                f"finfo: expected a floating or complex dtype, got {dtype}; integers have iinfo"
            )
        digits, exponent = _FLOATS[name]
        self.bits = _core.dtype(name).bits
        self.eps = 2.0**-digits
        self.max = (2.0 - self.eps) * 2.0**exponent
        self.min = -self.max
        self.smallest_normal = 2.0 ** (1 - exponent)
        self.smallest_subnormal = 2.0 ** (1 - exponent - digits)
        self.dtype = _core.dtype(name)

    @property
    def tiny(self) -> float:
        """NumPy's older name of smallest_normal."""
        return self.smallest_normal


class iinfo(_Limits):  # noqa: N801  (NumPy's name)
    """The limits of an integer dtype, as Python integers. Raises ArgumentError for other dtypes."""

    def __init__(self, type: Any, /) -> None:
        dtype = _dtype_from(type)
        if dtype.kind not in "iu":
            raise _core.ArgumentError(
                f"iinfo: expected an integer dtype, got {dtype}; floating dtypes have finfo"
            )
        self.bits = dtype.bits
        self.min = -(2 ** (dtype.bits - 1)) if dtype.kind == "i" else 0
        self.max = 2 ** (dtype.bits - (dtype.kind == "i")) - 1
        self.dtype = dtype


def _dtype_from(type: Any) -> dtype:
    """The dtype of a Python number, else that which `type` names."""
    if isinstance(type, bool | int | float | complex):
        return asarray(type).dtype
    return _core.dtype(type)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether `dtype` is of a kind: a dtype, "bool", "signed integer", "unsigned integer",
    "integral", "real floating", "complex floating", "numeric", or a tuple of these. Raises
    ArgumentError for another string."""
    x = _core.dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(x, member) for member in kind)
    if not isinstance(kind, str):
        return x == _core.dtype(kind)
    if kind not in _KINDS:
        raise _core.ArgumentError(
            f"isdtype: expected a dtype or one of {', '.join(map(repr, _KINDS))}, got {kind!r}"
        )
    letter = "f" if x.name in _FLOATS else x.kind  # the kind of bfloat16 is "V"
    return x.is_computable and letter in _KINDS[kind]


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """`x` cast to `dtype` and copied to `device`, if given; with copy=False `x` itself where
    neither changes it. A variable of a graph for a variable."""
    if isinstance(x, Variable):
        return (x if device is None else x.transfer(device)).astype(dtype)
    return asarray(x).astype(dtype, copy=copy, device=device)


# ---- NumPy's name of the class ----


class _Ndarray(type):
    """All arrays are instances of `ndarray`, which is equal to the class Array."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Array)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, Array)

    def __eq__(cls, other: object) -> bool:
        return cls is other or other is Array

    def __hash__(cls) -> int:
        return hash(Array)


class ndarray(Array, metaclass=_Ndarray):  # type: ignore[misc]  # noqa: N801  (NumPy's name)
    """NumPy's name of Array, for isinstance() and annotations. A call of it makes an uninitialised
    array, or one over `buffer`, as numpy.ndarray; asarray() converts."""

    def __new__(  # type: ignore[misc]
        cls,
        shape: Any,
        dtype: Any = "float64",
        buffer: Any = None,
        offset: int = 0,
        strides: Any = None,
        order: str | None = None,
        *,
        device: Any = None,
    ) -> Array:
        if buffer is None and strides is None:
            return _core.empty(shape, dtype, order or "C", device=device)
        import numpy as np

        numpys = _core.dtype(dtype).dtype
        return asarray(np.ndarray(shape, numpys, buffer, offset, strides, order), device=device)

    def __init_subclass__(cls) -> None:
        raise TypeError("ndarray: cannot be a base class; derive from spanwise.Array")


def asanyarray(
    a: Any, dtype: Any = None, order: str | None = None, *, device: Any = None, copy: Any = None
) -> Array:
    """As asarray(), which keeps subclasses of Array."""
    return _core.asarray(a, dtype, order=order, device=device, copy=copy)  # type: ignore[no-any-return]


# ---- Inspection and array methods ----

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
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

    def devices(self) -> tuple[_core.device, ...]:
        """All devices of this machine that Spanwise can use, the CPU among them."""
        return tuple(_core.devices())

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
