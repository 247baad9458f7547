# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""min, max, argmin and argmax: NaN and equal values."""

import numpy as np
import pytest
from support.arrays import assert_same, numbers
from support.reductions import oracle, relative_tolerance

import spanwise as sw

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [5, 5000, 200_000])
def test_nan_is_the_extremum_and_is_skipped_by_nan_functions(device, dtype, size):
    values = numbers((size,), dtype, 9)
    for nan_indices in ([], [size // 2], [size - 1, 3]):
        theirs = values.copy()
        theirs[nan_indices] = complex(7, np.nan) if dtype.startswith("c") else np.nan
        for view in (lambda a: a, lambda a: a.reshape(5, -1).T, lambda a: a[::-2]):
            ours, oracle_view = view(sw.array(theirs, device=device)), view(theirs)
            for name in ("min", "max", "ptp", "argmin", "argmax", "nansum", "sum"):
                for axis in (None, 0):
                    result = getattr(sw, name)(ours, axis)
                    exact = getattr(np, name)(oracle_view, axis)
                    if name in ("sum", "nansum"):
                        tolerance = relative_tolerance(dtype)
                        exact = oracle(name, oracle_view, axis=axis)
                        np.testing.assert_allclose(result.numpy(), exact, rtol=tolerance)
                    else:
                        assert_same(result, np.asarray(exact))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "complex64"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmin_and_argmax_give_the_first_of_equal_values(device, name, dtype):
    values = (numbers((3, 70_003), "float64", 5) % 7).astype(dtype)
    ours = sw.array(values, device=device)
    for view in (lambda a: a, lambda a: a[:, 5:], lambda a: a[1], lambda a: a[:, ::-1]):
        expected = getattr(np, name)(view(values), axis=-1)
        np.testing.assert_array_equal(getattr(sw, name)(view(ours), axis=-1).numpy(), expected)
    if np.dtype(dtype).kind == "f":
        values[1, [0, 333, 70_002]] = np.nan
        values[2, 70_002] = np.nan
        indices = getattr(sw, name)(sw.array(values, device=device), axis=1)
        np.testing.assert_array_equal(indices.numpy(), [getattr(np, name)(values[0]), 0, 70_002])


@pytest.mark.parametrize("width", [1, 7, 8, 9, 64, 71, 512, 513, 5000])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmax_and_argmin_of_bool_rows_give_the_first(name, width, device):
    random = np.random.default_rng(width)
    for share in (0, 0.01, 0.5, 0.99, 1):
        x = random.random((40, width)) < share
        expected = getattr(x, name)(axis=1)
        for values in (x, (x.view("uint8") * 6).view("bool")):  # any byte but 0 is true
            ours = sw.asarray(values, device=device)
            np.testing.assert_array_equal(getattr(ours, name)(axis=1).numpy(), expected)
            backwards = getattr(x[:, ::-1], name)(axis=1)
            np.testing.assert_array_equal(getattr(ours[:, ::-1], name)(axis=1).numpy(), backwards)
