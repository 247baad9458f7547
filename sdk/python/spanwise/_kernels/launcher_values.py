# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of host launchers: checks of their declared types, and the conversion of arguments to
C values of these types."""

from __future__ import annotations

import ctypes
import mmap
from difflib import get_close_matches
from typing import Any

from .. import _core

_INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
#: Types that an error suggests for a misspelt one.
_SUGGESTED_TYPES = [
    *("bool", "char", "short", "int", "long", "float", "double", "half", "size_t"),
    *(f"{name}_t" for name in _INTEGERS),
    *("float2", "float3", "float4", "double2", "int2", "int3", "int4"),
]
_QUALIFIERS = ("const", "volatile", "restrict", "__restrict__", "__restrict")


def check_pointer_type(name: str, position: int, declared: str) -> None:
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


def has_device_code(path: str) -> bool:
    """Whether the shared library `path` was built by nvcc: it has the section of device code."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.rfind(b"\0.nv_fatbin\0") >= 0
    except (OSError, ValueError):
        return False  # a name that only the dynamic loader resolves


#: dtype -> the ctypes type of a number.
C_TYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    **{name: getattr(ctypes, f"c_{name}") for name in _INTEGERS},
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def declaration_of(parameter: _core.KernelParameter) -> str:
    return f"{parameter.type} {parameter.name}".strip()


def pointer_value(label: str, parameter: _core.KernelParameter, value: Any) -> Any:
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


def number_value(label: str, parameter: _core.KernelParameter, value: Any) -> Any:
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
        fits = isinstance(number, int) and C_TYPES[dtype.name](number).value == number
    if not fits:
        raise _core.KernelArgumentError(
            f"{label}: expected a number that {dtype.name} holds, got {value!r} of type {type(value).__name__}"
        )
    return number


def c_value(parameter: _core.KernelParameter, value: Any) -> Any:
    """The ctypes object for a result of pointer_value() or number_value()."""
    if parameter.is_pointer:
        return ctypes.c_void_p(value.ptr if isinstance(value, _core.Array) else value)
    assert parameter.dtype is not None
    return C_TYPES[parameter.dtype.name](value)
