# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""numpy.typing's names for annotations: ``a: sw.typing.NDArray[np.float32]``."""

from typing import Any, TypeAlias

from . import _core

__all__ = ["ArrayLike", "DTypeLike", "NDArray"]

#: What asarray() takes: an array of any library, a number, or nested sequences of them.
ArrayLike: TypeAlias = Any
#: What dtype() takes: a dtype of Spanwise or NumPy, a name, or a type.
DTypeLike: TypeAlias = Any
#: Array, by the scalar type of its elements.
NDArray = _core.Array
