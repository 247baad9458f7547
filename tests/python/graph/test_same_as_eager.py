# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operations on variables have the dtypes, ranks and shapes that the same operations on arrays have:
every elementwise operation, pair of dtypes and kind of number, and functions that combine shapes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from support.elementwise import ALL

import spanwise as sw

T = sw.tensor
DTYPES = [*ALL, "bfloat16"]
NUMBERS = [True, 2, 0.5, 1 + 1j]
UFUNCS = sorted(name for name in dir(sw) if isinstance(getattr(sw, name), sw.ufunc))
BINARY = [name for name in UFUNCS if getattr(sw, name).nin == 2]
UNARY = [name for name in UFUNCS if getattr(sw, name).nin == 1]


def outcome(function, operands):
    """The dtypes and ranks of the results of the function, or "refused" where it raises."""
    try:
        result = function(*operands)
    except (TypeError, ValueError, OverflowError):
        return "refused"
    results = result if isinstance(result, (list, tuple)) else [result]
    return [(str(r.dtype), r.ndim) for r in results]


def array(dtype, shape=(3,)):
    return sw.ones(shape, dtype=dtype, device="cpu")


def variable(dtype, shape=(3,)):
    return T.tensor(dtype, (None,) * len(shape))


def disagreements(function, operands):
    """The lists of operands, (dtype, shape) or numbers, for which arrays and variables have different
    outcomes, with both outcomes."""
    differing = []
    for operand in operands:
        arguments = [
            [
                value if isinstance(value, (bool, int, float, complex)) else make(*value)
                for value in operand
            ]
            for make in (array, variable)
        ]
        eager, graph = (outcome(function, values) for values in arguments)
        if eager != graph:
            differing.append((operand, eager, graph))
    return differing


@pytest.mark.parametrize("name", BINARY)
def test_binary_ufunc_of_each_pair_of_dtypes_is_the_same(name):
    pairs = itertools.product(DTYPES, DTYPES)
    operands = [[(a,), (b, ()) if i % 3 == 0 else (b,)] for i, (a, b) in enumerate(pairs)]
    assert disagreements(getattr(sw, name), operands) == []


@pytest.mark.parametrize("name", BINARY)
def test_binary_ufunc_of_each_dtype_and_python_number_is_the_same(name):
    operands = [
        order
        for dtype in DTYPES
        for number in NUMBERS
        for order in ([(dtype,), number], [number, (dtype,)])
    ]
    assert disagreements(getattr(sw, name), operands) == []


@pytest.mark.parametrize("name", UNARY)
def test_unary_ufunc_of_each_dtype_is_the_same(name):
    assert disagreements(getattr(sw, name), [[(dtype,)] for dtype in DTYPES]) == []


def test_where_with_python_numbers_is_the_same():
    operands = [
        [("bool",), *others]
        for dtype in DTYPES
        for number in NUMBERS
        for others in ([(dtype,), number], [number, (dtype,)], [number, 2])
    ]
    assert disagreements(sw.where, operands) == []


OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<": lambda a, b: a < b,
    "&": lambda a, b: a & b,
    "<<": lambda a, b: a << b,
}


@pytest.mark.parametrize("sign", OPERATORS)
def test_operator_with_each_python_number_is_the_same(sign):
    operands = [
        order
        for dtype in DTYPES
        for number in NUMBERS
        for order in ([(dtype,), number], [number, (dtype,)])
    ]
    assert disagreements(OPERATORS[sign], operands) == []


def test_floatx_is_the_dtype_of_floats_without_a_float_beside_them():
    """Theano's rule for graphs; arrays follow NumPy."""
    with sw.config.change(floatX="float32"):
        assert str((T.bvector() * 0.5).dtype) == "float32"
        assert str((T.lvector() * 0.5).dtype) == "float64"
        assert str((T.dvector() * 0.5).dtype) == "float64"
        assert str(T.as_tensor_variable(0.5).dtype) == "float32"
        assert str((array("int8") * 0.5).dtype) == "float64"


SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (1, 3), (4, 2, 3), (2, 1, 3), (0, 3)]
TWO_OPERANDS = {
    "add": (sw.add, T.add),
    "matmul": (sw.matmul, T.matmul),
    "dot": (sw.dot, T.dot),
    "outer": (sw.outer, T.outer),
    "where": (lambda a, b: sw.where(a > 0, a, b), lambda a, b: T.where(a > 0, a, b)),
    "maximum": (sw.maximum, T.maximum),
    "concatenate": (lambda a, b: sw.concatenate([a, b]), lambda a, b: T.concatenate([a, b])),
    "stack": (lambda a, b: sw.stack([a, b]), lambda a, b: T.stack([a, b])),
}


