# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of tests of two GPUs."""

import pytest


@pytest.fixture(params=[(0, 1), (1, 0)], ids=["from 0 to 1", "from 1 to 0"])
def direction(request, two_gpus):
    """The source and the target of a transfer: either direction."""
    return tuple(two_gpus[i] for i in request.param)
