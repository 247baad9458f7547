# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the values of an expression that its targets compute."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from .. import _core
from ._array import SymArray

_TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}


def check(x: SymArray, tolerance: float | None = None, device: Any = None) -> dict[str, float]:
    """The largest difference of each target from NumPy: ``{"cuda": 1e-16, "cudamat": ...}``,
    relative to the largest element of NumPy's result where that exceeds 1.

    CUDAMat is a target where it can be imported and has the operations, the dtype and the shapes.
    Raises AssertionError for a difference above `tolerance` (by default 1e-4 for float32, 1e-2 for
    float16, 1e-9 for float64, 0 for integers and bool), for NaN or infinity at other places, and
    for another dtype or shape.
    """
    expected = x.asNumpy()
    if tolerance is None:
        is_exact = expected.dtype.kind in "biu"
        tolerance = 0.0 if is_exact else _TOLERANCES.get(expected.dtype.name, 1e-9)
    got = {"cuda": _core.to_numpy(x.asCUDA(device), copyif=True)}
    if (matrix := _cudamat_value(x)) is not None:
        got["cudamat"] = matrix.astype(expected.dtype)  # a mask comes as 0 and 1
    for target, value in got.items():
        if value.shape != expected.shape or value.dtype != expected.dtype:
            raise AssertionError(
                f"{x!r}: NumPy gives {expected.dtype} {expected.shape}, {target} gives "
                f"{value.dtype} {value.shape}"
            )
    differences = {target: _difference(value, expected) for target, value in got.items()}
    for target, difference in differences.items():
        if not difference <= tolerance:
            raise AssertionError(
                f"{x!r}: {target} differs from NumPy by {difference:g}; expected at most {tolerance:g}"
            )
    return differences


def _cudamat_value(x: SymArray) -> np.ndarray[Any, Any] | None:
    """CUDAMat's result; None where it is not installed or lacks an operation."""
    try:
        x.cudamat_code()
        if importlib.util.find_spec("cudamat") is None:
            return None
    except (_core.NotSupportedError, ValueError):  # ValueError: a module without __spec__
        return None
    return np.array(x.asCUDAMat().asarray())


def _difference(got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> float:
    with np.errstate(all="ignore"):
        wide = "complex128" if expected.dtype.kind == "c" else "float64"
        a, b = got.astype(wide), expected.astype(wide)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if same.all():
            return 0.0
        scale = max(1.0, float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)))
        return float(np.nan_to_num(np.abs(a - b)[~same], nan=np.inf).max()) / scale
