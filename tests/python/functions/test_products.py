# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products against NumPy in higher precision: any layout, dtype and device."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, poisoned, writable_broadcast
from support.products import EPS, compare, laid_out, layouts, random_values, widened

import spanwise as sw

EXTENTS = st.sampled_from([0, 1, 2, 3, 5, 17])


@st.composite
def factors(draw):
    """Shapes of two operands of matmul: vectors ("v"), matrices ("m"), batches that broadcast."""
    rows, depth, columns = draw(EXTENTS), draw(EXTENTS), draw(EXTENTS)
    batch = draw(st.lists(st.sampled_from([1, 2, 3]), max_size=2))
    kinds = draw(st.sampled_from(["mm", "mm", "mm", "vm", "mv", "vv"]))

    def batched(core):
        """The shape `core` with the last axes of `batch`, some of them of extent 1."""
        extents = batch[draw(st.integers(0, len(batch))) :]
        return (*(1 if draw(st.booleans()) and draw(st.booleans()) else n for n in extents), *core)

    left = (depth,) if kinds[0] == "v" else batched((rows, depth))
    right = (depth,) if kinds[1] == "v" else batched((depth, columns))
    return left, right


@given(st.data(), factors(), st.sampled_from(COMPUTABLE), layouts(), layouts(), st.integers(0, 99))
def test_matmul_matches_numpy_in_any_layout(
    device, data, shapes, dtype, left_layout, right_layout, seed
):
    a, x = laid_out(random_values(shapes[0], dtype, seed), left_layout, device)
    b, y = laid_out(random_values(shapes[1], dtype, seed + 1), right_layout, device)
    oracle = np.matmul(widened(x), widened(y))
    magnitudes = np.matmul(abs(widened(x)), abs(widened(y))) if dtype in EPS else None
    compare(sw.matmul(a, b), oracle, magnitudes, dtype)
    compare(a @ b, oracle, magnitudes, dtype)
    if oracle.ndim <= 4:
        out = _strided_poisoned(np.shape(oracle), dtype, device, data)
        assert sw.matmul(a, b, out) is out
        compare(out, oracle, magnitudes, dtype)


def _strided_poisoned(shape, dtype, device, data):
    """A strided view of a poisoned array: axes in any order, steps of 1, 2 or -1."""
    order = data.draw(st.permutations(range(len(shape))))
    base = poisoned(tuple(2 * shape[axis] + 1 for axis in order), dtype, device)
    step = data.draw(st.sampled_from([1, 2, -1]))
    slices = {
        1: lambda n: slice(0, n),
        2: lambda n: slice(1, 2 * n, 2),
        -1: lambda n: slice(n - 1, None, -1) if n else slice(0, 0),
    }
    key = tuple(slices[step](shape[axis]) for axis in order)
    return base[(*key, ...)].transpose(np.argsort(order).tolist())


