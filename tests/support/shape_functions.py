# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws and arrays for tests of functions that reshape, join and pad."""

from hypothesis import strategies as st

import spanwise as sw

SEEDS = st.integers(0, 2**32)


def on(device, values):
    return sw.array(values, device=device)


def axis(a):
    """A strategy for an axis of the array."""
    return st.integers(-a.ndim, a.ndim - 1)
