# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operations and random operands for the tests of elementwise operations."""

import numpy as np
import pytest

import spanwise as sw

hypothesis = pytest.importorskip("hypothesis")


st = hypothesis.strategies


UFUNCS = sorted(n for n in dir(sw) if isinstance(getattr(sw, n), sw.ufunc) and hasattr(np, n))


def on_gpu(device):
    return device != sw.device("cpu")
