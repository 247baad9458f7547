# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of addons whose arrays are on the default device."""

import pytest

import spanwise as sw


@pytest.fixture
def default_device(device):
    """Makes `device` the default device of the test."""
    with sw.device(device):
        yield
