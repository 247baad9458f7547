# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges. NumPy computes the values on the host, and is imported only when one is asked for."""

from . import _core


def arange(*args, dtype=None, device=None):
    """Evenly spaced values: arange([start,] stop[, step]), as numpy.arange."""
    import numpy as np

    wanted = None if dtype is None else _core.dtype(dtype)
    values = np.arange(*args, dtype=_numpy_dtype(wanted))
    return _moved(values, wanted, device)


def linspace(
    start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None
):
    """`num` values from `start` to `stop`, as numpy.linspace."""
    import numpy as np

    wanted = None if dtype is None else _core.dtype(dtype)
    values, step = np.linspace(
        start, stop, num, endpoint, True, dtype=_numpy_dtype(wanted), axis=axis
    )
    made = _moved(values, wanted, device)
    return (made, step) if retstep else made


def _numpy_dtype(wanted):
    # bfloat16 is rounded from float64 by us: NumPy computes ranges in its own types only.
    if wanted is None or wanted == _core.bfloat16:
        return None
    return wanted.dtype


def _moved(values, dtype, device):
    return _core.array(values, dtype, device=_core.device(device))
