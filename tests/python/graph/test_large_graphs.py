# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs of many nodes: the time to build, differentiate, compile, copy and pickle them grows with the
number of nodes, and no depth overflows the stack. Counts of results and axes are bounded."""

import copy
import pickle
import time

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor
COUNT = 20_000


def chain(x):
    y = x
    for _ in range(COUNT):
        y = T.sin(y)
    return y


def sine_chain(values):
    for _ in range(COUNT):
        values = np.sin(values)
    return values


def views(x):
    y = x
    for _ in range(COUNT // 2):
        y = y[::-1].reshape((2, 1)).dimshuffle(0)
    return y + 1


def products(x):
    y = x
    for i in range(COUNT):
        y = y * (x + i) if i % 2 else y / (x + i)
    return y


def users(x):
    return sum((T.sin(x + i % 7) for i in range(COUNT)), x)


def quotients(values):
    result = values
    for i in range(COUNT):
        result = result * (values + i) if i % 2 else result / (values + i)
    return result


def softmaxes(x):
    y = x
    for _ in range(COUNT // 10):
        y = T.softmax(y + x)
    return y


def softmax_chain(values):
    y = values
    for _ in range(COUNT // 10):
        y = np.exp(y + values) / np.exp(y + values).sum()
    return y


def branches(x):
    y = x
    for i in range(COUNT // 20):
        y = y + T.ifelse(x[0] * 1000 > i, T.cos(x * i), x)
    return y


def branch_sum(values):
    return values + sum(
        np.cos(values * i) if values[0] * 1000 > i else values for i in range(COUNT // 20)
    )


#: Name -> (graph of a vector of two elements, its value by NumPy).
GRAPHS = {
    "chain": (chain, sine_chain),
    "views": (views, lambda v: v + 1),
    "products": (products, quotients),
    "softmaxes": (softmaxes, softmax_chain),
    "branches": (branches, branch_sum),
    "users": (users, lambda v: v + sum(np.sin(v + i % 7) for i in range(COUNT))),
}
VALUES = np.array([0.5, 1.25])
#: Seconds: more than 20 times what each takes on one slow processor, and less than a quadratic pass.
LIMIT = 20


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile"])
@pytest.mark.parametrize("name", GRAPHS)
def test_compilation_takes_time_in_proportion_to_the_nodes(name, mode):
    build, expected = GRAPHS[name]
    x = T.dvector("x") if name == "softmaxes" else T.tensor("float64", (2,), "x")
    y = build(x)
    start = time.process_time()
    f = sw.function([x], y, mode=mode, device="cpu")
    assert time.process_time() - start < LIMIT
    np.testing.assert_allclose(f(VALUES).numpy(), expected(VALUES), rtol=1e-9)


@pytest.mark.parametrize("name", ["chain", "users", "branches"])
def test_gradient_takes_time_in_proportion_to_the_nodes(name):
    x = T.tensor("float64", (2,), "x")
    y = GRAPHS[name][0](x)
    start = time.process_time()
    f = sw.function([x], T.grad(y.sum(), x), device="cpu")
    assert time.process_time() - start < 2 * LIMIT
    if name == "chain":
        expected, values = np.ones(2), VALUES
        for _ in range(COUNT):
            expected, values = expected * np.cos(values), np.sin(values)
    elif name == "branches":
        taken = [i for i in range(COUNT // 20) if VALUES[0] * 1000 > i]
        expected = 1 + sum(-i * np.sin(VALUES * i) for i in taken) + COUNT // 20 - len(taken)
    else:
        expected = 1 + sum(np.cos(VALUES + i % 7) for i in range(COUNT))
    np.testing.assert_allclose(f(VALUES).numpy(), expected, rtol=1e-9)


def test_many_inputs_and_outputs():
    inputs = T.dscalars(COUNT // 4)
    outputs = [x + i for i, x in enumerate(inputs)]
    start = time.process_time()
    f = sw.function(inputs, [*outputs, T.stack(inputs).sum()], device="cpu")
    results = f(*[0.0] * (COUNT // 4))
    assert time.process_time() - start < LIMIT
    assert [r.item() for r in results] == [*range(COUNT // 4), 0]


def test_deep_graphs_are_copied_pickled_compared_and_printed():
    x = T.tensor("float64", (2,), "x")
    y = chain(x)
    start = time.process_time()
    copies = [
        sw.graph.clone(y, replace={x: x * 1}),
        pickle.loads(pickle.dumps(y)),
        copy.deepcopy(y),
    ]
    assert all(sw.graph.equal(y, other) for other in copies[1:])
    assert len(sw.graph.ancestors([copies[0]])) == COUNT + 1
    assert len(str(y)) < 1000 and len(repr(y.owner)) < 1000
    assert sw.printing.debugprint(y, depth=5, file="str").count("Sin") == 5
    assert time.process_time() - start < LIMIT


def test_numbers_that_are_no_number_of_results_or_axes_are_refused():
    x, shape = T.dmatrix("x"), T.lvector("shape")
    for huge in (2**31, 2**62, -1):
        for call in (
            lambda n: T.vectors(n),
            lambda n: T.fmatrices(n),
            lambda n: x.reshape(shape, n),
            lambda n: x.reshape(shape, ndim=n),
            lambda n: T.shape_padleft(x, n),
            lambda n: T.shape_padright(x, n),
            lambda n: T.tile(x, 2, ndim=n),
            lambda n: x.reshape(T.TensorType("int64", (n,))("shape")),
            lambda n: sw.array_split(np.arange(3.0), n),
        ):
            with pytest.raises((sw.ArgumentError, sw.LayoutError)) as error:
                call(huge)
            assert "from 0 to" in str(error.value) or huge == -1
    assert sw.diff(np.arange(3.0), n=2**40).tolist() == []
    assert [v.name for v in T.vectors(3)] == [None] * 3
    with pytest.raises(sw.KernelArgumentError, match="more arguments than"):
        sw.kernels._sizes_of_format("2147483648i")
