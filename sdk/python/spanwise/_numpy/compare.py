# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole arrays compared: NumPy's array_equal, isclose and allclose."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray
from .operands import as_arrays


def _together(a: Any, b: Any) -> tuple[Array, Array]:
    """Both on one device, the GPU if either is: the answer is the host's, so a copy is no surprise."""
    x, y = as_arrays(a, b)
    if x.device == y.device:
        return x, y
    return (x, y.to(x.device)) if y.device.kind == "cpu" else (x.to(y.device), y)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and all elements are the same, wherever the arrays are; waits for the device."""
    first, second = _together(a1, a2)
    if first.shape != second.shape:
        return False
    same = _core.equal(first, second)
    if equal_nan:
        same = same | (_core.not_equal(first, first) & _core.not_equal(second, second))
    return bool(same.all())


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Of each pair whether |a - b| <= atol + rtol |b|; infinities are close to themselves only.

    Python numbers take the dtype of the array beside them.
    """
    x, y = _number_or_array(a), _number_or_array(b)
    if isinstance(y, Array):  # the magnitude of the least integer is none
        y = y.astype(_core.result_type(y, 1.0), copy=False)
    elif isinstance(y, int):
        y = float(y)
    within = _core.less_equal(_core.absolute(_core.subtract(x, y)), abs(y) * rtol + atol)
    close = (within & _core.isfinite(y)) | _core.equal(x, y)
    if equal_nan:
        close = close | (_core.not_equal(x, x) & _core.not_equal(y, y))
    return close  # type: ignore[no-any-return]


def _number_or_array(x: Any) -> Any:
    return x if isinstance(x, (int, float, complex)) else asarray(x)


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Whether isclose() of all pairs, wherever the arrays are; waits for the device."""
    if not isinstance(a, (int, float, complex)) and not isinstance(b, (int, float, complex)):
        a, b = _together(a, b)
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def contains(array: Array, key: Any) -> bool:
    """Whether any element of `array` equals `key`; waits for the device."""
    same = array == key  # not equal(): what is no array equals no element
    return bool(same.any()) if isinstance(same, Array) else False
