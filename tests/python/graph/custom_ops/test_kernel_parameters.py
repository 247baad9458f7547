# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The declared arrays of kernel ops, as torch_op and jax_op read them."""

import pytest

from spanwise.graph._kernel_op import kernel_parameters


@pytest.mark.parametrize(
    ("declared", "extents"),
    [
        ("x: strided float32[n, 2 * m]", ("n", "2 * m")),
        ("x: strided T[min(n, max(m, 2)), cdiv(n, 4)]", ("min(n, max(m, 2))", "cdiv(n, 4)")),
        ("x: contiguous int32", ()),
    ],
)
def test_extents_with_nested_calls_are_split_at_outer_commas(declared, extents):
    (parameter,) = kernel_parameters({"inputs": [declared]}, "inputs")
    assert (parameter.name, parameter.extents) == ("x", extents)
