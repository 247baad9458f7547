# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy notation that is recorded as an expression and computed by NumPy, CUDA or CUDAMat.

``W = sym.array(w)`` wraps an array of any library. Operators, methods and NumPy's functions on it
build an expression, whose shape and dtype are known at once. ``asNumpy()``, ``asCUDA()`` and
``asCUDAMat()`` compute it; ``numpy_code()``, ``cuda_code()`` and ``cudamat_code()`` return the
calls that they make. The functions of this module are NumPy's, recorded: ``sym.dot``, ``sym.exp``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

import spanwise as _spanwise

from ._array import SymArray as SymArray, array as array, check as check
from ._gradient import grad as grad
from ._record import ALIASES, FUNCTIONS

__all__ = ["SymArray", "array", "check", "grad"]

if TYPE_CHECKING:  # exp, dot, sum, ...: made by _function()

    def __getattr__(name: str) -> Callable[..., SymArray]: ...


def _function(name: str) -> Callable[..., SymArray]:
    def call(*args: Any, **kwargs: Any) -> SymArray:
        return SymArray.of(name, *args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"numpy.{name}, recorded: a SymArray."
    return update_wrapper(call, getattr(_spanwise, name), (), ())  # for its signature


for _name in (*sorted(FUNCTIONS), *ALIASES):
    globals()[_name] = _function(_name)
    __all__.append(_name)
