# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions compiled again for the shapes of their calls, against NumPy and the general program."""

import numpy as np
import pytest

import spanwise as sw
from spanwise.printing import debugprint

T = sw.tensor


@pytest.fixture(params=["always", "never"])
def specialise(request):
    with sw.config.change(specialise=request.param):
        yield request.param


def layers(x, weights):
    for w, b in weights:
        x = T.tanh(x @ w + b)
    return x


def test_gradients_with_changing_shapes(device, specialise):
    """Broadcasts that only the shapes decide: rows of one element, and one row."""
    x, y = T.dmatrix("x"), T.dmatrix("y")
    cost = ((T.sigmoid(x + y) - x.mean(axis=0)) ** 2 / T.exp(y).sum(axis=1, keepdims=True)).sum()
    f = sw.function([x, y], [cost, *T.grad(cost, [x, y])], device=device)
    draw = np.random.default_rng(3)
    for call in range(40):
        rows, columns = draw.integers(1, 4, 2)
        a = draw.standard_normal((rows, columns))
        b = draw.standard_normal((rows if call % 3 else 1, columns if call % 2 else 1))
        value, slope_a, slope_b = (r.numpy() for r in f(a, b))

        def reference(a, b):
            s = 1 / (1 + np.exp(-(a + b)))
            return ((s - a.mean(0)) ** 2 / np.exp(b).sum(1, keepdims=True)).sum()

        np.testing.assert_allclose(value, reference(a, b), 1e-12)
        for argument, slope, other in ((0, slope_a, a), (1, slope_b, b)):
            direction = draw.standard_normal(other.shape)
            moved = [[a, b], [a, b]]
            for sign in (0, 1):
                moved[sign][argument] = other + (2 * sign - 1) * 1e-6 * direction
            difference = (reference(*moved[1]) - reference(*moved[0])) / 2e-6
            np.testing.assert_allclose((slope * direction).sum(), difference, 1e-5, 1e-7)


def test_shared_variables_change_their_shapes(device, specialise):
    x, w = T.fmatrix("x"), sw.shared(np.ones((3, 2), "float32"), target=device)
    y = T.tanh(x @ w)
    f = sw.function([x], (y - y.mean(axis=0)).sum(axis=1), updates={w: w + 1}, device=device)
    value = np.ones((3, 2), "float32")
    for call in range(12):
        if call % 4 == 0:
            value = np.full((3, 1 + call), 0.5, "float32")
            w.set_value(value)
        a = np.arange(6, dtype="float32").reshape(2, 3) / 8
        expected = np.tanh(a @ value)
        np.testing.assert_allclose(f(a).numpy(), (expected - expected.mean(0)).sum(1), 1e-5, 1e-6)
        value = value + 1
        np.testing.assert_array_equal(w.get_value(), value)


def test_errors_of_shapes_stay(device, specialise):
    x, y = T.fmatrix("x"), T.fmatrix("y")
    f = sw.function([x, y], layers(x, [(y, 1.0), (y.T, 2.0), (y, 3.0)]).sum(), device=device)
    good = np.ones((2, 3), "float32"), np.ones((3, 4), "float32")
    for _ in range(3):
        first = f(*good).item()
        with pytest.raises(ValueError, match="fit|match"):
            f(good[0], good[0])
        assert f(*good).item() == first


def test_derivatives_of_slices_are_joined(device):
    """As of the gates of an LSTM; the weights of all steps are one product."""
    x, w = T.tensor("float32", (8, 64), name="x"), T.tensor("float32", (64, 256), name="w")
    h, states = x, []
    for _ in range(4):
        z = h @ w
        h = T.tanh(z[:, :64]) * T.sigmoid(z[:, 64:128]) + z[:, 128:192] * z[:, 192:]
        states.append(h)
    cost = sum((s * s).sum() for s in states)
    slope = T.grad(cost, w)
    f = sw.function([x, w], slope, device=device)
    text = debugprint(f, file="str")
    assert "SetSubtensor" not in text
    assert sum(str(n.op) == "Matmul" for n in f.maker.fgraph.toposort()) == 8
    plain = sw.function(
        [x, w], slope, device=device, mode=sw.Mode("fast_run").excluding("join_slices", "linear")
    )
    draw = np.random.default_rng(4)
    values = [draw.standard_normal(s).astype("float32") / 8 for s in ((8, 64), (64, 256))]
    np.testing.assert_allclose(f(*values).numpy(), plain(*values).numpy(), 1e-4, 1e-6)
