# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of a graph of variables with the same operations on arrays."""

import numpy as np

import spanwise as sw

T = sw.tensor


def like(values, name=None):
    """A variable of the dtype and rank of `values`, of any extents."""
    return T.tensor(str(values.dtype), (None,) * values.ndim, name)


def check(expression, *values, device, exact=True, mode=None, oracle=None):
    """Checks that a function that computes `expression` of variables equals, in two calls, `oracle` (by
    default `expression`) of the same values in NumPy."""
    variables = [like(v) for v in values]
    result = expression(*variables)
    f = sw.function(variables, result, device=device, mode=mode, on_unused_input="ignore")
    for _ in range(2):
        ours = f(*values)
        expected = np.asarray((oracle or expression)(*values))
        assert result.ndim == expected.ndim and result.type.dtype == ours.dtype
        assert ours.dtype == expected.dtype and ours.shape == expected.shape
        compare = np.testing.assert_array_equal if exact else np.testing.assert_allclose
        compare(ours.numpy(), expected, **({} if exact else {"rtol": 1e-6}))
        if ours.flags.writeable:
            ours[...] = 0  # must not change the result of the next call
