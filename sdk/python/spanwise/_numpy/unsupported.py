# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy and the array API standard that are not implemented: they raise
NotSupportedError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .. import _core

#: Extensions of the standard that are not implemented -> message of the AttributeError.
EXTENSIONS = {
    "fft": "spanwise.fft: the array API's fft extension is not supported yet; use the host: "
    "numpy.fft.<function>(a.numpy())"
}


def _refuse(name: str, x: Any, on_host: str) -> NoReturn:
    array = _core._asarray(x)
    raise _core.NotSupportedError(
        f"{name}: not supported yet for Spanwise arrays, got {array.dtype} of shape {array.shape} on "
        f"{array.device.name}; use the host: sw.asarray({on_host})"
    )


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> NoReturn:
    """Not implemented: raises NotSupportedError."""
    _refuse("sort", x, "numpy.sort(a.numpy())")


def argsort(
    x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> NoReturn:
    """Not implemented: raises NotSupportedError."""
    _refuse("argsort", x, "numpy.argsort(a.numpy())")


def _unique(name: str, result: str) -> Callable[[Any], NoReturn]:
    def refuse(x: Any, /) -> NoReturn:
        """Not implemented: raises NotSupportedError."""
        _refuse(name, x, f"numpy.{name}(a.numpy()){result}")

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


unique_all = _unique("unique_all", ".values")
unique_counts = _unique("unique_counts", ".values")
unique_inverse = _unique("unique_inverse", ".values")
unique_values = _unique("unique_values", "")