@pytest.mark.parametrize("dtype", COMPUTABLE)
@pytest.mark.parametrize(
    "shape", [(1, 1, 3000), (65, 129, 300), (1, 700, 40), (700, 1, 40), (70, 2, 9)]
)
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_matrices_larger_than_a_block_match_numpy(device, dtype, shape, transposed):
    rows, columns, depth = shape
    x = random_values((depth, rows) if transposed[0] else (rows, depth), dtype, 1)
    y = random_values((columns, depth) if transposed[1] else (depth, columns), dtype, 2)
    a, b = sw.array(x, device=device), sw.array(y, device=device)
    a, x = (a.T, x.T) if transposed[0] else (a, x)
    b, y = (b.T, y.T) if transposed[1] else (b, y)
    magnitudes = abs(widened(x)) @ abs(widened(y)) if dtype in EPS else None
    compare(a @ b, widened(x) @ widened(y), magnitudes, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
def test_product_of_matrix_and_its_transpose_matches_numpy(device, dtype):
    x = random_values((70, 45), dtype, 3)
    a = sw.array(x, device=device)
    for ours, theirs in ((a @ a.T, x @ x.T), (a.T @ a, x.T @ x)):
        wide = widened(x)
        wide = wide @ wide.T if ours.shape == (70, 70) else wide.T @ wide
        magnitudes = abs(x) @ abs(x.T) if ours.shape == (70, 70) else abs(x.T) @ abs(x)
        compare(ours, wide, 10 * magnitudes, dtype)
        assert ours.shape == theirs.shape
        if device.kind == "cpu":  # cuBLAS does not guarantee a symmetric result
            np.testing.assert_array_equal(ours.numpy(), ours.numpy().T)


@pytest.mark.parametrize("depth", [1, 7, 8, 9, 16, 100])
def test_bool_product_is_true_where_one_pair_is_true(device, depth):
    """One pair of true elements at any position suffices; any nonzero byte is true."""
    for position in range(depth):
        matrix, vector = np.zeros((3, depth), np.uint8), np.zeros(depth, np.uint8)
        matrix[1, position] = 254
        matrix[2] = 1
        vector[position] = 3
        a, x = (sw.array(values, device=device).view("bool") for values in (matrix, vector))
        assert (a @ x).tolist() == [False, True, True]
        x[position] = False
        assert (a @ x).tolist() == [False, False, False]
        assert (a[:, ::-1] @ sw.ones(depth, "bool", device=device)).tolist() == [False, True, True]


def test_previous_values_of_out_are_ignored(device):
    for rows, columns in ((5, 7), (1, 40), (40, 1), (1, 1)):
        x, y = random_values((rows, 33), "float32", 1), random_values((33, columns), "float32", 2)
        out = sw.full((rows, columns), float("nan"), dtype="float32", device=device)
        sw.matmul(sw.array(x, device=device), sw.array(y, device=device), out=out)
        np.testing.assert_allclose(out.numpy(), x @ y, rtol=1e-4, atol=1e-5)


def test_out_may_be_an_operand(device):
    x, y = (random_values((20, 20), "float64", seed) for seed in (1, 2))
    for position in (0, 1):
        operands = [sw.array(v, device=device) for v in (x, y)]
        result = sw.matmul(*operands, out=operands[position].T)
        np.testing.assert_allclose(result.numpy(), x @ y, rtol=1e-12)
    a = sw.array(x, device=device)
    before = a
    a @= sw.array(y, device=device)
    assert a is before
    np.testing.assert_allclose(a.numpy(), x @ y, rtol=1e-12)
    a = sw.array(x, device=device)
    np.testing.assert_allclose(sw.matmul(a, a, out=a).numpy(), x @ x, rtol=1e-12)


def test_out_may_have_more_batches_or_a_wider_dtype(device):
    x, y = random_values((2, 3), "float32", 1), random_values((3, 4), "float32", 2)
    a, b = sw.array(x, device=device), sw.array(y, device=device)
    out = sw.empty((5, 2, 4), dtype="float64", device=device)
    sw.matmul(a, b, out=(out,))
    np.testing.assert_allclose(out.numpy(), np.broadcast_to(x @ y, (5, 2, 4)), rtol=1e-6)
    with pytest.raises(TypeError, match=r"float32 to int32"):
        sw.matmul(a, b, out=sw.empty((2, 4), dtype="int32", device=device))
    narrow = sw.empty((2, 4), dtype="int32", device=device)
    sw.matmul(a, b, out=narrow, casting="unsafe")
    np.testing.assert_array_equal(narrow.numpy(), (x @ y).astype("int32"))


def test_result_dtype_is_promoted_or_requested(device):
    x, y = np.arange(6, dtype="int32").reshape(2, 3), np.ones((3, 2), "float32")
    a, b = sw.array(x, device=device), sw.array(y, device=device)
    assert (a @ b).dtype == np.matmul(x, y).dtype
    assert sw.matmul(a, a.T, dtype="float32").dtype == "float32"
    with pytest.raises(TypeError, match=r"float32 to int8"):
        sw.matmul(b.T, b, dtype="int8")
    assert (a @ [[1.5], [2], [3]]).shape == (2, 1)
    assert ([1, 2] @ a).tolist() == (np.array([1, 2]) @ x).tolist()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((2, 3), (2, 3)),
        ((), (3,)),
        ((3,), ()),
        ((3,), (4,)),
        ((2, 2, 3), (3, 3, 4)),
        ((2, 3), (4,)),
    ],
)
def test_mismatched_shapes_raise_as_in_numpy(device, left, right):
    a, b = sw.ones(left, device=device), sw.ones(right, device=device)
    with pytest.raises(ValueError, match="matmul|broadcast"):
        np.matmul(np.ones(left), np.ones(right))
    with pytest.raises(ValueError, match="matmul") as ours:
        sw.matmul(a, b)
    assert str(left) in str(ours.value) or str(right) in str(ours.value)
    with pytest.raises(sw.LayoutError, match="matmul"):
        a @ b


def test_unsuitable_out_raises(device):
    a = sw.ones((2, 3), device=device)
    for shape in ((3, 3), (2,), (2, 1), (1, 2)):
        with pytest.raises(ValueError, match=r"matmul.*\(2, 2\)"):
            sw.matmul(a, a.T, out=sw.empty(shape, device=device))
    if device == "cpu":
        theirs = np.ones((2, 2))
        theirs.flags.writeable = False
        with pytest.raises(sw.ReadOnlyError):
            sw.matmul(a, a.T, out=sw.asarray(theirs))
    overlapping = writable_broadcast(sw.ones(2, device=device), (2, 2))
    assert sw.matmul(a, a.T, out=overlapping).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    x = sw.ones((2, 2), device=device)
    for right in (
        sw.ones(2, device=device),
        sw.ones((2, 3), device=device),
        sw.ones((3, 2, 2), device=device),
    ):
        with pytest.raises(ValueError, match="matmul"):
            x @= right
    with pytest.raises(TypeError):
        x @ "a"
    with pytest.raises(TypeError):
        sw.matmul(a)


@pytest.mark.parametrize("name", ["matmul", "vecdot"])
def test_numpy_ufuncs_return_spanwise_arrays(device, name):
    x = random_values((3, 3), "float64", 1)
    a = sw.array(x, device=device)
    result = getattr(np, name)(a, a)
    assert isinstance(result, sw.Array) and result.device == a.device
    np.testing.assert_allclose(result.numpy(), getattr(np, name)(x, x))
    if device == "cpu":
        product = x @ a
        assert isinstance(product, sw.Array)
        np.testing.assert_allclose(product.numpy(), x @ x)


def test_operands_on_two_devices_raise(device):
    if device == "cpu":
        pytest.skip("needs a second device")
    a = sw.ones((2, 2), device=device)
    with pytest.raises(sw.DeviceError, match="one device"):
        a @ sw.ones((2, 2), device="cpu")


def test_products_without_blas_match_numpy(device):
    """config.blas = "none" selects the built-in kernels."""
    with sw.config.change(blas="none"):
        for dtype in ("float32", "float64", "complex64", "complex128"):
            x, y = random_values((2, 70, 300), dtype, 1), random_values((300, 140), dtype, 2)
            a, b = sw.array(x, device=device), sw.array(y, device=device)
            magnitudes = abs(x) @ abs(y)
            compare(a @ b, widened(x) @ widened(y), 10 * magnitudes, dtype)
            compare(sw.vecdot(a, a), np.vecdot(widened(x), widened(x)), 1e5, dtype)
