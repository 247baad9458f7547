# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs against NumPy in every mode. SPANWISE_RANDOM_GRAPHS=10000 is the long form."""

import os

import numpy as np
import pytest
from support.graphs import MODES, RandomGraph

COUNT = int(os.environ.get("SPANWISE_RANDOM_GRAPHS", "60"))


@pytest.mark.parametrize("mode", MODES)
def test_random_graphs_match_numpy(mode, device):
    ran = 0
    with np.errstate(all="ignore"):
        for seed in range(COUNT):
            try:
                ran += RandomGraph(seed, device).check(mode)
            except Exception as error:
                raise AssertionError(f"seed {seed} on {device}, mode {mode}") from error
    assert ran > COUNT // 2, "most graphs must be ones that can run"
