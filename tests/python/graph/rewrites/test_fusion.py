# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations that are fused into one op, compared with the same operations alone."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import eighths
from support.graphs import op_names

import spanwise as sw

T = sw.tensor

NOT_FUSED = sw.Mode("fast_run").excluding("fuse")


def composites(f):
    return [name for name in op_names(f) if name.startswith("Composite")]


def check(inputs, outputs, values, device):
    """Compiles with and without fusion, compares the results bit by bit, and checks that there is one
    fused node. Returns the fused function."""
    fused = sw.function(inputs, outputs, device=device)
    plain = sw.function(inputs, outputs, mode=NOT_FUSED, device=device)
    for got, expected in zip(fused(*values), plain(*values), strict=True):
        assert got.dtype == expected.dtype and got.shape == expected.shape
        np.testing.assert_array_equal(got.numpy(), expected.numpy())
    assert len(composites(fused)) == 1
    return fused


def test_operations_become_one_node_with_several_outputs(device):
    a, b, c = T.fvectors("a", "b", "c")
    s = a * b + c
    f = check(
        [a, b, c], [T.exp(s) * 2, s - c, -s], [eighths(1000, seed=i) for i in range(3)], device
    )
    assert len(op_names(f)) == 1
    assert op_names(f)[0].startswith("Composite{t1 = ((i0 * i1) + i2); ")


@pytest.mark.parametrize("size", [0, 1, 255, 1024, 257, 1025, 100_003])
def test_fused_result_is_right_at_block_boundaries(size, device):
    a, b = T.fvectors("a", "b")
    check([a, b], [(a + b) * a - 1, a > b], [eighths(size), eighths(size, seed=1)], device)


UNARY = ["negative", "exp", "sqrt", "absolute", "sigmoid", "square", "tanh"]

BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum"]

DTYPES = ["float16", "float32", "float64", "int8", "int32", "uint16", "complex64"]

#: Functions that return the same elements with other strides.
LAYOUTS = (
    np.ascontiguousarray,
    np.asfortranarray,
    lambda values: values[::-1].copy()[::-1],
    lambda values: np.repeat(values, 2, axis=-1)[..., ::2],
    lambda values: np.ascontiguousarray(values.transpose(1, 0, 2)).transpose(1, 0, 2),
    lambda values: np.ascontiguousarray(values[..., ::-1])[..., ::-1],
)


@st.composite
def programs(draw):
    """(dtypes, broadcastable patterns, steps of build(), functions of LAYOUTS, the shape): an
    axis of an input has extent 1 where its pattern is true."""
    dtypes = draw(st.lists(st.sampled_from(DTYPES), min_size=1, max_size=4))
    patterns = [
        tuple(draw(st.booleans()) for _ in range(3)) if i else (False, False, False)
        for i in range(len(dtypes))
    ]
    steps = draw(
        st.lists(
            st.tuples(st.sampled_from(UNARY + BINARY), st.integers(0, 99), st.integers(0, 99)),
            min_size=2,
            max_size=12,
        )
    )
    layouts = draw(st.lists(st.sampled_from(LAYOUTS), min_size=len(dtypes), max_size=len(dtypes)))
    shape = draw(st.sampled_from([(3, 4, 5), (1, 40, 33), (7, 2, 300), (33, 1, 64)]))
    return dtypes, patterns, steps, layouts, shape


def build(inputs, steps):
    """The last three results of the steps: (operation, indices of its operands among the inputs and
    earlier results). Steps with unsuitable dtypes are left out."""
    values = list(inputs)
    for name, i, k in steps:
        x, y = values[i % len(values)], values[k % len(values)]
        try:
            values.append(getattr(sw, name)(x) if name in UNARY else getattr(sw, name)(x, y))
        except sw.DTypeError:
            continue
    return values[len(inputs) :][-3:]


@given(program=programs())
def test_random_fused_programs_equal_the_single_operations(program, device):
    dtypes, patterns, steps, layouts, shape = program
    inputs, values = [], []
    for i, (dtype, pattern, layout) in enumerate(zip(dtypes, patterns, layouts, strict=True)):
        inputs.append(sw.TensorType(dtype, pattern)(f"x{i}"))
        input_shape = tuple(1 if is_one else n for is_one, n in zip(pattern, shape, strict=True))
        values.append(sw.asarray(layout(eighths(input_shape, dtype, i)), device=device))
    outputs = build(inputs, steps)
    if not outputs:
        return
    fused = sw.function(inputs, outputs, device=device, on_unused_input="ignore")
    plain = sw.function(inputs, outputs, mode=NOT_FUSED, device=device, on_unused_input="ignore")
    with np.errstate(all="ignore"):
        for got, expected in zip(fused(*values), plain(*values), strict=True):
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got.numpy(), expected.numpy())


def test_numbers_and_rows_are_broadcast(device):
    x, row, number = T.fmatrix("x"), T.frow("row"), T.fscalar("number")
    outputs = [(x + row) * number - 2, 3 / (x * row)]
    check([x, row, number], outputs, [eighths((5, 7)), eighths((1, 7), seed=1) + 9, 2.5], device)


def test_fused_operation_waits_for_a_number_from_the_device(device):
    x = T.dvector("x")
    total = x.sum().transfer("cpu")
    f = sw.function([x], (x + total) * total, device=device)
    values = eighths(1 << 20, "float64")
    for _ in range(5):
        expected = (values + values.sum()) * values.sum()
        np.testing.assert_allclose(f(values).numpy(), expected, rtol=1e-12)
        values = values + 1


