# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A part of fuzz.block_loops: the same kernels in each run."""

import pytest

import spanwise as sw
from fuzz.block_loops import PER_MODULE, compare


@pytest.mark.parametrize("first", [0, PER_MODULE])
def test_kernels_split_into_loops_and_on_fibers_give_the_same(first):
    gpus = [str(device) for device in sw.devices() if device.kind == "cuda"][:1]
    assert compare(2026, range(first, first + PER_MODULE), gpus) == []
