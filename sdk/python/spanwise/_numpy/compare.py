# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of arrays: NumPy's array_equal, isclose and allclose."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Array, _asarray as asarray
from .operands import as_arrays


def _on_one_device(a: Any, b: Any) -> tuple[Array, Array]:
    """Both as arrays on one device, a GPU if one of them is on it. The other is copied, which is
    acceptable since the callers return host values."""
    x, y = as_arrays(a, b)
    if x.device == y.device:
        return x, y
    return (x, y.to(x.device)) if y.device.kind == "cpu" else (x.to(y.device), y)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and all elements are equal. The arrays may be on different devices; waits for
    the result."""
    first, second = _on_one_device(a1, a2)
    if first.shape != second.shape:
        return False
    same = _core.equal(first, second)
    if equal_nan:
        same = same | (_core.not_equal(first, first) & _core.not_equal(second, second))
    return bool(same.all())


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Elementwise |a - b| <= atol + rtol * |b|, as numpy.isclose, as a bool array. An infinity is
    close only to an equal one.

    Python numbers take the dtype of the other operand.
    """
    x, y = _number_or_array(a), _number_or_array(b)
    if isinstance(y, Array):  # as floats: abs() of the least integer overflows
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
    """Whether isclose() holds for all elements. The arrays may be on different devices; waits for
    the result."""
    if not isinstance(a, (int, float, complex)) and not isinstance(b, (int, float, complex)):
        a, b = _on_one_device(a, b)
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def contains(array: Array, key: Any) -> bool:
    """Whether any element of `array` equals `key`; waits for the result."""
    same = array == key  # unlike equal(), `==` does not raise for a `key` that is no array
    return bool(same.any()) if isinstance(same, Array) else False
