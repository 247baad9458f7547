# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""scan: loops over the first axis of variables against loops over NumPy arrays, and derivatives."""

import pickle

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor
scan = sw.graph.scan
RNG = np.random.default_rng(7)


def matrix(*shape):
    return RNG.uniform(-1, 1, shape)


def recurrent(inputs, state, weights):
    """The states of a recurrent network."""
    states = []
    for row in inputs:
        state = np.tanh(row + weights @ state)
        states.append(state)
    return np.array(states)


def network(inputs, start, weights):
    """The graph of recurrent()."""
    return scan(lambda row, state, w: T.tanh(row + T.dot(w, state)), inputs, start, weights)


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile", "debug"])
def test_states_sequences_and_non_sequences_match_numpy_loop(device, mode):
    x, h, w = T.dmatrix("x"), T.dvector("h"), T.dmatrix("w")
    f = sw.function([x, h, w], network(x, h, w), device=device, mode=mode)
    for steps in (5, 1, 0):
        values = matrix(steps, 3), matrix(3), matrix(3, 3)
        got = f(*values)
        assert got.shape == (steps, 3) and str(got.device) == str(sw.device(device))
        if steps:
            np.testing.assert_allclose(got.numpy(), recurrent(*values), rtol=1e-12)


def test_outputs_with_and_without_a_state_equal_numpy(device):
    x = T.dvector("x")
    total, double, count = scan(
        lambda e, total, count: [total + e, e * 2, count + 1],
        x,
        [np.float64(0), None, np.int64(10)],
    )
    f = sw.function([x], [total, double, count], device=device)
    got = [r.numpy() for r in f([1.0, 2.0, 4.0])]
    for result, expected in zip(got, ([1, 3, 7], [2, 4, 8], [11, 12, 13]), strict=True):
        np.testing.assert_array_equal(result, expected)
    assert [r.shape for r in f(np.zeros(0))] == [(0,)] * 3


def test_until_ends_the_loop_after_the_step_of_the_condition(device):
    x, limit = T.dvector("x"), T.dscalar("limit")
    total, double = scan(
        lambda e, total: ([total + e, e * 2], sw.graph.until(total + e > limit)), x, [0.0, None]
    )
    slopes = T.grad((total**2).sum() + double.sum(), x)
    f = sw.function([x, limit], [total, double, slopes], device=device)
    values = RNG.uniform(0.5, 1, 200)
    sums = np.cumsum(values)
    for bound, steps in ((2.0, None), (-1.0, 1), (1e9, 200), (sums[63], None), (sums[64], None)):
        steps = steps or 1 + int(np.argmax(sums > bound))
        got = [result.numpy() for result in f(values, bound)]
        np.testing.assert_allclose(got[0], sums[:steps], rtol=1e-12)
        np.testing.assert_array_equal(got[1], 2 * values[:steps])
        expected = np.zeros(200)
        expected[:steps] = 2 * np.cumsum(sums[:steps][::-1])[::-1] + 2
        np.testing.assert_allclose(got[2], expected, rtol=1e-10)
    assert [r.shape for r in f(np.zeros(0), 1.0)] == [(0,), (0,), (0,)]


def test_until_with_updates_states_of_which_the_last_is_read_and_random_numbers(device):
    count = sw.shared(np.int64(0), target=device)
    rng = T.RandomStreams(3)
    n = T.lscalar("n")
    result, updates = scan(
        lambda s: (s + rng.uniform(()) * 0 + 1, {count: count + 1}, sw.graph.until(s >= 4)),
        outputs_info=[np.float64(0)], n_steps=n, return_updates=True,
    )  # fmt: skip
    f = sw.function([n], result[-1], updates=updates, device=device)
    assert float(f(10**12)) == 5 and int(count.get_value()) == 5
    assert float(f(2)) == 2 and int(count.get_value()) == 7


