# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""finfo, iinfo, isdtype and astype."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Variable, _asarray as asarray, dtype

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