def test_an_open_extent_that_is_1_broadcasts(device):
    x, y = T.fmatrices("x", "y")
    f = check([x, y], [T.exp(x) * 2 + y, T.exp(x) + 1], [eighths((3, 4)), eighths((3, 4))], device)
    row, column = eighths((1, 4)), eighths((3, 1), seed=2)
    plain = sw.function([x, y], [T.exp(x) * 2 + y, T.exp(x) + 1], mode=NOT_FUSED, device=device)
    for values in ([row, column], [eighths((3, 4)), row], [column, eighths((3, 4))]):
        for got, expected in zip(f(*values), plain(*values), strict=True):
            np.testing.assert_array_equal(got.numpy(), expected.numpy())


def test_gradients_of_operands_with_open_extents_are_fused_and_summed(device):
    x, y = T.dvectors("x", "y")
    cost = (T.exp(x) * y + y**2).sum()
    f = sw.function([x, y], T.grad(cost, [x, y]), device=device)
    assert not {"SumTo", "BroadcastTo{?}"} & set(op_names(f))
    a, b = eighths(6, "float64"), eighths(6, "float64", 1)
    for got, expected in zip(f(a, b), [np.exp(a) * b, np.exp(a) + 2 * b], strict=True):
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-14)
    got_x, got_y = f(a[:1], b)
    np.testing.assert_allclose(got_x.numpy(), [np.exp(a[0]) * b.sum()], rtol=1e-14)
    np.testing.assert_allclose(got_y.numpy(), np.exp(a[0]) + 2 * b, rtol=1e-14)


def test_shapes_that_do_not_broadcast_are_refused(device):
    x, y = T.fvectors("x", "y")
    f = sw.function([x, y], (x + y) * 2, device=device)
    with pytest.raises(ValueError, match=r"\(3,\).*\(4,\)|broadcast"):
        f(eighths(3), eighths(4))


def test_operations_with_another_node_between_are_not_fused(device):
    x = T.dvector("x")
    centred = T.exp(x) * 2
    f = sw.function([x], (centred - centred.sum()) * 3, device=device)
    assert [name.split("{")[0] for name in op_names(f)] == ["Composite", "Sum", "Composite"]
    values = eighths(9, "float64")
    e = np.exp(values) * 2
    np.testing.assert_allclose(f(values).numpy(), (e - e.sum()) * 3, rtol=1e-12)


def test_casts_and_comparisons_are_fused(device):
    x, n = T.fvector("x"), T.ivector("n")
    outputs = [T.cast(n, "float64") * x, T.where(x > 0, x, T.cast(n, "float32")), (x > 1) & (n < 3)]
    check([x, n], outputs, [eighths(333), eighths(333, "int32")], device)


def test_negative_exponents_of_integers_are_still_refused(device):
    n, m = T.ivectors("n", "m")
    f = sw.function([n, m], (n + 1) ** m * 2, device=device)
    assert f(np.int32([1, 2]), np.int32([2, 3])).tolist() == [8, 54]
    with pytest.raises(ValueError, match="negative integer powers"):
        f(np.int32([1, 2]), np.int32([2, -3]))


def test_a_long_chain_is_one_node(device):
    x = T.dvector("x")
    y = x
    for i in range(1000):
        y = y + x if i % 2 else y * 0.5
    f = sw.function([x], y, device=device)
    assert len(op_names(f)) == 1
    values, expected = eighths(50, "float64"), eighths(50, "float64")
    for i in range(1000):
        expected = expected + values if i % 2 else expected * 0.5
    np.testing.assert_array_equal(f(values).numpy(), expected)


def test_groups_of_many_inputs_are_divided(device):
    xs = [T.dvector(f"x{i}") for i in range(40)]
    total = xs[0] * 2
    for x in xs[1:]:
        total = total + x * 2
    values = [eighths(11, "float64", i) for i in range(40)]
    f = sw.function(xs, total, device=device)
    assert 2 < len(composites(f)) < 12
    np.testing.assert_allclose(f(*values).numpy(), 2 * sum(values), rtol=1e-14)


def test_nodes_of_unequal_shapes_that_read_one_variable_keep_their_shapes(device):
    x, z, c = T.dmatrix("x"), T.tensor("float64", (2, 3), "z"), T.tensor("float64", (1,), "c")
    f = sw.function([x, z, c], [sw.tanh(x * c), sw.tanh(z * c)], device=device)
    a, b, k = np.ones((4, 3)), np.full((2, 3), 2.0), np.array([0.5])
    for got, value in zip(f(a, b, k), (a, b), strict=True):
        np.testing.assert_allclose(got.numpy(), np.tanh(value * k))


def test_extents_that_a_rewrite_fixed_at_1_are_not_broadcast(device):
    z, y, c = (
        T.tensor("float64", shape, "zyc"[i]) for i, shape in enumerate([(2, 1), (2, 3), (1, 1)])
    )
    n, m = T.lscalars("nm")

    @sw.graph.rewrite("reshape_of_equal_shape")
    def without_reshape(node):
        return node.inputs[0] if str(node.op).startswith("Reshape") else None

    try:
        outputs = [sw.tanh(z.reshape(n, m) * c), sw.tanh(y * c)]
        f = sw.function([z, y, c, n, m], outputs, device=device, on_unused_input="ignore")
        got = f(np.ones((2, 1)), np.ones((2, 3)), np.ones((1, 1)), 2, 1)
    finally:
        sw.graph.remove_rewrite("reshape_of_equal_shape")
    assert [r.shape for r in got] == [(2, 1), (2, 3)]