def test_truncated_gradient_goes_through_the_last_steps(device):
    x, h, w = T.dmatrix("x"), T.dvector("h"), T.dmatrix("w")
    steps = 6
    values = matrix(steps, 3), matrix(3), matrix(3, 3)
    for limit in (1, 4, 6, 9):
        states = scan(lambda row, s, w: T.tanh(row + T.dot(w, s)), x, h, w, truncate_gradient=limit)
        slopes = sw.function([x, h, w], T.grad((states**2).sum(), [x, h, w]), device=device)
        got = [slope.numpy() for slope in slopes(*values)]
        first = max(steps - limit, 0)
        before = recurrent(values[0][:first], values[1], values[2])[-1] if first else values[1]
        whole = sw.function([x, h, w], T.grad((network(x, h, w) ** 2).sum(), [x, h, w]))
        expected = [s.numpy() for s in whole(values[0][first:], before, values[2])]
        np.testing.assert_allclose(got[0][first:], expected[0], rtol=1e-10)
        assert not got[0][:first].any()
        np.testing.assert_allclose(got[1], expected[1], rtol=1e-10)
        np.testing.assert_allclose(got[2], expected[2], rtol=1e-10)


def test_strict_refuses_variables_from_outside_that_are_no_non_sequences():
    x, y = T.dvector("x"), T.dscalar("y")
    w = sw.shared(np.float64(2), "w")
    assert scan(lambda e, w, y: e * w * y + 1, x, non_sequences=[w, y], strict=True).ndim == 1
    of_non_sequence = scan(lambda e, _: e * (w + 1), x, non_sequences=w, strict=True)
    assert sw.function([x], of_non_sequence)([1, 2]).tolist() == [3, 6]
    for name, outside in (("w", w), ("y", y)):
        with pytest.raises(sw.GraphError, match=f"fn uses {name}.*add them to non_sequences"):
            scan(lambda e, outside=outside: e * outside, x, strict=True)
    with pytest.raises(sw.GraphError, match="condition of rank 0"):
        scan(lambda e: (e, sw.graph.until(x > 0)), x)


def test_n_steps_go_backwards_and_outer_variables_equal_numpy(device):
    x, n = T.dvector("x"), T.iscalar("n")
    w = sw.shared(2.0, "w", target=device)
    powers = scan(lambda p: p * T.exp(x) * w, outputs_info=T.ones_like(x), n_steps=n)
    f = sw.function([x, n], powers, device=device)
    value = matrix(4)
    expected = np.cumprod([np.exp(value) * 2] * 3, axis=0)
    np.testing.assert_allclose(f(value, 3).numpy(), expected, rtol=1e-12)
    w.set_value(1.0)
    np.testing.assert_allclose(f(value, 2).numpy()[-1], np.exp(value) ** 2, rtol=1e-12)
    backwards = scan(lambda e, last: e - last, x, np.float64(0), n_steps=3, go_backwards=True)
    g = sw.function([x], backwards, device=device)
    a = [1.0, 2.0, 4.0, 8.0]
    np.testing.assert_array_equal(g(a).numpy(), [4, 2 - 4, 1 - (2 - 4)])
    shortest = sw.function([x, n], scan(lambda a, b: a + b, [x, x[1:]]), on_unused_input="ignore")
    np.testing.assert_array_equal(shortest(a, 0).numpy(), [3, 6, 12])


def test_loop_invariant_node_is_computed_once():
    calls = []

    @sw.graph.as_op([T.dvector().type], [T.dvector().type])
    def counted(x):
        calls.append(1)
        return x * 2

    x = T.dvector("x")
    f = sw.function([x], scan(lambda s: s + counted(x), outputs_info=x, n_steps=5)[-1])
    np.testing.assert_array_equal(f([1.0]).numpy(), [11.0])
    assert len(calls) == 1


def test_derivatives_of_first_and_second_order_equal_finite_differences():
    values = [matrix(4, 3), matrix(3), matrix(3, 3)]
    rng = np.random.default_rng(1)
    T.verify_grad(network, values, rng=rng)
    T.verify_grad(lambda *v: network(*v)[-1], values, rng=rng)
    T.verify_grad(
        lambda x, h, w: T.grad((network(x, h, w) ** 2).sum(), w, disconnected_inputs="raise"),
        values,
        rng=rng,
    )
    T.verify_grad(
        lambda x: T.stack(scan(lambda e, s: [s * e, T.sin(e) * s], x, [x[0], None]), axis=0),
        [matrix(5)],
        rng=rng,
    )
    T.verify_grad(
        lambda x, w: scan(lambda e: e * w, x, n_steps=2, go_backwards=True),
        [matrix(4), matrix(3)[0]],
        rng=rng,
    )


