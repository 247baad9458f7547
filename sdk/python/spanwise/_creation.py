# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges. But for those of whole numbers NumPy computes the values on the host; it is imported only
when one is asked for."""

from __future__ import annotations

from . import _core

TYPE_CHECKING = False  # as in __init__.py
if TYPE_CHECKING:
    from typing import Any

_MOST = 1 << 62  # that sums of two fit in 64 bits


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
    if (integers := _integers(start, stop, step, wanted)) is not None:
        return _core._range(*integers, device)
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


def _integers(start: Any, stop: Any, step: Any, wanted: Any) -> tuple[int, int, int] | None:
    """Start, step and count of a range of int64; None where NumPy has to say what it is."""
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    if not (type(start) is type(stop) is type(step) is int) or step == 0:
        return None
    if wanted is not None and wanted != _core.int64:
        return None
    if not (-_MOST < start < _MOST and -_MOST < stop < _MOST and -_MOST < step < _MOST):
        return None
    return start, step, len(range(start, stop, step))


def _dtype_of_values(wanted: _core.dtype | None) -> Any:
    # bfloat16 is rounded from float64 by us: NumPy computes ranges in its own types only.
    if wanted is None or wanted == _core.bfloat16:
        return None
    return wanted.dtype


def _moved(values: Any, dtype: _core.dtype | None, device: Any) -> _core.Array:
    return _core.array(values, dtype, device=_core.device(device))
