# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""arange and linspace of arguments that `_core` does not handle (arrays, NumPy scalars, some
dtypes): computed by NumPy on the host, which is imported by the first call."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False  # stands in for typing.TYPE_CHECKING: importing typing takes too long
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
    """Evenly spaced values: arange([start,] stop[, step]), as numpy.arange; on `device`, by default
    the device of the first array among the arguments, else the default device."""
    wanted = None if dtype is None else _core.dtype(dtype)
    import numpy as np

    target = _device_for(device, start, stop, step)
    start, stop, step = map(on_host, (start, stop, step))
    values = np.arange(start, stop, step, dtype=_dtype_of_values(wanted))
    return _core.array(values, wanted, device=target)


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
    """`num` values from `start` to `stop`, as numpy.linspace; on `device`, by default the device of
    the first array among the arguments, else the default device. (values, step) with `retstep`."""
    import numpy as np

    target = _device_for(device, start, stop)
    wanted = None if dtype is None else _core.dtype(dtype)
    values, step = np.linspace(
        on_host(start),
        on_host(stop),
        num,
        endpoint,
        retstep=True,
        dtype=_dtype_of_values(wanted),
        axis=axis,
    )
    made = _core.array(values, wanted, device=target)
    return (made, step) if retstep else made


def _dtype_of_values(wanted: _core.dtype | None) -> Any:
    # bfloat16 is computed in float64 and rounded by the caller: NumPy has no such dtype.
    if wanted is None or wanted == _core.bfloat16:
        return None
    return wanted.dtype


def on_host(x: Any) -> Any:
    """`x` as a NumPy array if it is an Array, for which NumPy would call __array_function__."""
    if not isinstance(x, _core.Array):
        return x
    return (x.astype("float64") if x.dtype == _core.bfloat16 else x).numpy()


def _device_for(device: Any, *values: Any) -> _core.device:
    if device is None:
        for value in values:
            if isinstance(value, _core.Array):
                return value.device
    return _core.device(device)
