# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.subtensor``: classes of ops, which scripts test for and profiles print."""

from .._ops import (
    AdvancedIncSubtensor as AdvancedIncSubtensor,
    AdvancedIncSubtensor1 as AdvancedIncSubtensor1,
    AdvancedSubtensor as AdvancedSubtensor,
    AdvancedSubtensor1 as AdvancedSubtensor1,
    IncSubtensor as IncSubtensor,
    Subtensor as Subtensor,
)
