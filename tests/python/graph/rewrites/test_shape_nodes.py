# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that depend on shapes alone run again only if a shape has changed."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


class Count(sw.Op):
    """Its input plus 1; counts its computations."""

    __props__ = ()

    def __init__(self):
        self.runs = 0

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        self.runs += 1
        outputs[0][0] = np.asarray(inputs[0]) + 1


def results_of(f, *arguments):
    return [np.asarray(r) for r in f(*arguments)]


def test_node_of_a_shape_runs_only_when_the_shape_changes(device):
    count = Count()
    x, y = T.fmatrix("x"), T.fvector("y")
    f = sw.function([x, y], y * count(x.shape[1]), device=device)
    ones = np.ones(2, "float32")
    for rows, columns, runs in ((3, 4, 1), (3, 4, 1), (2, 4, 2), (2, 5, 3), (2, 5, 3), (3, 4, 4)):
        got = f(np.zeros((rows, columns), "float32"), ones).numpy()
        np.testing.assert_array_equal(got, ones * (columns + 1))
        assert count.runs == runs


def test_shape_of_a_shared_variable_follows_its_value(device):
    w = sw.shared(np.ones(3, "float32"), target=device)
    f = sw.function([], w.sum() / w.shape[0] + w.shape[0], device=device)
    for size in (3, 3, 5, 2):
        w.set_value(np.full(size, 2, "float32"))
        assert float(f().numpy()) == 2 + size


def test_results_that_leave_the_function_are_new_each_time(device):
    x = T.fvector("x")
    f = sw.function([x], [x.shape, x.shape[0], x.shape[0] * 2, x.mean()], device=device)
    value = np.arange(6, dtype="float32")
    first = f(value)
    first[0][:] = -1
    first[2][...] = -1
    second = results_of(f, value)
    assert [r.tolist() for r in second] == [[6], 6, 12, 2.5]


def test_numbers_that_a_node_overwrites_are_computed_again(device):
    n = T.fvector("n")
    size = n.shape[0]
    f = sw.function([n], [(size * 2 + 1) ** 2, (size * 2) * (size + 1)], device=device)
    for count in (4, 4, 7, 4):
        got = f(np.zeros(count, "float32"))
        assert [int(r.numpy()) for r in got] == [(count * 2 + 1) ** 2, count * 2 * (count + 1)]


def test_after_a_failure_shapes_are_read_again(device):
    x, y = T.fvector("x"), T.fvector("y")
    f = sw.function([x, y], (x / x.shape[0] + y).sum() * y.shape[0], device=device)
    ones = lambda n: np.ones(n, "float32")  # noqa: E731
    assert float(f(ones(4), ones(4)).numpy()) == 20
    with pytest.raises(ValueError, match="5"):
        f(ones(5), ones(4))
    assert float(f(ones(4), ones(4)).numpy()) == 20
    assert float(f(ones(2), ones(2)).numpy()) == 6


@pytest.mark.parametrize("options", [{"mode": "debug"}, {"profile": True}, {"allow_gc": True}])
def test_results_do_not_depend_on_modes_and_options(device, options):
    x = T.fmatrix("x")
    f = sw.function([x], [x.mean(), x.var(), x / x.shape[0]], device=device, **options)
    for rows in (3, 3, 5):
        value = np.random.default_rng(rows).standard_normal((rows, 4)).astype("float32")
        for got, expected in zip(
            results_of(f, value), (value.mean(), value.var(), value / rows), strict=True
        ):
            np.testing.assert_allclose(got, expected, rtol=1e-5)
