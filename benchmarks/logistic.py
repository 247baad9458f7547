# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One training step of logistic regression in float32, as in Theano's tutorial, and the same step
in other libraries. Used by the lines logistic_cpu and logistic_gpu.

Every step returns (predicted labels, cross-entropy per row) and updates its own weights and bias.
"""

import numpy as np
from harness import Result, installed, interleave

import spanwise as sw

RATE, DECAY = 0.01, 0.01
SIZES = ((400, 784), (4000, 784))


def data(rows, columns):
    """Inputs (rows, columns), labels 0 or 1 (rows,) and initial weights (columns,), as NumPy
    float32."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, columns), dtype="float32")
    return (
        x,
        rng.integers(0, 2, rows).astype("float32"),
        rng.standard_normal(columns, dtype="float32"),
    )


def spanwise_step(x, y, w, device):
    """A compiled graph whose updates come from T.grad, called with arrays on `device`."""
    T = sw.tensor  # noqa: N806
    inputs, labels = T.fmatrix("x"), T.fvector("y")
    weights = sw.shared(w, "w", target=device)
    bias = sw.shared(np.float32(0), "b", target=device)
    p = 1 / (1 + T.exp(-T.dot(inputs, weights) - bias))
    xent = -labels * T.log(p) - (1 - labels) * T.log(1 - p)
    cost = xent.mean() + DECAY * (weights**2).sum()
    gw, gb = T.grad(cost, [weights, bias])
    step = sw.function(
        [inputs, labels],
        [p > 0.5, xent],
        updates={weights: weights - RATE * gw, bias: bias - RATE * gb},
        device=device,
    )
    arrays = sw.asarray(x, device=device), sw.asarray(y, device=device)
    return lambda: step(*arrays)


def numpy_step(x, y, w):
    state = [w.copy(), np.float32(0)]

    def step():
        w, b = state
        z = x @ w + b
        with np.errstate(over="ignore"):
            p = 1 / (1 + np.exp(-z))
        xent = np.logaddexp(0, z) - y * z
        error = (p - y) / np.float32(len(y))
        state[0] = w - np.float32(RATE) * (x.T @ error + np.float32(2 * DECAY) * w)
        state[1] = b - np.float32(RATE) * error.sum()
        return p > 0.5, xent

    return step


def torch_step(x, y, w, device):
    import torch

    x, y, w = (torch.from_numpy(a.copy()).to(device) for a in (x, y, w))
    b = torch.zeros((), device=device)
    w.requires_grad_()
    b.requires_grad_()

    def step():
        z = x @ w + b
        xent = torch.nn.functional.binary_cross_entropy_with_logits(z, y, reduction="none")
        cost = xent.mean() + DECAY * (w**2).sum()
        gw, gb = torch.autograd.grad(cost, [w, b])
        with torch.no_grad():
            w.sub_(gw, alpha=RATE)
            b.sub_(gb, alpha=RATE)
        return z > 0, xent

    return step


def jax_step(x, y, w, device):
    import jax
    import jax.numpy as jnp

    def cost(parameters, x, y):
        w, b = parameters
        z = x @ w + b
        xent = jnp.logaddexp(0, z) - y * z
        return xent.mean() + DECAY * (w**2).sum(), (z > 0, xent)

    @jax.jit
    def update(parameters, x, y):
        (_, results), gradients = jax.value_and_grad(cost, has_aux=True)(parameters, x, y)
        return tuple(p - RATE * g for p, g in zip(parameters, gradients, strict=True)), results

    x, y, w = (jax.device_put(a, device) for a in (x, y, w))
    state = [(w, jax.device_put(np.float32(0), device))]

    def step():
        state[0], results = update(state[0], x, y)
        return results

    return step


def lines(device, torch_device, jax_device, synchronize):
    """Yields a Result for each of SIZES. Devices that are None are left out.

    `synchronize` maps names of contenders to functions that wait for their queued work.
    """
    for rows, columns in SIZES:
        arguments = data(rows, columns)
        steps = {"Spanwise": spanwise_step(*arguments, device)}
        if sw.device(device).kind == "cpu":
            steps["NumPy by hand"] = numpy_step(*arguments)
        if torch_device is not None and installed("torch"):
            steps["PyTorch"] = torch_step(*arguments, torch_device)
        if jax_device is not None and installed("jax"):
            steps["JAX, compiled"] = jax_step(*arguments, jax_device)
        expected = numpy_step(*arguments)()[1]
        for name, step in steps.items():
            np.testing.assert_allclose(
                host(step()[1]), expected, rtol=2e-4, atol=1e-4, err_msg=name
            )
        calls = {name: blocking(name, step) for name, step in steps.items()}
        figures = interleave(
            calls,
            seconds=0.02,
            rounds=21,
            after={name: wait for name, wait in synchronize.items() if name in calls},
        )
        yield Result(
            f"training step of logistic regression, {rows} x {columns} float32, {device}",
            "Spanwise",
            figures,
            goal=("at most", None, 25e-6) if rows == 400 and "NumPy by hand" in calls else None,
        )


def blocking(name, step):
    """`step` with a wait for its result if it is JAX's.

    JAX computes asynchronously on the CPU too, where the other libraries return when they are done.
    """
    if not name.startswith("JAX"):
        return step
    return lambda: step()[1].block_until_ready()


def host(result):
    """A result of any of the libraries as a NumPy array."""
    if hasattr(result, "detach"):
        result = result.detach().cpu()
    return np.asarray(result.numpy() if hasattr(result, "numpy") else result)
