# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Cases for the kernels in src/ of github.com/pjreddie/darknet."""

from oracle_darknet_blas import batches, elementwise, with_steps
from oracle_darknet_layers import activations, layers
from oracle_darknet_rearranged import rearranged

REPOSITORY = "pjreddie/darknet"
INCLUDE_DIRS = ("include", "src")


def cases():
    for family in (with_steps, elementwise, batches, rearranged, layers, activations):
        yield from family()
