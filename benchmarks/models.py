# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Models, written once, by Spanwise's compiled functions, PyTorch (calls, torch.compile, CUDA graphs)
and JAX: steps of training, gradients, and functions of rows."""

import contextlib
import dataclasses
import functools
import itertools
import warnings
from collections.abc import Callable

import numpy as np
from harness import Result, installed, interleave

import spanwise as sw
from spanwise import tensor

RATE = 0.1
OURS = "compiled function"


@dataclasses.dataclass(frozen=True)
class Model:
    """`function(library, parameters, *inputs)` is a number if there are parameters, whose gradients are
    then taken, and with `updates` subtracted; else an array."""

    name: str
    function: Callable
    inputs: list[np.ndarray]
    parameters: list[np.ndarray] = dataclasses.field(default_factory=list)
    updates: bool = False
    tf32: bool = False  # products of float32 on a GPU


@contextlib.contextmanager
def precision(model):
    """All libraries multiply in one precision: by default JAX uses TF32 on a GPU, the others do not."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(sw.config.change(allow_tf32=model.tf32))
        if installed("torch"):
            import torch

            torch.set_float32_matmul_precision("high" if model.tf32 else "highest")
        if installed("jax"):
            import jax

            stack.enter_context(
                jax.default_matmul_precision("tensorfloat32" if model.tf32 else "highest")
            )
        yield


def measure_on(device, models):
    """A line for each model, with the best peer's ratio as its goal."""
    for model in models:
        with precision(model):
            yield _measured(model, device)


def _measured(model, device):
    ours = spanwise_call(model, device)
    calls, waits = {OURS: ours}, {OURS: lambda: sw.synchronize(device)}
    for name, make in peers(device).items():
        try:
            calls[name], waits[name] = make(model, device)
        except Exception as error:
            warnings.warn(f"{name} is left out of {model.name}: {error}", stacklevel=1)
    timed = {name: _waited(call, waits[name]) for name, call in calls.items()}
    figures = interleave(timed, rounds=9, seconds=0.03, pause=0.1 if device == "cpu" else 0)
    best = min((n for n in figures if n != OURS), key=lambda n: figures[n].median, default=None)
    return Result(
        f"{model.name} on {device}", OURS, figures, goal=("ratio", best, 1.0) if best else None
    )


def _waited(call, wait):
    def run():
        call()
        wait()

    return run


# ---- The models


def random(*shape, scale=1.0):
    values = np.random.default_rng(sum(shape)).standard_normal(shape) * scale
    return values.astype(np.float32)


def mlp(batch, sizes=(784, 512, 512, 10), tf32=False):
    def cost(library, parameters, x, labels):
        weights, biases = parameters[::2], parameters[1::2]
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            x = library.relu(x @ w + b)
        rows = library.log_softmax(x @ weights[-1] + biases[-1])
        return -library.picked(rows, labels).mean()

    parameters = []
    for before, after in itertools.pairwise(sizes):
        parameters += [random(before, after, scale=0.05), np.zeros(after, np.float32)]
    labels = np.arange(batch, dtype=np.int32) % sizes[-1]
    name = f"step of an MLP {'-'.join(map(str, sizes))}, batch of {batch}"
    name += ", TF32" if tf32 else ""
    inputs = [random(batch, sizes[0]), labels]
    return Model(name, cost, inputs, parameters, updates=True, tf32=tf32)


def lstm(steps, size, batch=32):
    def cost(library, parameters, x):
        w, u, b = parameters
        h = c = x[0] * 0
        for step in range(steps):
            z = x[step] @ w + h @ u + b
            i, f, o, g = (z[:, k * size : (k + 1) * size] for k in range(4))
            c = library.sigmoid(f) * c + library.sigmoid(i) * library.tanh(g)
            h = library.sigmoid(o) * library.tanh(c)
        return (h * h).sum()

    weights = [random(size, 4 * size, scale=0.05) for _ in range(2)]
    name = f"gradient of an LSTM, {steps} steps of {batch} x {size}"
    return Model(
        name, cost, [random(steps, batch, size)], [*weights, np.zeros(4 * size, np.float32)]
    )


def layer_norm(rows, columns):
    def normalised(library, _, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / library.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)

    return Model(f"layer norm of {rows} x {columns}", normalised, [random(rows, columns)])


def softmax(rows, columns):
    def function(library, _, x):
        return library.softmax(x)

    return Model(f"softmax of {rows} x {columns}", function, [random(rows, columns)])


def pairwise(points, axes):
    def distances(library, _, x, y):
        return library.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(-1))

    inputs = [random(points, axes), random(points + 1, axes)[:-1].copy()]
    return Model(f"distances of {points} x {points} points of {axes} axes", distances, inputs)


def squares(size):
    def total(_, __, x, y):
        return ((x - y) ** 2).sum()

    return Model(f"sum of {size} squares of differences", total, [random(size), random(size)])


