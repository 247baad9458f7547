# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random calls of functions that reshape, join and pad."""

from hypothesis import strategies as st

import spanwise as sw

SEEDS = st.integers(0, 2**32)


def on(device, values):
    return sw.array(values, device=device)


def axis(a):
    return st.integers(-a.ndim, a.ndim - 1)
