# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The op "affine", alpha * a @ b + beta * c, against NumPy in float64."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import spanwise as sw

T = sw.tensor
FLOATS = ("float32", "float64", "float16")
DTYPES = (*FLOATS, "complex64", "complex128", "int8", "uint16", "int64", "bool")
TOLERANCES = {"float16": 2e-2, "float32": 1e-4, "complex64": 1e-4}


def affine(a, b, c=None, alpha=1.0, beta=1.0):
    inputs = (a, b) if c is None else (a, b, c)
    return sw.graph.apply_registered("affine", *inputs, alpha=float(alpha), beta=float(beta))


def variable_of(array):
    return T.tensor(array.dtype.name, (None,) * array.ndim)


def laid_out(draw, values):
    """The same values in a layout drawn from five: dense, transposed, reversed, with gaps, with an
    offset."""
    layout = draw(st.sampled_from(("dense", "transposed", "reversed", "gaps", "offset")))
    if layout == "transposed":
        return np.ascontiguousarray(values.T).T
    if layout == "reversed":
        return np.ascontiguousarray(values[..., ::-1])[..., ::-1]
    if layout == "gaps":
        return np.repeat(values, 2, -1)[..., ::2]
    if layout == "offset":
        flat = np.zeros(values.size + 1, values.dtype)
        flat[1:] = values.ravel()
        return flat[1:].reshape(values.shape)
    return values


@st.composite
def problems(draw):
    """Draws a, b, c, alpha, beta for alpha * a @ b + beta * c; c is None without an addend."""
    dtype = draw(st.sampled_from(DTYPES))
    extents = st.sampled_from((0, 1, 2, 3, 5, 8, 17, 33, 130))
    rows, depth, columns = draw(extents), draw(extents), draw(extents)
    kind = draw(st.sampled_from(("matrix", "vector", "row", "batch", "outer")))
    if kind == "outer":
        depth = 1
    a, b, c = {
        "matrix": ((rows, depth), (depth, columns), (rows, columns)),
        "outer": ((rows, depth), (depth, columns), (rows, columns)),
        "vector": ((rows, depth), (depth,), (rows,)),
        "row": ((depth,), (depth, columns), (columns,)),
        "batch": ((2, rows % 9, depth), (3, 1, depth, columns % 9), (3, 2, rows % 9, columns % 9)),
    }[kind]
    addend = draw(st.sampled_from(("whole", "row", "number", "none")))
    c = {"whole": c, "row": c[-1:], "number": (), "none": None}[addend]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))

    def values(shape):
        if dtype == "bool":
            return rng.integers(0, 2, shape).astype(dtype)
        if np.dtype(dtype).kind in "iu":
            return rng.integers(0, 9, shape).astype(dtype)
        x = rng.standard_normal(shape)
        return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)

    arrays = [laid_out(draw, np.asarray(values(shape))) for shape in (a, b)]
    arrays.append(None if c is None else laid_out(draw, np.asarray(values(c))) if c else values(c))
    factors = {"b": (0.0, 1.0), "i": (1.0, -2.0, 3.0, 0.0), "u": (1.0, 2.0, 0.0)}
    factor = st.sampled_from(factors.get(np.dtype(dtype).kind, (1.0, 0.5, -0.01, 2.5, 0.0)))
    return *arrays, draw(factor), draw(factor)


