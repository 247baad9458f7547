# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.basic``: the names of theano.tensor, and classes of ops."""

from typing import Any

import numpy as np

from spanwise.tensor import *  # noqa: F403

from .._op_kinds import Alloc as Alloc, Dot as Dot, Join as Join, Reshape as Reshape
from .extra import alloc as alloc, fill as fill, ones as ones, zeros as zeros


def _allclose(a: Any, b: Any, rtol: float | None = None, atol: float | None = None) -> bool:
    """numpy.allclose(); the tolerances are larger if an array is float32 or float16."""
    a, b = np.asarray(a), np.asarray(b)
    if "float16" in (a.dtype, b.dtype):
        tolerances = 5e-3, 5e-3
    elif "float32" in (a.dtype, b.dtype):
        tolerances = 1e-5, 1e-5
    else:
        tolerances = 1e-5, 1e-8
    rtol = tolerances[0] if rtol is None else rtol
    return bool(np.allclose(a, b, rtol, tolerances[1] if atol is None else atol))
