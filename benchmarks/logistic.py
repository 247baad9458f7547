# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One training step of logistic regression in float32, as in Theano's tutorial, and the same step
in other libraries. Used by the lines logistic_cpu and logistic_gpu.

Every step returns (predicted labels, cross-entropy per row) and updates its own weights and bias.
A timing is a run of steps, after which it waits once for all queued work.
"""

import numpy as np
from harness import Contender, Result, installed, interleave

import spanwise as sw

RATE, DECAY = 0.01, 0.01
SIZES = ((400, 784), (4000, 784), (40000, 784))


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


def spanwise_step(x, y, w, device, takes_numpy=False):
    """A compiled graph whose updates come from T.grad, called with arrays on `device`, or with the
    arrays of NumPy."""
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
    if takes_numpy:
        return lambda: step(x, y)
    arrays = sw.asarray(x, device=device), sw.asarray(y, device=device)
    return lambda: step(*arrays)


def by_hand(xp, x, y, w):
    """The step in the functions of NumPy or CuPy, `xp`."""
    x, y, w = xp.asarray(x), xp.asarray(y), xp.array(w)
    state = [w, xp.zeros((), "float32")]

    def step():
        w, b = state
        z = x @ w + b
        with np.errstate(over="ignore"):
            p = 1 / (1 + xp.exp(-z))
        xent = xp.logaddexp(0, z) - y * z
        error = (p - y) / np.float32(len(y))
        state[0] = w - np.float32(RATE) * (x.T @ error + np.float32(2 * DECAY) * w)
        state[1] = b - np.float32(RATE) * error.sum()
        return p > 0.5, xent

    return step


def torch_steps(x, y, w, device):
    """By name: with autograd, with the gradient written by hand and torch.compile, and on a GPU as
    a CUDA graph."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

    x, y, w = (torch.from_numpy(a.copy()).to(device) for a in (x, y, w))

    def eager():
        weights, b = w.clone().requires_grad_(), torch.zeros((), device=device, requires_grad=True)

        def step():
            z = x @ weights + b
            xent = cross_entropy(z, y, reduction="none")
            cost = xent.mean() + DECAY * (weights**2).sum()
            gw, gb = torch.autograd.grad(cost, [weights, b])
            with torch.no_grad():
                weights.sub_(gw, alpha=RATE)
                b.sub_(gb, alpha=RATE)
            return z > 0, xent

        return step

    @torch.no_grad()
    def update(weights, b):
        z = x @ weights + b
        error = (torch.sigmoid(z) - y) / len(y)
        gw = x.T @ error + 2 * DECAY * weights
        xent = cross_entropy(z, y, reduction="none")
        return weights - RATE * gw, b - RATE * error.sum(), z > 0, xent

    def compiled():
        state = [w.clone(), torch.zeros((), device=device)]
        call = torch.compile(update, dynamic=False)

        def step():
            state[0], state[1], label, xent = call(*state)
            return label, xent

        step()
        state[:] = w.clone(), torch.zeros((), device=device)
        return step

    def graph():
        weights, b = w.clone(), torch.zeros((), device=device)
        update(weights, b)  # allocates the workspace of cuBLAS
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            new_weights, new_b, label, xent = update(weights, b)
            weights.copy_(new_weights)
            b.copy_(new_b)

        def step():
            captured.replay()
            return label, xent

        step.state = weights, b  # the graph does not keep its inputs alive
        return step

    steps = {"PyTorch": eager()}
    is_cuda = torch.device(device).type == "cuda"
    if is_cuda or len(y) == SIZES[0][0]:  # compiling for the CPU takes half a minute
        try:
            steps["torch.compile"] = compiled()
        except Exception as error:  # it needs a compiler and Triton
            print(f"torch.compile is left out: {str(error).splitlines()[0][:100]}")
    if is_cuda:
        steps["PyTorch, CUDA graph"] = graph()
    return steps


