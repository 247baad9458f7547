# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges that NumPy computes on the host: of arrays, of numbers other than Python's own, of dtypes
that the compiled half leaves to it. NumPy is imported only when one is asked for."""

from __future__ import annotations

from . import _core

TYPE_CHECKING = False  # as in __init__.py
if TYPE_CHECKING:
    from typing import Any


def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
) -> _core.Array:
    """Evenly spaced values: arange([start,] stop[, step]), as numpy.arange."""
    wanted = None if dtype is None else _core.dtype(dtype)
    import numpy as np

    values = np.arange(start, stop, step, dtype=_dtype_of_values(wanted))
    return _moved(values, wanted, device)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` values from `start` to `stop`, as numpy.linspace; (values, step) with `retstep`."""
    import numpy as np

    wanted = None if dtype is None else _core.dtype(dtype)
    values, step = np.linspace(
        start, stop, num, endpoint, retstep=True, dtype=_dtype_of_values(wanted), axis=axis
    )
    made = _moved(values, wanted, device)
    return (made, step) if retstep else made


def _dtype_of_values(wanted: _core.dtype | None) -> Any:
    # bfloat16 is rounded from float64 by us: NumPy computes ranges in its own types only.
    if wanted is None or wanted == _core.bfloat16:
        return None
    return wanted.dtype


def _moved(values: Any, dtype: _core.dtype | None, device: Any) -> _core.Array:
    return _core.array(values, dtype, device=_core.device(device))
