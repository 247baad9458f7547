# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""einsum, diagonal, sort and argsort of variables, against NumPy."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor
RNG = np.random.default_rng(0)

CASES = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij->ji": [(2, 3)],
    "ij->": [(2, 3)],
    "ij->j": [(2, 3)],
    "ij,jk,kl->il": [(2, 3), (3, 4), (4, 5)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "iij->j": [(3, 3, 2)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)],
    "i,j->ij": [(2,), (3,)],
    "i,i": [(4,), (4,)],
    "...ij,...j->...i": [(5, 2, 3), (5, 3)],
    "ij,ij->i": [(2, 3), (2, 3)],
    "abc,cd,b->da": [(2, 3, 4), (4, 5), (3,)],
    "ijk,jil->kl": [(3, 4, 5), (4, 3, 2)],
}


@pytest.mark.parametrize("is_static", [True, False])
@pytest.mark.parametrize("subscripts", CASES)
def test_einsum_equals_numpy(subscripts, is_static, device):
    values = [RNG.normal(size=shape) for shape in CASES[subscripts]]
    shapes = [v.shape if is_static else (None,) * v.ndim for v in values]
    inputs = [T.tensor("float64", shape) for shape in shapes]
    f = sw.function(inputs, T.einsum(subscripts, *inputs), device=device)
    np.testing.assert_allclose(f(*values).numpy(), np.einsum(subscripts, *values), rtol=1e-12)
    sw.gradient.verify_grad(lambda *xs: T.einsum(subscripts, *xs), values, n_tests=1, device=device)


def test_einsum_takes_lists_of_labels_constants_and_mixed_dtypes(device):
    a, b = RNG.integers(0, 5, (2, 3)), RNG.normal(size=(3,)).astype("float32")
    x = T.lmatrix("x")
    output = T.einsum(x, [0, 1], b, [1], [0])
    assert output.dtype == "float64"
    got = sw.function([x], output, device=device)(a).numpy()
    np.testing.assert_allclose(got, np.einsum(a, [0, 1], b, [1], [0]))
    y = T.tensor("bool", (2, None))
    got = sw.function([y], T.einsum("ij->i", y), device=device)([[True, True], [False, False]])
    assert got.tolist() == [True, False]


def test_einsum_broadcasts_extents_that_types_fix_to_1(device):
    a, b = RNG.normal(size=(2, 1)), RNG.normal(size=(3, 4))
    x, y = T.col("x", dtype="float64"), T.dmatrix("y")
    got = sw.function([x, y], T.einsum("ij,jk->ik", x, y), device=device)(a, b)
    np.testing.assert_allclose(got.numpy(), np.einsum("ij,jk->ik", a, b))


def test_einsum_of_wrong_extents_is_an_error(device):
    x, y = T.dmatrices("x", "y")
    with pytest.raises(sw.ArgumentError, match="label 'j' has extents 3 and 4"):
        T.einsum("ij,jk", T.tensor("float64", (2, 3)), T.tensor("float64", (4, 2)))
    with pytest.raises(sw.ArgumentError, match="operands"):
        T.einsum("ij,jk->ik", x)
    f = sw.function([x, y], T.einsum("ij,jk", x, y), device=device)
    with pytest.raises(sw.Error, match="Apply node"):
        f(np.ones((2, 3)), np.ones((4, 2)))
    g = sw.function([x], T.einsum("ii", x), device=device)
    for shape in ((2, 3), (3, 2), (1, 3)):
        with pytest.raises(sw.Error, match="Apply node"):
            g(np.ones(shape))


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (-1, 0), (2, 1)])
@pytest.mark.parametrize("offset", [0, 1, -1])
def test_diagonal_and_trace_equal_numpy(offset, axes, device):
    a = RNG.normal(size=(3, 4, 2))
    x = T.dtensor3("x")
    outputs = [T.diagonal(x, offset, *axes), T.trace(x, offset, *axes)]
    got = [r.numpy() for r in sw.function([x], outputs, device=device)(a)]
    np.testing.assert_array_equal(got[0], np.diagonal(a, offset, *axes))
    np.testing.assert_allclose(got[1], np.trace(a, offset, *axes))
    sw.gradient.verify_grad(lambda v: T.diagonal(v, offset, *axes), [a], n_tests=1, device=device)


def test_diagonal_of_wrong_axes_is_an_error():
    with pytest.raises(sw.LayoutError, match="at least 2 axes"):
        T.diagonal(T.dvector())
    with pytest.raises(sw.LayoutError, match="two different axes, got 0 and -2"):
        T.diagonal(T.dmatrix(), 0, 0, -2)


@pytest.mark.parametrize("axis", [-1, 0, 1, None])
def test_sort_and_argsort_equal_numpy(axis, device):
    a = RNG.integers(0, 4, (3, 5)).astype("float32")
    a[1, 2] = np.nan
    x = T.fmatrix("x")
    values, order = sw.function([x], [T.sort(x, axis), T.argsort(x, axis)], device=device)(a)
    np.testing.assert_array_equal(values.numpy(), np.sort(a, axis))
    np.testing.assert_array_equal(order.numpy(), np.argsort(a, axis, kind="stable"))
    assert values.dtype == "float32" and order.dtype == "int64"
    assert str(order.device) == str(device)


def test_derivative_of_sort_is_at_the_positions_of_the_elements(device):
    x = T.dvector("x")
    cost = (T.sort(x) * np.array([1.0, 10.0, 100.0])).sum()
    got = sw.function([x], T.grad(cost, x), device=device)([3.0, 1.0, 2.0])
    assert got.tolist() == [100, 1, 10]
    sw.gradient.verify_grad(lambda v: T.sort(v, 0) ** 2, [RNG.normal(size=(4, 3))], device=device)


def test_argsort_is_constant_for_derivatives_and_its_axis_is_checked():
    x = T.dvector("x")
    cost = (x * T.argsort(x)).sum()
    assert sw.function([x], T.grad(cost, x), device="cpu")([3.0, 1.0, 2.0]).tolist() == [1, 2, 0]
    for sorting in (T.sort, T.argsort):
        with pytest.raises(sw.AxisError, match=rf"\b{sorting.__name__}: axis 1"):
            sorting(x, 1)
