# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.linalg against numpy.linalg."""

import numpy as np
import pytest

import spanwise as sw

INF = float("inf")


def assert_close(ours, theirs):
    assert isinstance(ours, sw.Array)
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-4)


def values(shape, dtype, seed=0):
    x = np.random.default_rng(seed).standard_normal(shape) * 5
    return x.astype(dtype) if dtype != "complex64" else (x + 1j * x[::-1]).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
@pytest.mark.parametrize("ord", [None, 0, 1, 2, 3, 0.5, -1, -2, INF, -INF])
def test_vector_norms_match_numpy(device, dtype, ord):
    x = values((4, 5, 6), dtype)
    x[x == 0] = 1
    a = sw.array(x, device=device)
    for axis in (0, 1, -1):
        for keepdims in (False, True):
            theirs = np.linalg.norm(x, ord, axis, keepdims)
            assert_close(sw.linalg.norm(a, ord, axis, keepdims), theirs)
    assert_close(sw.linalg.norm(a[1, :, 2], ord), np.linalg.norm(x[1, :, 2], ord))
    if ord is not None and dtype != "int32":
        for axis in (None, 1, (0, 2)):
            theirs = np.linalg.vector_norm(x, axis=axis, ord=ord, keepdims=True)
            assert_close(sw.linalg.vector_norm(a, axis=axis, ord=ord, keepdims=True), theirs)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int64"])
@pytest.mark.parametrize("ord", [None, "fro", 1, -1, INF, -INF])
def test_matrix_norms_match_numpy(device, dtype, ord):
    x = values((4, 5, 6), dtype)
    a = sw.array(x, device=device)
    for axis in ((0, 1), (1, 0), (-1, 0), (2, 1)):
        for keepdims in (False, True):
            theirs = np.linalg.norm(x, ord, axis, keepdims)
            assert_close(sw.linalg.norm(a, ord, axis, keepdims), theirs)
    assert_close(sw.linalg.norm(a[0].T, ord), np.linalg.norm(x[0].T, ord))
    if ord is not None and dtype != "int64":
        assert_close(sw.linalg.matrix_norm(a, ord=ord), np.linalg.matrix_norm(x, ord=ord))


def test_norm_of_a_whole_array_matches_numpy(device):
    x = values((2, 3, 4), "float64")
    a = sw.array(x, device=device)
    for view in (lambda v: v, lambda v: v[:, ::-2], lambda v: v.T, lambda v: v[:, :0]):
        for keepdims in (False, True):
            theirs = np.linalg.norm(view(x), keepdims=keepdims)
            assert_close(sw.linalg.norm(view(a), keepdims=keepdims), theirs)


def test_invalid_norms_raise(device):
    a = sw.ones((2, 3, 4), device=device)
    for arguments in ((1,), ("fro", 0), ("bad", (0, 1)), (1, (0, 0)), (1, (0, 1, 2))):
        with pytest.raises(ValueError, match="norm"):
            sw.linalg.norm(a, *arguments)
        with pytest.raises(ValueError, match="."):
            np.linalg.norm(np.ones((2, 3, 4)), *arguments)
    with pytest.raises(sw.AxisError):
        sw.linalg.norm(a, 1, (0, 7))
    with pytest.raises(ValueError, match="matrix_norm"):
        sw.linalg.matrix_norm(sw.ones(3, device=device))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("norm", {"ord": "fro", "axis": 0}),
        ("norm", {"axis": (0, 0)}),
        ("norm", {"axis": (0, 3)}),
        ("vector_norm", {"ord": "fro"}),
        ("vector_norm", {"axis": (0, 0)}),
        ("vector_norm", {"axis": 3}),
        ("matrix_norm", {"ord": 7}),
    ],
)
def test_errors_of_norms_name_the_called_function(function, arguments, device):
    with pytest.raises(ValueError, match=f"^{function}: "):
        getattr(sw.linalg, function)(sw.ones((2, 3), device=device), **arguments)


@pytest.mark.parametrize("function", ["norm", "vector_norm"])
def test_norm_of_a_vector_along_an_axis_that_it_lacks_raises(function, device):
    with pytest.raises(sw.AxisError, match=f"^{function}: axis 1 is out of bounds"):
        getattr(sw.linalg, function)(sw.ones(3, device=device), axis=1)


def test_linalg_products_and_diagonals_match_numpy(device):
    x = values((3, 4, 4), "float64")
    a = sw.array(x, device=device)
    for n in (0, 1, 2, 3, 7):
        assert_close(sw.linalg.matrix_power(a, n), np.linalg.matrix_power(x, n))
    assert not sw.may_share_memory(sw.linalg.matrix_power(a, 1), a)
    assert_close(sw.linalg.diagonal(a, offset=1), np.linalg.diagonal(x, offset=1))
    assert_close(sw.linalg.trace(a, offset=-1), np.linalg.trace(x, offset=-1))
    assert_close(sw.linalg.outer(a[0, 0], a[0, 1]), np.linalg.outer(x[0, 0], x[0, 1]))
    assert_close(sw.linalg.matmul(a, a), np.linalg.matmul(x, x))
    with pytest.raises(ValueError, match="square"):
        sw.linalg.matrix_power(a[:, :2], 2)
    with pytest.raises(ValueError, match="vectors"):
        sw.linalg.outer(a, a)
