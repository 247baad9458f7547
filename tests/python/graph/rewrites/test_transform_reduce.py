# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions that compute the elements that they read, compared with NumPy in float64 and with the
same graph without the rewrite "transform_reduce"."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from support.arrays import eighths
from support.graphs import op_names

import spanwise as sw

T = sw.tensor
WITHOUT_TRANSFORM_REDUCE = sw.Mode("fast_run").excluding("transform_reduce")
REDUCTIONS = [
    "sum",
    "prod",
    "mean",
    "max",
    "min",
    "any",
    "all",
    "argmax",
    "argmin",
    "count_nonzero",
]


def check(inputs, outputs, values, device, transform_reduces=1):
    """Compiles with and without the rewrite and compares the results; `transform_reduces` is the number of
    its nodes. Returns the function with the rewrite."""
    f = sw.function(inputs, outputs, device=device)
    plain = sw.function(inputs, outputs, mode=WITHOUT_TRANSFORM_REDUCE, device=device)
    for got, expected in zip(f(*values), plain(*values), strict=True):
        assert got.dtype == expected.dtype and got.shape == expected.shape
        tolerance = 1e-2 if got.dtype in ("float16", "bfloat16") else 1e-5
        np.testing.assert_allclose(
            got.numpy().astype("complex128"),
            expected.numpy().astype("complex128"),
            rtol=tolerance,
            atol=tolerance,
        )
    assert sum("(Composite" in name for name in op_names(f)) == transform_reduces
    return f


def test_sum_of_squared_differences_is_one_node(device):
    x, m = T.fmatrix("x"), T.fvector("m")
    f = sw.function([x, m], ((x - m) ** 2).sum(), device=device)
    assert op_names(f) == ["Sum(Composite{square((i0 - i1))})"]
    a, b = eighths((300, 70)), eighths(70, seed=1)
    expected = ((a.astype("float64") - b) ** 2).sum()
    np.testing.assert_allclose(float(f(a, b)), expected, rtol=1e-6)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2), (1, 2)])
def test_each_reduction_over_each_axis_computes_its_input(name, axis, device):
    if isinstance(axis, tuple) and name.startswith("arg"):
        pytest.skip("argmax and argmin take one axis")
    x, y = T.tensor3("x", "float32"), T.fmatrix("y")
    z = (x - y) * 0.5
    options = {} if axis is None else {"axis": axis}
    result = getattr(sw, name)(z > 1 if name in ("any", "all") else z, **options)
    check([x, y], [result], [eighths((5, 33, 40)), eighths((33, 40), seed=1)], device)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint16", "int64", "complex64"])
def test_sums_of_each_dtype_compute_their_input(dtype, device):
    x, y = T.matrix("x", dtype), T.vector("y", dtype)
    values = [eighths((30, 50), dtype), eighths(50, dtype, seed=1)]
    outputs = [T.sum(x * y, axis=0), T.sum(x - y * y, axis=1, keepdims=True)]
    check([x, y], outputs, values, device, transform_reduces=2)


def test_casts_in_the_input_and_other_dtypes_of_the_sum_are_right(device):
    n, x = T.imatrix("n"), T.fvector("x")
    outputs = [
        T.sum(T.cast(n, "float64") * x, axis=0),
        T.sum(n * n, axis=1, dtype="float32"),
        T.prod(n % 3, axis=0),
        T.mean(n + n, axis=1),
    ]
    check([n, x], outputs, [eighths((40, 30), "int32"), eighths(30)], device, transform_reduces=4)


def test_one_operation_is_computed_by_the_reduction(device):
    x = T.fmatrix("x")
    check(
        [x],
        [T.sum(T.exp(x), axis=0), T.max(x * x)],
        [eighths((20, 45))],
        device,
        transform_reduces=2,
    )


@pytest.mark.parametrize("shape", [(0, 7), (7, 0), (1, 1), (1, 300), (300, 1), (2, 70_001)])
def test_shapes_with_extents_0_and_1_are_reduced(shape, device):
    x, y = T.fmatrices("x", "y")
    z = x * 2 - y
    values = [eighths(shape), eighths(shape, seed=1)]
    outputs = [T.sum(z, axis=0), T.sum(z + 1, axis=1), T.mean(x * y), T.all(x < y)]
    if 0 in shape:
        outputs = [outputs[0], outputs[1], outputs[3]]
    check([x, y], outputs, values, device, transform_reduces=len(outputs))


def test_maximum_of_no_elements_is_refused(device):
    x = T.fvector("x")
    f = sw.function([x], T.max(x * 2), device=device)
    with pytest.raises(ValueError, match="zero-size array"):
        f(eighths(0))
    assert float(f(eighths(3))) == 2 * eighths(3).max()


def test_open_extents_of_1_are_broadcast(device):
    x, y = T.fmatrices("x", "y")
    f = sw.function([x, y], [T.sum(x * y, axis=0), T.mean(x - y, axis=1)], device=device)
    for a, b in (((6, 5), (6, 5)), ((6, 5), (1, 5)), ((6, 1), (6, 5)), ((1, 1), (6, 5))):
        p, q = eighths(a), eighths(b, seed=1)
        got = f(p, q)
        np.testing.assert_allclose(got[0].numpy(), (p * q).sum(0), rtol=1e-6)
        np.testing.assert_allclose(got[1].numpy(), (p - q).mean(1), rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="broadcast"):
        f(eighths((6, 5)), eighths((6, 4)))


