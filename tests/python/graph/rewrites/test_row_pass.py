# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The rewrite "row_pass": products with a matrix and its transpose, and the elementwise program between
them, in one pass."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


def regression(device, dtype="float32", rate=0.1):
    """A step of logistic regression, and the variables that it updates."""
    x, y = T.tensor(dtype, (None, None), "x"), T.tensor(dtype, (None,), "y")
    w = sw.shared(np.zeros(1, dtype), "w", target=device)
    b = sw.shared(np.zeros((), dtype), "b", target=device)
    p = T.sigmoid(T.dot(x, w) + b)
    error = (p - y) / 8
    updates = {w: w - rate * (T.dot(x.T, error) + 0.5 * w), b: b - rate * error.sum()}
    step = sw.function([x, y], [p > 0.5, error], updates=updates, device=device)
    return step, w, b


def expected(x, y, w, b, rate=0.1):
    """Both results of the step, and the new w and b."""
    x, y, w, b = (np.asarray(v, "float64") for v in (x, y, w, b))
    p = 1 / (1 + np.exp(-(x @ w + b)))
    error = (p - y) / 8
    return p > 0.5, error, w - rate * (x.T @ error + 0.5 * w), b - rate * error.sum()


def passes(f):
    return [n for n in map(str, (node.op for node in f.maker.fgraph.toposort())) if "RowPass" in n]


def data(rows, columns, dtype="float32"):
    """x, y, and initial values of w and b."""
    rng = np.random.default_rng(rows * 7 + columns)
    x = (rng.standard_normal((rows, columns)) / max(columns, 1) ** 0.5).astype(dtype)
    y, w = rng.integers(0, 2, rows).astype(dtype), rng.standard_normal(columns).astype(dtype)
    return x, y, w, np.array(0.25, dtype)


def check(step, w, b, x, y, initial_w, initial_b, device, tolerance=1e-4):
    w.set_value(initial_w)
    b.set_value(initial_b)
    for _ in range(2):
        before = w.get_value().numpy(), b.get_value().numpy()
        got = step(x, y)
        labels, error, new_w, new_b = expected(
            sw.asarray(x).numpy(), sw.asarray(y).numpy(), *before
        )
        # Labels are not compared where p = 8 * error + y is so near to 0.5 that rounding decides them.
        margin = np.abs(error + (sw.asarray(y).numpy() - 0.5) / 8) > tolerance
        np.testing.assert_array_equal(got[0].numpy()[margin], labels[margin])
        np.testing.assert_allclose(got[1].numpy(), error, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(w.get_value().numpy(), new_w, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(b.get_value().numpy(), new_b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_step_of_each_size_equals_numpy(device, dtype):
    step, w, b = regression(device, dtype)
    assert len(passes(step)) == 1
    for rows, columns in (
        (400, 784), (1, 1), (3, 5), (33, 64), (1000, 130), (5, 1025), (50, 4096), (9, 5000), (3000, 8), (3, 17000), (2000, 300),
    ):  # fmt: skip
        x, y, initial_w, initial_b = data(rows, columns, dtype)
        check(step, w, b, x, y, initial_w, initial_b, device)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_do_not_depend_on_threads(device, dtype):
    step, w, b = regression(device, dtype)
    for rows, columns in ((400, 784), (1999, 300), (70, 9000), (20000, 33)):
        x, y, initial_w, initial_b = data(rows, columns, dtype)
        results = []
        for threads in (1, 2, 2, 5):
            w.set_value(initial_w)
            b.set_value(initial_b)
            with sw.config.change(cpu_threads=threads):
                outputs = [*step(x, y), *step(x, y), w.get_value(), b.get_value()]
            results.append([output.numpy() for output in outputs])
        for outputs in results[1:]:
            for output, first_output in zip(outputs, results[0], strict=True):
                np.testing.assert_array_equal(output, first_output)


def test_step_on_each_layout_equals_numpy(device):
    step, w, b = regression(device)
    x, y, initial_w, initial_b = data(60, 40)
    on_device = lambda a: sw.array(a, device=device)  # noqa: E731
    layouts = {
        "columns": on_device(x.T.copy()).T,
        "wide rows": on_device(np.pad(x, ((0, 0), (0, 24))))[:, :40],
        "not aligned": on_device(np.pad(x, ((0, 0), (1, 6))))[:, 1:41],
        "reversed rows": on_device(x[::-1].copy())[::-1],
        "reversed columns": on_device(x[:, ::-1].copy())[:, ::-1],
        "gaps": on_device(np.repeat(x, 2, 1))[:, ::2],
    }
    for name, matrix in layouts.items():
        np.testing.assert_array_equal(matrix.numpy(), x, err_msg=name)
        check(step, w, b, matrix, y, initial_w, initial_b, device)
    check(step, w, b, x, on_device(np.repeat(y, 2))[::2], initial_w, initial_b, device)


def test_empty_matrices_and_a_broadcast_label_equal_numpy(device):
    step, w, b = regression(device)
    for rows, columns in ((0, 5), (5, 0), (0, 0)):
        x, y, initial_w, initial_b = data(rows, columns)
        check(step, w, b, x, y, initial_w, initial_b, device)
    x, y, initial_w, initial_b = data(30, 20)
    w.set_value(initial_w)
    b.set_value(initial_b)
    error = step(x, y[:1])[1].numpy()  # one label for all rows
    np.testing.assert_allclose(
        error, expected(x, y[:1], initial_w, initial_b)[1], rtol=1e-4, atol=1e-5
    )
    with pytest.raises(ValueError, match="20"):
        step(x[:, :7], y)


def test_intermediate_results_that_are_outputs_equal_numpy(device):
    x, v, u = T.fmatrix("x"), T.fvector("v"), T.fvector("u")
    z = T.dot(x, v)
    g = T.tanh(z) * u
    back = T.dot(x.T, g)
    a, p, q = (np.random.default_rng(3).standard_normal(s).astype("f") for s in ((50, 30), 30, 50))
    gain = np.tanh(a @ p) * q
    for outputs, values in (
        ([back], [a.T @ gain]),
        ([back, g, z], [a.T @ gain, gain, a @ p]),
        ([back * 2 + v, g.sum(), g.sum() ** 2], [a.T @ gain * 2 + p, gain.sum(), gain.sum() ** 2]),
        ([T.dot(x.T, g) - T.dot(x.T, u), g.sum() + v[0]], [a.T @ (gain - q), gain.sum() + p[0]]),
    ):
        f = sw.function([x, v, u], outputs, device=device)
        for got, value in zip(f(a, p, q), values, strict=True):
            np.testing.assert_allclose(got.numpy(), value, rtol=2e-4, atol=2e-4)


def test_debug_mode_compares_with_separate_products(device):
    x, v = T.fmatrix("x"), T.fvector("v")
    f = sw.function([x, v], T.dot(x.T, T.tanh(T.dot(x, v)) ** 3), mode="debug", device=device)
    a = np.random.default_rng(1).standard_normal((40, 30)).astype("f")
    np.testing.assert_allclose(
        f(a, a[0]).numpy(), a.T @ np.tanh(a @ a[0]) ** 3, rtol=1e-3, atol=1e-3
    )