@pytest.mark.parametrize("name", TWO_OPERANDS)
def test_shape_of_two_operands_is_the_same(name):
    """Static shapes, and the shapes of open ones when they are computed."""
    eager, graph = TWO_OPERANDS[name]
    for left, right in itertools.product(SHAPES, SHAPES):
        if name == "dot" and max(len(left), len(right)) > 2:
            continue  # refused for variables: their matmul takes batches
        a, b = array("float32", left), array("int16", right)
        try:
            eager_result = eager(a, b)
        except (TypeError, ValueError):
            eager_result = None
        x, y = T.tensor("float32", left), T.tensor("int16", right)
        if eager_result is None:
            with pytest.raises((TypeError, ValueError, sw.GraphError)):
                sw.function([x, y], graph(x, y), device="cpu")(a, b)
            continue
        z = graph(x, y)
        assert z.dtype == eager_result.dtype and z.ndim == eager_result.ndim, (left, right)
        for known, extent in zip(z.type.shape, eager_result.shape, strict=True):
            assert known in (None, extent), (left, right, z.type)
        u, v = (T.tensor(t, (None,) * len(s)) for t, s in (("float32", left), ("int16", right)))
        computed = sw.function([u, v], graph(u, v), device="cpu", mode="fast_compile")(a, b)
        assert computed.shape == eager_result.shape and computed.dtype == eager_result.dtype, (
            left,
            right,
        )
        np.testing.assert_array_equal(computed.numpy(), eager_result.numpy())


ONE_OPERAND = {
    "sum over an axis": lambda m, a: m.sum(a, axis=-1),
    "max with kept axes": lambda m, a: m.max(a, axis=0, keepdims=True),
    "transposed": lambda m, a: a.T,
    "swapped": lambda m, a: m.swapaxes(a, 0, -1),
    "flat": lambda m, a: a.reshape(-1),
    "with an axis in front": lambda m, a: a[None],
    "each second element": lambda m, a: a[..., ::2],
    "the first row": lambda m, a: a[0],
    "cumulative sum": lambda m, a: m.cumsum(a, axis=0),
    "repeated": lambda m, a: m.concatenate([a, a], axis=0),
}


def partly_open(data, dtype, shape):
    """A variable of this shape of which some extents are unknown."""
    return T.tensor(dtype, tuple(None if data.draw(st.booleans()) else n for n in shape))


def check_type(graph, inputs, values, eager_result):
    """Checks that the type and the values of the graph fit the result of the arrays, or that the graph is
    refused where that is None."""
    if eager_result is None:
        with pytest.raises((TypeError, ValueError, sw.GraphError)):
            sw.function(inputs, graph(*inputs), device="cpu")(*values)
        return
    z = graph(*inputs)
    assert z.ndim == eager_result.ndim
    for known, extent in zip(z.type.shape, eager_result.shape, strict=True):
        assert known in (None, extent), (z.type, eager_result.shape)
    f = sw.function(inputs, z, device="cpu", mode="fast_compile")
    np.testing.assert_array_equal(f(*values).numpy(), eager_result.numpy())


def result_or_none(function, *operands):
    """The result, or None where the function refuses the operands."""
    try:
        return function(*operands)
    except (TypeError, ValueError, IndexError):
        return None


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_partly_known_shape_of_two_operands_fits(data):
    eager, graph = TWO_OPERANDS[data.draw(st.sampled_from(sorted(set(TWO_OPERANDS) - {"dot"})))]
    shapes = [data.draw(st.sampled_from(SHAPES)) for _ in range(2)]
    inputs = [partly_open(data, "float32", shape) for shape in shapes]
    values = [array("float32", shape) for shape in shapes]
    check_type(graph, inputs, values, result_or_none(eager, *values))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_partly_known_shape_of_one_operand_fits(data):
    function = ONE_OPERAND[data.draw(st.sampled_from(sorted(ONE_OPERAND)))]
    shape = data.draw(st.sampled_from([s for s in SHAPES if s and 0 not in s]))
    value = sw.arange(int(np.prod(shape)), dtype="float32", device="cpu").reshape(shape)
    x = partly_open(data, "float32", shape)
    check_type(lambda v: function(T, v), [x], [value], result_or_none(function, sw, value))
