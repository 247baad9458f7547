# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The ufuncs, and hypothesis, for tests of elementwise operations, which need it."""

import numpy as np
import pytest

import spanwise as sw

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

#: The names of the ufuncs that NumPy has too.
UFUNCS = sorted(n for n in dir(sw) if isinstance(getattr(sw, n), sw.ufunc) and hasattr(np, n))


def on_gpu(device):
    return device != sw.device("cpu")
