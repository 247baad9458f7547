# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations in graphs give the results of eager calls."""

import operator

import numpy as np
import pytest
from support.elementwise import assert_close, operand

import spanwise as sw

T = sw.tensor
UFUNCS = sorted({getattr(sw, n).__name__ for n in dir(sw) if isinstance(getattr(sw, n), sw.ufunc)})


@pytest.mark.parametrize("name", [*UFUNCS, "where", "clip"])
def test_graph_of_a_ufunc_matches_the_eager_call(name, device):
    ufunc = getattr(sw, name)
    count = 3 if name in ("where", "clip") else ufunc.nin
    for dtype in ("float32", "int32"):
        values = [operand(dtype, (4, 5), seed) for seed in range(count)]
        if name == "power" and dtype == "int32":
            values[1] = np.abs(values[1]) % 4
        variables = [T.tensor(dtype, (None, None)) for _ in values]
        arrays = [sw.asarray(value, device=device) for value in values]
        try:
            eager = ufunc(*arrays)
        except TypeError:
            with pytest.raises(TypeError):
                ufunc(*variables)
            continue
        result = ufunc(*variables)
        assert isinstance(result, sw.Variable) and result.type.dtype == eager.dtype
        assert_close(sw.function(variables, result, device=device)(*arrays), eager.numpy(), ulps=0)


def test_operators_of_variables_equal_numpy(device):
    x, y = T.fmatrix("x"), T.fmatrix("y")
    a, b = operand("float32", (3, 4), 1), operand("float32", (3, 4), 2)
    for operation in (
        operator.floordiv, operator.mod, operator.pow, operator.lt, operator.ge,
        lambda p, q: abs(p) - q, lambda p, q: 2.0**p, lambda p, q: p // 2 + q % 3,
        lambda p, q: divmod(p, q)[1],
    ):  # fmt: skip
        with np.errstate(all="ignore"):
            oracle = operation(a, b)
        result = operation(x, y)
        assert_close(
            sw.function([x, y], result, on_unused_input="ignore", device=device)(a, b), oracle
        )
    i = T.imatrix()
    c = operand("int32", (3, 4), 3)
    for operation in (lambda p: ~p & 7, lambda p: (p | 1) ^ 5, lambda p: (p << 2) >> 1):
        assert_close(sw.function([i], operation(i), device=device)(c), operation(c))


def test_equality_of_variables_stays_identity():
    x, y = T.fmatrix("x"), T.fmatrix("y")
    assert x == x and x != y and len({x, y, x}) == 2
    assert isinstance(T.eq(x, y), sw.Variable)


def test_elementwise_ops_have_camel_case_names_and_the_dtypes_of_numpy():
    x = T.fmatrix("x")
    assert str(T.floor_divide(x, 2).owner.op) == "FloorDivide"
    assert str(sw.ops.logical_not(x).owner.op) == "LogicalNot"
    assert T.exp(x).type.dtype == "float32" and (x > 1).type.dtype == "bool"
    assert T.sqr is T.square and T.switch(x > 0, x, 1.0).type.dtype == "float32"
    assert (sw.ones((2, 2), "float32") + x).type.dtype == "float32"
    with pytest.raises(sw.GraphError, match="out="):
        sw.add(x, x, out=sw.zeros((2, 2)))


def test_sigmoid_and_softplus_are_exact_for_large_arguments(device):
    x = T.dvector("x")
    f = sw.function([x], [T.sigmoid(x), T.softplus(x)], device=device)
    sigmoid, softplus = f(np.array([-1000.0, 1000.0]))
    assert sigmoid.tolist() == [0, 1] and softplus.tolist() == [0, 1000]