def test_result_with_several_readers_is_computed_once(device):
    x = T.fvector("x")
    z = (x + 1) * x
    f = sw.function([x], [z, z.sum(), T.exp(x).sum(), T.max(z)], device=device)
    assert sum(name.startswith("Sum(Composite") for name in op_names(f)) == 1
    a = eighths(50)
    got = [r.numpy() for r in f(a)]
    np.testing.assert_array_equal(got[0], (a + 1) * a)
    np.testing.assert_allclose(got[1], ((a + 1) * a).sum(), rtol=1e-6)


def test_numbers_and_shared_variables_are_operands(device):
    x, k = T.fmatrix("x"), T.fscalar("k")
    w = sw.shared(eighths(20, seed=2), target=device)
    f = check(
        [x, k],
        [T.sum((x - w) * k, axis=1), T.sum(k / (x * x + 1))],
        [eighths((9, 20)), np.float32(0.5)],
        device,
        transform_reduces=2,
    )
    before = f(eighths((9, 20)), np.float32(2))[0].numpy()
    w.set_value(np.zeros(20, "float32"))
    after = f(eighths((9, 20)), np.float32(2))[0].numpy()
    np.testing.assert_allclose(after, eighths((9, 20)).sum(1) * 2, rtol=1e-6)
    assert not np.allclose(before, after)


def test_update_of_a_variable_that_the_reduction_reads_comes_after_it(device):
    w = sw.shared(eighths(1000), target=device)
    f = sw.function([], ((w * 2 - 1) ** 2).sum(), updates={w: w * 0.5}, device=device)
    expected = eighths(1000).astype("float64")
    for _ in range(3):
        np.testing.assert_allclose(float(f()), ((expected * 2 - 1) ** 2).sum(), rtol=1e-6)
        expected /= 2
    np.testing.assert_allclose(w.get_value().numpy(), expected, rtol=1e-6)


def test_nansum_computes_its_input(device):
    x = T.fmatrix("x")
    a = eighths((30, 60))
    a[::4, ::3] = np.nan
    f = check([x], [T.nansum(x * 2, axis=0), T.nansum(x + x)], [a], device, transform_reduces=2)
    np.testing.assert_allclose(f(a)[0].numpy(), np.nansum(a * 2, axis=0), rtol=1e-6)


@pytest.mark.parametrize("preamble", ["", "#include <spanwise/view.cuh>"])
def test_reduction_computes_element_bodies_unless_they_include_files(preamble, device):
    distance = sw.kernel_op(
        "distance", "z = x > y ? x - y : y - x", "T x, T y", "T z", preamble=preamble
    )
    x, y = T.fmatrix("x"), T.fvector("y")
    f = sw.function([x, y], T.sum(distance(x, y) * 2, axis=1), device=device)
    a, b = eighths((30, 41)), eighths(41, seed=1)
    np.testing.assert_allclose(f(a, b).numpy(), (abs(a - b) * 2).sum(1), rtol=1e-6)
    assert len(op_names(f)) == (2 if preamble else 1)


def test_gradients_and_debug_mode_agree_with_separate_nodes(device):
    x, y = T.dmatrix("x"), T.dvector("y")
    cost = T.sum(T.log(1 + T.exp(x * y)), axis=1).mean()
    T.verify_grad(
        lambda a, b: T.sum(T.log(1 + T.exp(a * b)), axis=1).mean(),
        [eighths((4, 5), "float64"), eighths(5, "float64", seed=1)],
        rng=np.random.default_rng(3),
    )
    values = [eighths((40, 50), "float64"), eighths(50, "float64", seed=1)]
    plain = sw.function(
        [x, y], [cost, *T.grad(cost, [x, y])], mode=WITHOUT_TRANSFORM_REDUCE, device=device
    )
    debug = sw.function([x, y], [cost, *T.grad(cost, [x, y])], mode="debug", device=device)
    for got, expected in zip(debug(*values), plain(*values), strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


def laid_out(values, order, steps):
    """The values with other strides: axes in the given order in memory, with gaps where a step is 2."""
    memory = np.transpose(values, order)
    for axis, step in enumerate(steps):
        memory = np.repeat(memory, step, axis)
    memory = np.ascontiguousarray(memory)
    view = memory[tuple(slice(None, None, step) for step in steps)]
    return view.transpose(np.argsort(order))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_reductions_of_random_layouts_equal_separate_nodes(data, device):
    rank = data.draw(st.integers(1, 3))
    shape = tuple(
        data.draw(st.lists(st.sampled_from([1, 2, 7, 40, 130]), min_size=rank, max_size=rank))
    )
    axes = tuple(i for i in range(rank) if data.draw(st.booleans()))
    name = data.draw(st.sampled_from(["sum", "max", "mean"]))
    dtype = data.draw(st.sampled_from(["float32", "float64", "int32"]))
    operands, values = [], []
    for k in range(data.draw(st.integers(1, 3))):
        operand_shape = [1 if data.draw(st.integers(0, 4)) == 0 else extent for extent in shape]
        order = data.draw(st.permutations(range(rank)))
        steps = [data.draw(st.sampled_from([1, 1, 2])) for _ in range(rank)]
        value = laid_out(eighths(operand_shape, dtype, seed=k), order, steps)
        if data.draw(st.booleans()):
            value = value[::-1]
        values.append(value)
        operands.append(T.tensor(dtype, tuple(operand_shape), f"x{k}"))
    z = operands[0] * 2
    for operand in operands[1:]:
        z = z - operand * operands[0]
    result = getattr(sw, name)(z, axis=axes or None, keepdims=data.draw(st.booleans()))
    f = sw.function(operands, result, device=device)
    plain = sw.function(operands, result, mode=WITHOUT_TRANSFORM_REDUCE, device=device)
    got, expected = f(*values), plain(*values)
    assert got.shape == expected.shape and got.dtype == expected.dtype
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)
