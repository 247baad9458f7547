# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of random graphs against finite differences; tests/fuzz/graphs.py --gradients runs many more."""

import pytest
from support.gradient_graphs import MODES, RandomCost


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(40))
def test_gradients_of_a_random_graph_match_finite_differences(seed, mode, device):
    RandomCost(seed, device).check(mode)
