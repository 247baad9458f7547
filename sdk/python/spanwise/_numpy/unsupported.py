# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy and the array API standard that are not implemented: they raise
NotSupportedError."""

from __future__ import annotations

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


def unique_all(x: Any, /) -> NoReturn:
    """Not implemented: raises NotSupportedError."""
    _refuse("unique_all", x, "numpy.unique_all(a.numpy()).values")


def unique_counts(x: Any, /) -> NoReturn:
    """Not implemented: raises NotSupportedError."""
    _refuse("unique_counts", x, "numpy.unique_counts(a.numpy()).values")


def unique_inverse(x: Any, /) -> NoReturn:
    """Not implemented: raises NotSupportedError."""
    _refuse("unique_inverse", x, "numpy.unique_inverse(a.numpy()).values")


def unique_values(x: Any, /) -> NoReturn:
    """Not implemented: raises NotSupportedError."""
    _refuse("unique_values", x, "numpy.unique_values(a.numpy())")
