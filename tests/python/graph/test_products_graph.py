# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of variables of graphs: results, types and errors."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


def values(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)


@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
     ((5, 1, 2, 3), (6, 3, 4))],
)  # fmt: skip
@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("int32", "float64")])
def test_matmul_of_variables_equals_numpy(device, left, right, dtypes):
    x, y = values(left, dtypes[0], 1), values(right, dtypes[1], 2)
    a, b = (T.tensor(v.dtype.name, (None,) * v.ndim) for v in (x, y))
    for result in (a @ b, sw.matmul(a, b), T.matmul(a, b)):
        f = sw.function([a, b], result, device=device)
        for factor in (1, 2):  # a second call uses the first one's buffers
            out = f(factor * x, y)
            theirs = np.matmul(factor * x, y)
            assert result.type.dtype == theirs.dtype == out.dtype and result.ndim == theirs.ndim
            np.testing.assert_array_equal(out.numpy(), theirs)


def test_chained_products_of_arrays_and_variables_equal_numpy(device):
    x, w = values((4, 3), seed=1), values((3, 5), seed=2)
    a = T.fmatrix("a")
    f = sw.function([a], (a @ sw.array(w, device=device) + 1) @ w.T, device=device)
    g = sw.function([a], sw.array(w.T, device=device) @ (a @ w).dot(w.T).dot(w), device=device)
    for rows in (4, 2, 3):
        np.testing.assert_array_equal(f(x[:rows]).numpy(), (x[:rows] @ w + 1) @ w.T)
    square = values((3, 3), seed=3)
    np.testing.assert_array_equal(g(square).numpy(), w.T @ (square @ w @ w.T @ w))


def test_dot_of_variables_equals_numpy(device):
    x, y = values((4, 3), seed=1), values((3,), seed=2)
    a, b, c = T.fmatrix("a"), T.fvector("b"), T.fscalar("c")
    f = sw.function([a, b, c], [T.dot(a, b), a.dot(c), T.dot(2.0, b)], device=device)
    for out, theirs in zip(f(x, y, np.float32(3)), (x @ y, x * 3, 2 * y), strict=True):
        np.testing.assert_array_equal(out.numpy(), theirs)
    with pytest.raises(sw.GraphError, match="rank 3"):
        T.dot(T.ftensor3(), a)


def test_product_type_has_the_known_extents():
    a, b = T.tensor("float32", (7, 1, 2, 3)), T.tensor("float32", (5, 3, None))
    assert (a @ b).type.shape == (7, 5, 2, None)
    assert (T.tensor("int8", (None, 3)) @ T.tensor("int8", (3,))).type.shape == (None,)
    with pytest.raises(ValueError, match="extent 3, axis 0 of the second has 4"):
        a @ T.tensor("float32", (4, 4))
    with pytest.raises(ValueError, match=r"shapes \(\?, 3\) and \(4, \?\)"):
        T.tensor("float32", (None, 3)) @ T.tensor("float32", (4, None))
    with pytest.raises(ValueError, match="broadcast"):
        a @ T.tensor("float32", (2, 5, 3, 3))
    with pytest.raises(ValueError, match="use \\* for numbers"):
        a @ 2.0
    with pytest.raises(sw.GraphError, match="out="):
        sw.matmul(a, b, out=sw.ones(3, device="cpu"))


def test_shape_mismatch_at_run_time_raises(device):
    a, b = T.fmatrix("a"), T.fmatrix("b")
    f = sw.function([a, b], a @ b, device=device)
    with pytest.raises(ValueError, match="matmul"):
        f(values((2, 3)), values((2, 3)))


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ((2, 3), (4, 5), r"axis 1 of the first operand has extent 3, axis 0 of the second has 4;"),
        ((7, 2, 3), (4,), r"axis 2 of the first operand has extent 3, axis 0 of the second has 4;"),
        ((3,), (7, 4, 5), r"axis 0 of the first operand has extent 3, axis 1 of the second has 4;"),
        ((), (3,), r"expected at least 1 axis in the first operand, got 0 .*use \* for numbers"),
    ],
)
def test_error_of_shapes_names_the_axes(left, right, message):
    variables = [T.tensor("float32", shape) for shape in (left, right)]
    arrays = [sw.zeros(shape, "float32") for shape in (left, right)]
    for operands in (variables, arrays):
        with pytest.raises(sw.LayoutError, match=r"^matmul: .*" + message):
            sw.matmul(*operands)
    with pytest.raises(sw.LayoutError, match=r"^vecmat: expected at least 2 axes in the second"):
        sw.vecmat(np.zeros(3), np.zeros(3))
