# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs against NumPy in every mode. SPANWISE_RANDOM_GRAPHS is their number."""

import os

import numpy as np
import pytest
from support.changing_graphs import ChangingGraph
from support.graphs import MODES, RandomGraph

COUNT = int(os.environ.get("SPANWISE_RANDOM_GRAPHS", "60"))


@pytest.mark.parametrize("mode", MODES)
def test_random_graphs_match_numpy(mode, device):
    valid_graphs = 0
    with np.errstate(all="ignore"):
        for seed in range(COUNT):
            try:
                valid_graphs += RandomGraph(seed, device).check(mode)
            except Exception as error:
                raise AssertionError(f"seed {seed} on {device}, mode {mode}") from error
    assert valid_graphs > COUNT // 2, "most graphs must have a result"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(12))
def test_calls_with_changing_shapes_match_numpy(seed, mode, device):
    """Values, updates and gradients; tests/fuzz/graphs.py --changing runs many more."""
    with np.errstate(all="ignore"):
        ChangingGraph(seed, device).check(mode)
