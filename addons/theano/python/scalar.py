# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.scalar``: types of scalars, by dtype."""

from __future__ import annotations

from typing import Any

import spanwise as sw
from spanwise.graph import TensorType

from ._old_paths import submodules as _submodules

__all__ = ["Scalar", "float32", "float64", "int32", "int64", "upcast"]

__path__: list[str] = []  # a package in Theano
__getattr__ = _submodules("scalar")


def Scalar(dtype: Any) -> TensorType:  # noqa: N802
    """The type of a variable of rank 0."""
    return TensorType(dtype, ())


float32, float64, int32, int64 = map(Scalar, ("float32", "float64", "int32", "int64"))


def upcast(*dtypes: Any) -> str:
    """The dtype to which `dtypes` are promoted, by NumPy's rules."""
    return str(sw.result_type(*dtypes))
