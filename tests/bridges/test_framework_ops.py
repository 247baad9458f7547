# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of sw.torch_op and sw.jax_op where their library is not installed."""

import sys

import pytest
from bridges.framework_ops import cube

import spanwise as sw


@pytest.mark.parametrize(
    ("name", "library", "remedy"),
    [
        ("torch_op", "torch", "PyTorch.*pip install torch"),
        ("jax_op", "jax", "JAX.*pip install jax"),
    ],
)
def test_missing_library_is_named(monkeypatch, name, library, remedy):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f"{name}: expected {remedy}"):
        getattr(sw, name)(cube())