# ---- The libraries


class _Spanwise:
    relu = staticmethod(lambda x: tensor.maximum(x, 0))
    log_softmax = staticmethod(lambda x: tensor.log_softmax(x, axis=-1))
    softmax = staticmethod(lambda x: tensor.softmax(x, axis=-1))
    picked = staticmethod(lambda rows, labels: rows[tensor.arange(labels.shape[0]), labels])
    sigmoid, tanh, sqrt = tensor.sigmoid, tensor.tanh, tensor.sqrt


def spanwise_function(model, device):
    """The compiled function of a model, and its arguments on the device."""
    arrays = [sw.asarray(x, device=device) for x in model.inputs]
    inputs = [tensor.tensor(str(x.dtype), (None,) * x.ndim) for x in model.inputs]
    parameters = [sw.shared(p, target=device) for p in model.parameters]
    outputs, updates = model.function(_Spanwise, parameters, *inputs), {}
    if parameters:
        gradients = tensor.grad(outputs, parameters)
        if model.updates:
            updates = {p: p - RATE * g for p, g in zip(parameters, gradients, strict=True)}
        else:
            outputs = [outputs, *gradients]
    return sw.function(inputs, outputs, updates=updates, device=device), arrays


def spanwise_call(model, device):
    function, arrays = spanwise_function(model, device)
    return functools.partial(function, *arrays)


def peers(device):
    """By name: a function of a model and a device that gives a call and a wait."""
    found = {}
    if installed("torch"):
        found |= {"torch": _torch_call, "torch.compile": _torch_compiled}
        if device != "cpu":
            found["torch, CUDA graph"] = _torch_graph
    if installed("jax"):
        found["jax.jit"] = _jax_call
    return found


def _torch_step(model, device):
    import torch

    class Library:
        relu, sigmoid, tanh, sqrt = torch.relu, torch.sigmoid, torch.tanh, torch.sqrt
        softmax = functools.partial(torch.softmax, dim=-1)
        log_softmax = functools.partial(torch.log_softmax, dim=-1)
        picked = staticmethod(lambda r, y: r[torch.arange(len(y), device=r.device), y])

    where = device.replace("cpu:0", "cpu")
    inputs = [torch.from_numpy(x).to(where) for x in model.inputs]
    inputs = [x.long() if x.dtype == torch.int32 else x for x in inputs]
    parameters = [torch.from_numpy(p.copy()).to(where).requires_grad_() for p in model.parameters]

    def step(*arrays):
        value = model.function(Library, parameters, *arrays)
        if not parameters:
            return value
        gradients = torch.autograd.grad(value, parameters)
        if not model.updates:
            return value, gradients
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.sub_(RATE * gradient)
        return value

    return step, inputs, torch.cuda.synchronize if device != "cpu" else lambda: None


def _torch_call(model, device):
    step, inputs, wait = _torch_step(model, device)
    return functools.partial(step, *inputs), wait


def _torch_compiled(model, device):
    import torch

    step, inputs, wait = _torch_step(model, device)
    call = functools.partial(torch.compile(step), *inputs)
    call()
    return call, wait


def _torch_graph(model, device):
    import torch

    step, inputs, wait = _torch_step(model, device)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(*inputs)
    torch.cuda.synchronize()
    graph, held = torch.cuda.CUDAGraph(), [x.clone() for x in inputs]
    with torch.cuda.graph(graph):
        step(*held)

    def call():
        for to, x in zip(held, inputs, strict=True):
            to.copy_(x)
        graph.replay()

    return call, wait


def _jax_call(model, device):
    import jax
    from jax import numpy as jnp

    class Library:
        relu, sigmoid, tanh, sqrt = jax.nn.relu, jax.nn.sigmoid, jnp.tanh, jnp.sqrt
        softmax, log_softmax = jax.nn.softmax, jax.nn.log_softmax
        picked = staticmethod(lambda rows, labels: rows[jnp.arange(len(labels)), labels])

    if (device == "cpu") != (jax.default_backend() == "cpu"):
        raise RuntimeError(f"JAX runs on {jax.default_backend()}")
    inputs = [jax.device_put(x) for x in model.inputs]
    state = [[jax.device_put(p) for p in model.parameters], None]

    def step(parameters, *arrays):
        if not parameters:
            return parameters, model.function(Library, parameters, *arrays)
        cost = functools.partial(model.function, Library)
        value, gradients = jax.value_and_grad(cost)(parameters, *arrays)
        if not model.updates:
            return parameters, (value, gradients)
        return [p - RATE * g for p, g in zip(parameters, gradients, strict=True)], value

    compiled = jax.jit(step, donate_argnums=(0,) if model.updates else ())

    def call():
        parameters, state[1] = compiled(state[0], *inputs)
        if model.updates:
            state[0] = parameters

    return call, lambda: jax.block_until_ready(state[1])
