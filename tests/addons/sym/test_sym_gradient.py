# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sym.grad: derivatives as NumPy programs, against central differences of the cost."""

import numpy as np
import pytest

import spanwise as sw
from spanwise import sym

COSTS = {
    "squares": lambda w, x: ((np.dot(x, w) - 1.0) ** 2).sum(),
    "mean of exp": lambda w, x: np.exp(w / 2).mean() + x.sum(),
    "logistic": lambda w, x: -np.log(1 / (1 + np.exp(-np.dot(x, w)))).mean(),
    "softmax": lambda w, x: np.log(np.exp(w).sum(axis=1)).sum(),
    "extremes": lambda w, x: w.max(axis=0).sum() - 2 * w.min(),
    "where": lambda w, x: np.where(w > 0, w**3, 2 * w).sum(axis=0).prod(),
    "shapes": lambda w, x: (w.T.reshape(2, 6)[None].swapaxes(0, 2) ** 2).mean(axis=(0, 1, 2)),
    "indices": lambda w, x: (w[1:, ::-1][..., 0] ** 2).sum() * w[-1, 2]
    + (w[:2, None, 1:] ** 3).sum(),
    "broadcast": lambda w, x: (w * np.arange(3.0) / w.sum(axis=0)).std(),
    "products": lambda w, x: (w.T @ x.T @ x @ w).sum() + np.tanh(w).sum(dtype="float64"),
    "unstable forms": lambda w, x: np.log(1 + np.exp(w)).sum() + sym.sigmoid(w).sum(),
}


def values(*shape):
    return np.random.default_rng(3).uniform(-2, 2, shape)


def central_differences(cost, x, step=1e-5):
    """The derivatives of `cost` with respect to the elements of `x`, computed by NumPy."""
    derivatives = np.empty_like(x)
    for i in np.ndindex(x.shape):
        change = np.zeros_like(x)
        change[i] = step
        derivatives[i] = (cost(x + change) - cost(x - change)) / (2 * step)
    return derivatives


@pytest.mark.parametrize("name", COSTS)
def test_gradients_equal_central_differences(name):
    w, x = values(4, 3), values(5, 4)
    cost = COSTS[name]
    symbolic = sym.array(w, name="w")
    gradient = sym.grad(cost(symbolic, sym.array(x)), symbolic)
    assert (gradient.shape, gradient.dtype) == (w.shape, w.dtype)
    expected = central_differences(lambda v: cost(sym.array(v), x).asNumpy(), w)
    np.testing.assert_allclose(gradient.asNumpy(), expected, rtol=1e-6, atol=1e-7)
    assert sym.check(gradient)["cuda"] < 1e-10


def test_gradients_for_a_list_of_inputs_and_results():
    w, b = sym.array(values(4, 3)), sym.array(values(3))
    hidden = w * 2 + b
    cost = (hidden**2).sum()
    dw, db, dhidden = sym.grad(cost, [w, b, hidden])
    np.testing.assert_allclose(dhidden.asNumpy(), 2 * hidden.asNumpy())
    np.testing.assert_allclose(dw.asNumpy(), 4 * hidden.asNumpy())
    np.testing.assert_allclose(db.asNumpy(), (2 * hidden.asNumpy()).sum(axis=0))
    np.testing.assert_allclose(sym.grad(dw.sum(), w).asNumpy(), np.full((4, 3), 8.0))


def test_gradient_is_a_readable_program():
    x, w = sym.array(values(5, 4), name="x"), sym.array(values(4, 3), name="w")
    code = sym.grad(((np.dot(x, w) - 1.0) ** 2).sum(), w).numpy_code()
    lines = [line.split("#")[0].strip() for line in code.splitlines()[5:]]
    assert lines == [
        *("t0 = np.dot(x, w)", "t1 = t0 - 1.0", "t2 = 2.0 * t1", "t3 = x.T @ t2"),
        "return t3",
    ]
    assert "test_sym_gradient.py:" in code


def test_unsupported_gradients_raise():
    w = sym.array(values(4, 3))
    with pytest.raises(sw.GraphError, match="rank 0"):
        sym.grad(w * 2, w)
    with pytest.raises(sw.GraphError):
        sym.grad((w * 2).sum(), sym.array(values(2)))
    with pytest.raises(sw.NotSupportedError, match="Subtensor.*spanwise.tensor.grad"):
        sym.grad(w[::2].sum(), w)
    with pytest.raises(sw.NotSupportedError, match="Subtensor"):
        sym.grad(w[[0, 1]].sum(), w)