def jax_step(x, y, w, device):
    """The step, and a function that waits for the last one."""
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

    return step, lambda: jax.block_until_ready(state[0])


def pytensor_step(x, y, w):
    import pytensor
    import pytensor.tensor as pt

    inputs, labels = pt.fmatrix("x"), pt.fvector("y")
    weights, bias = pytensor.shared(w.copy(), "w"), pytensor.shared(np.float32(0), "b")
    z = pt.dot(inputs, weights) + bias
    xent = pt.softplus(z) - labels * z
    cost = xent.mean() + np.float32(DECAY) * (weights**2).sum()
    rate = np.float32(RATE)
    updates = {v: (v - rate * pytensor.grad(cost, v)).astype("float32") for v in (weights, bias)}
    step = pytensor.function([inputs, labels], [z > 0, xent], updates=updates)
    return lambda: step(x, y)


def lines(device, steps_of_peers, goals):
    """Yields a Result for each of SIZES.

    `steps_of_peers(x, y, w)` gives, by name, a step and a function that waits for queued work, or
    None; `goals` are by number of rows.
    """
    is_cpu = sw.device(device).kind == "cpu"
    for rows, columns in SIZES:
        arguments = data(rows, columns)
        wait = None if is_cpu else lambda: sw.synchronize(device)
        steps = {"Spanwise": (spanwise_step(*arguments, device), wait)}
        if is_cpu:
            steps["Spanwise, NumPy inputs"] = spanwise_step(*arguments, device, True), None
        steps.update(steps_of_peers(*arguments))
        expected = by_hand(np, *arguments)()[1]
        for name, (step, _) in steps.items():
            # On a GPU JAX multiplies in TF32, whose significand has 10 bits after the point.
            tolerance = 1e-1 if name.startswith("JAX") and not is_cpu else 2e-4
            np.testing.assert_allclose(
                to_numpy(step()[1]), expected, rtol=tolerance, atol=tolerance, err_msg=name
            )
        times = max(1, 4000 // rows) if is_cpu else 200
        figures = interleave(
            {name: run_of(step, times, wait) for name, (step, wait) in steps.items()},
            seconds=0.02,
            rounds=21,
            pause=0.12 if is_cpu else 0,
        )
        yield Result(
            f"training step of logistic regression, {rows} x {columns} float32, {device}",
            "Spanwise",
            {name: Contender([s / times for s in c.seconds]) for name, c in figures.items()},
            goal=goals.get(rows),
        )


def run_of(step, times, wait):
    """A function that runs the step `times` times and then waits."""

    def run():
        for _ in range(times):
            step()
        if wait is not None:
            wait()

    return run


def peers_on_cpu(x, y, w):
    steps = {"NumPy by hand": (by_hand(np, x, y, w), None)}
    if installed("torch"):
        steps.update({name: (step, None) for name, step in torch_steps(x, y, w, "cpu").items()})
    if installed("jax"):
        import jax

        steps["JAX, compiled"] = jax_step(x, y, w, jax.devices("cpu")[0])
    if installed("pytensor"):
        steps["PyTensor"] = pytensor_step(x, y, w), None
    return steps


def peers_on_gpu(x, y, w):
    steps = {}
    if installed("torch"):
        import torch

        if torch.cuda.is_available():
            for name, step in torch_steps(x, y, w, "cuda:0").items():
                steps[name] = step, torch.cuda.synchronize
    if installed("jax"):
        import jax

        if jax.default_backend() != "cpu":
            steps["JAX, compiled"] = jax_step(x, y, w, jax.devices()[0])
    if installed("cupy"):
        import cupy

        steps["CuPy by hand"] = by_hand(cupy, x, y, w), cupy.cuda.runtime.deviceSynchronize
    return steps


def to_numpy(result):
    """A result of any of the libraries as a NumPy array."""
    if hasattr(result, "detach"):
        result = result.detach().cpu()
    if hasattr(result, "get"):
        return result.get()
    return np.asarray(result.numpy() if hasattr(result, "numpy") else result)
