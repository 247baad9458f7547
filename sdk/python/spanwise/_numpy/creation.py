# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""arange and linspace of arguments that `_core` does not handle (arrays, NumPy scalars, some
dtypes): computed by NumPy on the host. The first call imports NumPy."""

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
    dtype = None if dtype is None else _core.dtype(dtype)
    import numpy as np

    device = _device_for(device, start, stop, step)
    start, stop, step = map(as_ndarray, (start, stop, step))
    values = np.arange(start, stop, step, dtype=_numpy_dtype(dtype))
    return _core.array(values, dtype, device=device)


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

    device = _device_for(device, start, stop)
    dtype = None if dtype is None else _core.dtype(dtype)
    values, step = np.linspace(
        as_ndarray(start),
        as_ndarray(stop),
        num,
        endpoint,
        retstep=True,
        dtype=_numpy_dtype(dtype),
        axis=axis,
    )
    result = _core.array(values, dtype, device=device)
    return (result, step) if retstep else result


def _numpy_dtype(dtype: _core.dtype | None) -> Any:
    # NumPy has no bfloat16: it computes in float64, its default, and the caller rounds.
    return None if dtype is None or dtype == _core.bfloat16 else dtype.dtype


def as_ndarray(x: Any) -> Any:
    """An Array as a NumPy array, since NumPy would call its __array_function__; `x` itself if it is
    no Array. Raises for a quantity with a unit, which NumPy would compute with, and for a variable,
    which has no value."""
    if _core._overrides_ufuncs(x):
        x = _core._operand(x)
    if isinstance(x, _core.Variable):
        raise TypeError(
            f"expected numbers or arrays, got the variable {x} of {x.type}, which has no value yet; write "
            "start + step * spanwise.tensor.arange(n)"
        )
    if not isinstance(x, _core.Array):
        return x
    return (x.astype("float64") if x.dtype == _core.bfloat16 else x).numpy()


def _device_for(device: Any, *values: Any) -> _core.device:
    if device is None:
        device = next((x.device for x in values if isinstance(x, _core.Array)), None)
    return _core.device(device)