def expected_of(a, b, c, alpha, beta):
    dtype = a.dtype
    wide = dtype if dtype.kind in "biu" else np.complex128 if dtype.kind == "c" else np.float64
    product = np.matmul(a.astype(wide), b.astype(wide))
    if dtype.kind == "b":
        product = product & bool(alpha)
        return product if c is None else product | (np.asarray(c) & bool(beta))
    factors = np.array([alpha, beta]).astype(wide)
    with np.errstate(over="ignore"):
        result = factors[0] * product
        return result if c is None else result + factors[1] * np.asarray(c).astype(wide)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_affine_of_any_layout_and_dtype_equals_numpy(device, problem):
    a, b, c, alpha, beta = problem
    arrays = [x for x in (a, b, c) if x is not None]
    variables = [variable_of(np.asarray(x)) for x in arrays]
    f = sw.function(variables, affine(*variables, alpha=alpha, beta=beta), device=device)
    expected = expected_of(a, b, c, alpha, beta)
    tolerance = TOLERANCES.get(a.dtype.name, 1e-10)
    for _ in range(2):  # the second call uses the first one's buffers
        got = f(*arrays)
        assert got.dtype == a.dtype and got.shape == expected.shape
        np.testing.assert_allclose(
            got.numpy().astype(expected.dtype),
            expected,
            rtol=tolerance,
            atol=30 * tolerance,  # sums of up to 130 products cancel
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(
    ("rows", "depth"), [(400, 784), (784, 400), (3, 5000), (5000, 3), (1000, 1000)]
)
@pytest.mark.parametrize("is_transposed", [False, True])
def test_product_of_a_large_matrix_and_a_vector_equals_numpy(
    device, dtype, rows, depth, is_transposed
):
    """For these sizes there are special loops and kernels."""
    rng = np.random.default_rng(1)
    a = rng.integers(-4, 5, (depth, rows)).astype(dtype).T if is_transposed else (
        rng.integers(-4, 5, (rows, depth)).astype(dtype)
    )  # fmt: skip
    x, c = (rng.integers(-4, 5, n).astype(dtype) for n in (depth, rows))
    expected = 2 * (a @ x) + 3 * c
    va, vx, vc = (variable_of(v) for v in (a, x, c))
    left = sw.function([va, vx, vc], affine(va, vx, vc, 2, 3), device=device)
    right = sw.function([va, vx, vc], affine(vx, va.T, vc, 2, 3), device=device)
    arrays = [sw.array(v, device=device) for v in (a, x, c)]
    for f in (left, right):
        np.testing.assert_array_equal(f(*arrays).numpy(), expected)
    with_gaps = [sw.array(np.repeat(v, 2, 0), device=device)[::2] for v in (a, x, c)]
    np.testing.assert_array_equal(left(*with_gaps).numpy(), expected)
    views = [sw.array(np.pad(v, 1), device=device)[(slice(1, -1),) * v.ndim] for v in (a, x, c)]
    np.testing.assert_array_equal(right(*views).numpy(), expected)


def test_product_is_broadcast_to_the_addend(device):
    a, b, c = (
        np.arange(n, dtype="float64").reshape(s)
        for n, s in ((3, (1, 3)), (6, (3, 2)), (10, (5, 2)))
    )
    variables = [T.dmatrix() for _ in range(3)]
    f = sw.function(variables, affine(*variables, 0.5, 2), device=device)
    np.testing.assert_allclose(f(a, b, c).numpy(), 0.5 * (a @ b) + 2 * c)
    np.testing.assert_allclose(f(a, b, c[:1]).numpy(), 0.5 * (a @ b) + 2 * c[:1])


@pytest.mark.parametrize("shape", [(4, 5), (40, 50)])
def test_addend_is_overwritten_unless_it_is_a_factor_too(device, shape):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((shape[0], 6)), rng.standard_normal((6, shape[1]))
    c = rng.standard_normal(shape)
    variables = [T.dmatrix() for _ in range(3)]
    inputs = [*variables[:2], sw.In(variables[2], mutable=True)]
    f = sw.function(inputs, affine(*variables, 2, -1), device=device)
    assert any(node.op.destroy_map for node in f.maker.fgraph.toposort())
    expected = 2 * a @ b - c
    addend_array = sw.array(c, device=device)
    np.testing.assert_allclose(f(a, b, addend_array).numpy(), expected)
    backwards = sw.array(c[:, ::-1].copy(), device=device)[:, ::-1]
    np.testing.assert_allclose(f(a, b, backwards).numpy(), expected)
    # The addend is also a factor: it must not be overwritten while it is read.
    x = T.dmatrix()
    square = sw.function([sw.In(x, mutable=True)], affine(x, x, x, 1, 1), device=device)
    m = rng.standard_normal((30, 30))
    np.testing.assert_allclose(square(sw.array(m, device=device)).numpy(), m @ m + m)


def test_type_has_the_known_extents_and_a_shape_needs_no_product():
    a, b = T.tensor("float32", (7, None)), T.tensor("float32", (None, 5))
    out = affine(a, b, T.tensor("float64", (5,)))
    assert out.type.shape == (7, 5) and out.dtype == "float64"
    x, w, c = T.fmatrix(), T.fmatrix(), T.fvector()
    f = sw.function([x, w, c], affine(x, w, c).shape[1])
    assert not any("Affine" in str(node.op) for node in f.maker.fgraph.toposort())
    assert f(np.zeros((3, 2), "f"), np.zeros((2, 4), "f"), np.zeros(4, "f")).numpy() == 4


def test_gradient_equals_finite_differences(device):
    rng = np.random.default_rng(0)
    shapes = [
        ((3, 4), (4, 2), (3, 2)),
        ((3, 4), (4, 2), (2,)),
        ((3, 4), (4,), ()),
        ((1, 4), (4, 2), (3, 2)),
    ]
    for shape in shapes:
        points = [rng.standard_normal(s) for s in shape]
        sw.gradient.verify_grad(lambda a, b, c: affine(a, b, c, 0.5, -2), points, device=device)
        sw.gradient.verify_grad(lambda a, b: affine(a, b, None, 0.5), points[:2], device=device)


def test_invalid_factors_and_shapes_raise():
    i, b, f = T.imatrix("i"), T.tensor("bool", (None, None), "b"), T.fmatrix("f")
    with pytest.raises(TypeError, match=r"whole numbers.*got 0\.5"):
        affine(i, i, i, 0.5)
    with pytest.raises(TypeError, match="0 or 1"):
        affine(b, b, b, 2)
    with pytest.raises(sw.ArgumentError, match="finite"):
        affine(f, f, f, float("nan"))
    with pytest.raises(ValueError, match="do not fit"):
        affine(
            T.tensor("float32", (2, 3)), T.tensor("float32", (3, 4)), T.tensor("float32", (5, 4))
        )
    with pytest.raises(ValueError, match="use \\* for numbers"):
        affine(f, T.fscalar(), f)
