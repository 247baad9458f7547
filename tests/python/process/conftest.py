# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of tests of two GPUs."""

import pytest

import spanwise as sw


@pytest.fixture(scope="module")
def pair():
    """Two GPUs; the tests are skipped where there are not two."""
    gpus = [device for device in sw.devices() if device.kind == "cuda"]
    if len(gpus) < 2:
        pytest.skip(f"needs two GPUs, and there {'is' if len(gpus) == 1 else 'are'} {len(gpus)}")
    return gpus[0], gpus[1]


@pytest.fixture(params=[(0, 1), (1, 0)], ids=["from 0 to 1", "from 1 to 0"])
def way(request, pair):
    """The source and the target of a transfer: either direction."""
    return tuple(pair[i] for i in request.param)
