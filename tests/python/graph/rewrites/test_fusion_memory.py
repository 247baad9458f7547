# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fused ops: results in the memory of inputs, overlap, lifetimes."""

import gc
import weakref

import numpy as np
import pytest
from support.arrays import eighths

import spanwise as sw

T = sw.tensor


def test_results_may_overwrite_inputs_and_shared_variables(device):
    state = sw.shared(eighths(1500), "state", target=device)
    x = T.fvector("x")
    doubled = state * 2 + x
    f = sw.function([x], [doubled - state], updates={state: doubled * state}, device=device)
    expected, values = eighths(1500).astype("float64"), eighths(1500, seed=3)
    for _ in range(3):
        got = f(values)[0].numpy()
        np.testing.assert_allclose(got, expected + values, rtol=1e-5)
        expected = (expected * 2 + values) * expected
    np.testing.assert_allclose(state.get_value(), expected, rtol=1e-5)


def overwritten_pairs(f):
    return [node.op.destroy_map for node in f.maker.fgraph.toposort() if node.op.destroy_map]


@pytest.mark.parametrize("mode", ["fast_run", "debug"])
def test_several_results_overwrite_several_inputs(device, mode):
    x, y, z = T.fvectors("x", "y", "z")
    a, b = T.cumsum(x), T.cumsum(y)  # new arrays that one node reads
    outputs = [a * b + z, (a - b) * z, T.cast(a + b, "float64")]
    sums = [T.cumsum(p) for p in outputs]
    reading_a = sw.function([x, y, z], [*sums, T.exp(a)], device=device)
    assert {0: [0]} not in overwritten_pairs(reading_a), "a is read again"
    g = sw.function([x, y, z], sums, device=device, mode=mode)
    if mode == "fast_run":
        assert overwritten_pairs(g)[0] == {0: [0], 1: [1]}
    for size in (1, 7, 5000):
        values = [eighths(size, seed=i) for i in range(3)]
        p, q = (np.cumsum(v.astype("float64")) for v in values[:2])
        expected = [p * q + values[2], (p - q) * values[2], p + q]
        for got, terms in zip(g(*values), expected, strict=True):
            np.testing.assert_allclose(got.numpy(), np.cumsum(terms), rtol=2e-3, atol=0.5)


def test_mutable_inputs_that_are_one_array_give_separate_results(device):
    x, y = T.fvectors("x", "y")
    inputs = [sw.In(x, mutable=True, borrow=True), sw.In(y, mutable=True, borrow=True)]
    f = sw.function(inputs, [T.cumsum(x + y), T.cumsum(x - y)], device=device)
    values = sw.array(eighths(300), device=device)
    total, difference = f(values, values)
    np.testing.assert_allclose(total.numpy(), np.cumsum(eighths(300) * 2), rtol=1e-3, atol=1e-2)
    assert not difference.numpy().any()


def test_results_are_right_where_the_layouts_forbid_overwriting(device):
    x, y = T.fmatrices("x", "y")
    inputs = [sw.In(x, mutable=True, borrow=True), sw.In(y, mutable=True, borrow=True)]
    f = sw.function(inputs, [(x * y).T, (x - y).T], device=device)
    p, q = eighths((40, 30)), eighths((30, 40), seed=1)
    for a, b in ((p, q.T), (p, np.array(q.T)), (p[::-1], q.T[::-1]), (p[:1], q.T[:1])):
        arguments = [sw.array(v, device=device) for v in (a, b)]
        product, difference = f(*arguments)
        np.testing.assert_array_equal(product.numpy(), (a * b).T)
        np.testing.assert_array_equal(difference.numpy(), (a - b).T)


def test_overlapping_inputs_are_read_before_they_are_written():
    memory = eighths(2001, "float64")
    x, y = T.dvectors("x", "y")
    f = sw.function([sw.In(x, mutable=True), y], x * 2 + y, device="cpu")
    a, b = memory[1:], memory[:-1]
    expected = a * 2 + b
    np.testing.assert_array_equal(f(sw.asarray(a), sw.asarray(b)).numpy(), expected)


def test_results_are_released_with_their_last_reference():
    x = T.dvector("x")
    blocks = weakref.WeakSet()

    class Block:
        def __init__(self, nbytes):
            self.memory = np.empty(nbytes + 64, "uint8")
            self.ptr = -(-self.memory.ctypes.data // 64) * 64
            blocks.add(self)

    f = sw.function([x], [T.exp(x) + x, x * x - 1], device="cpu")
    values = sw.asarray(eighths(3000, "float64"), device="cpu")
    with sw.memory.use_allocator(lambda ordinal, nbytes, stream: Block(nbytes), "cpu"):
        results = f(values)
        assert len(blocks) == 2
        del results
        gc.collect()
        assert len(blocks) == 0