def test_derivatives_of_no_steps_are_zero_and_integers_have_none(device):
    x, h = T.dvector("x"), T.dscalar("h")
    n = T.iscalar("n")
    cost = scan(lambda e, s: s * e, x, h, n_steps=n).sum() + h
    f = sw.function([x, h, n], T.grad(cost, [x, h]), device=device)
    for got, expected in zip(f([2.0, 3.0], 5.0, 0), ([0, 0], 1), strict=True):
        np.testing.assert_array_equal(got.numpy(), expected)
    for got, expected in zip(f([2.0, 3.0], 5.0, 1), ([5, 0], 3), strict=True):
        np.testing.assert_array_equal(got.numpy(), expected)
    k = T.ivector("k")
    counted = scan(lambda e, s: s * e, k.astype("float64"), h)
    with pytest.raises(TypeError, match="int32"):
        T.grad(counted.sum(), k)


def test_state_is_carried_by_updates_and_a_loop_survives_pickling(device):
    w = sw.shared(np.ones(3), "w", target=device)
    x = T.dmatrix("x")
    last = scan(lambda row, s: s * 0.5 + row, x, w)[-1]
    f = sw.function([x], last.sum(), updates={w: last}, device=device)
    value, expected = matrix(4, 3), np.ones(3)
    for _ in range(2):
        f(value)
        for row in value:
            expected = expected * 0.5 + row
    np.testing.assert_allclose(w.get_value().numpy(), expected, rtol=1e-12)
    y = scan(lambda row: row * 2, x)
    unpickled = pickle.loads(pickle.dumps(sw.function([x], y)))
    np.testing.assert_array_equal(unpickled(value).numpy(), value * 2)


def test_equal_loops_are_merged():
    x = T.dvector("x")
    f = sw.function([x], [scan(lambda e, s: s + e, x, np.float64(0)) for _ in range(2)])
    assert [str(node.op) for node in f.maker.fgraph.toposort()].count("Scan") == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: scan(lambda e, s: s, x), "missing|positional"),
        (lambda x: scan(lambda e, s: T.cast(s, "float32"), x, np.float64(0)), "cast one"),
        (
            lambda x: scan(lambda e, s: e, [x], [np.float64(0), None]),
            "1 outputs, outputs_info has 2",
        ),
        (lambda x: scan(lambda: x), "expected sequences or n_steps"),
        (lambda x: scan(lambda e: e, x.sum()), "at least one axis"),
        (lambda x: scan(lambda e: ([e], {}), x), "expected fn to return outputs"),
        (lambda x: scan(lambda e, s: s, x, [{"initial": x, "taps": [-1, -2]}]), "taps"),
        (lambda x: scan(lambda e: e, {"input": x, "taps": [0, -1]}), r"slices .* x\[:-1\]"),
        (lambda x: scan(lambda e: e, x, n_steps=2.5), "expected an integer"),
    ],
)
def test_unsuitable_step_or_argument_of_scan_raises(call, message):
    with pytest.raises((TypeError, sw.GraphError), match=message):
        call(T.dvector("x"))


def test_short_sequences_and_changing_shapes_are_refused(device):
    x = T.dvector("x")
    f = sw.function([x], scan(lambda e: e, x, n_steps=3), device=device)
    with pytest.raises(ValueError, match="sequence 0 has 2 elements, expected 3 steps"):
        f([1.0, 2.0])
    n = T.lscalar("n")
    h = sw.function([x, n], scan(lambda s: s * 2, outputs_info=x, n_steps=n), device=device)
    assert h([1.0, 2.0], 0).shape == (0, 2)
    with pytest.raises(ValueError, match="n_steps is -1; expected at least 0, and go_backwards"):
        h([1.0, 2.0], -1)
    g = sw.function([x], scan(lambda s: T.concatenate([s, s]), outputs_info=x, n_steps=3))
    with pytest.raises(ValueError, match=r"step 1 has shape \(4,\), and \(2,\) before"):
        g([1.0])


def test_step_may_compute_gradients_of_non_sequences(device):
    x = T.dvector("x")
    y = x**2
    rows = scan(lambda i, y, x: T.grad(y[i], x), T.arange(y.shape[0]), non_sequences=[y, x])
    f = sw.function([x], [rows, T.grad((rows * rows).sum(), x)], device=device)
    jacobian, slope = f([3.0, 4.0])
    np.testing.assert_array_equal(jacobian.numpy(), [[6, 0], [0, 8]])
    np.testing.assert_array_equal(slope.numpy(), [24, 32])
