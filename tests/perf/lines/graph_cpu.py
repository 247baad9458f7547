# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What a graph costs on the CPU: a call, a node, an update, compiling; and the tutorial's exp loops."""

import time

import numpy as np
from harness import Contender, Result, interleave

import spanwise as sw

SMALL = 16


def chain(x, length, op):
    for _ in range(length):
        x = op(x)
    return x


def call_lines(x, values):
    out = sw.empty(SMALL, dtype="float32", device="cpu")
    f = sw.function([x], sw.exp(x), device="cpu")
    w = sw.shared(np.ones(SMALL, "float32"), target="cpu")
    step = sw.function([], updates={w: w + 1}, device="cpu")
    figures = interleave(
        {
            "compiled function": lambda: f(values),
            "the op itself": lambda: sw.exp(values, out=out),
            "update of a shared variable": step,
        },
        seconds=0.005,
        rounds=41,
    )
    yield Result(
        "call of a compiled one-node function on the CPU, 16 float32",
        "compiled function",
        figures,
        goal=("over", "the op itself", 0.6e-6),
    )


def node_line(x, values):
    lengths = 8, 72
    # Contiguous only looks at its input, so that what is left is the graph's own.
    functions = [sw.function([x], chain(x, n, sw.contiguous) + 1, device="cpu") for n in lengths]
    figures = interleave(
        {"short": lambda: functions[0](values), "long": lambda: functions[1](values)},
        seconds=0.004,
        rounds=61,
    )
    nodes = lengths[1] - lengths[0]
    pairs = zip(figures["short"].seconds, figures["long"].seconds, strict=True)
    each = Contender([(long - short) / nodes for short, long in pairs])
    yield Result(
        "each further node of a function on the CPU",
        "a node",
        {"a node": each},
        goal=("at most", None, 80e-9),
    )


def compile_line(nodes, limit):
    x = sw.tensor.fvector("x")
    y = x
    for i in range(nodes):
        y = y + x if i % 2 else sw.exp(y)
    seconds = []
    for _ in range(5 if nodes <= 10_000 else 1):
        start = time.perf_counter()
        sw.function([x], y, device="cpu")
        seconds.append(time.perf_counter() - start)
    yield Result(
        f"compiling a function of {nodes} nodes",
        "compile",
        {"compile": Contender(seconds)},
        goal=("at most", None, limit),
    )


def exp_line(dtype):
    values = np.random.RandomState(22).rand(10 * 30 * 768).astype(dtype)
    x = sw.shared(values, target="cpu")
    f = sw.function([], sw.exp(x), device="cpu")
    figures = interleave({"compiled function": f, "numpy": lambda: np.exp(values)})
    yield Result(
        f"exp of 230400 {dtype} shared values",
        "compiled function",
        figures,
        goal=("ratio", "numpy", 0.6),
    )


def measure():
    x = sw.tensor.fvector("x")
    values = sw.ones(SMALL, dtype="float32", device="cpu")
    yield from call_lines(x, values)
    yield from node_line(x, values)
    yield from compile_line(1000, 0.150)
    yield from compile_line(10_000, 1.5)
    yield from compile_line(100_000, 15.0)
    for dtype in ("float32", "float64"):
        yield from exp_line(dtype)
