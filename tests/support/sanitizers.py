# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests whose expectation does not hold with the package of the preset asan-python."""

import os

import pytest


def skip_under_asan(reason):
    """A mark; scripts/asan_python.py sets ASAN_OPTIONS."""
    return pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason=f"under ASan: {reason}")
