# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The overhead of graphs on the CPU: a call, an input, a node, compiling, pickling; and exp of
230400 elements, the loop of the "Using the GPU" page of Theano's tutorial."""

import pickle
import time

import numpy as np
from harness import Call, Contender, Result, installed, interleave

import spanwise as sw

SMALL = 16


def chain(x, length, op):
    """op(op(...(x))), with `length` nodes."""
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


def input_lines():
    """The additional time of a NumPy input, for several sizes."""
    x = sw.tensor.fmatrix("x")
    f = sw.function([x], x[0, :4], device="cpu")
    for shape in ((4, 5), (1000, 1000)):
        theirs = np.ones(shape, "float32")
        figures = interleave(
            {"NumPy's": Call(f, theirs), "ours": Call(f, sw.asarray(theirs, device="cpu"))},
            seconds=0.005,
            rounds=41,
        )
        rows, columns = shape
        yield Result(
            f"call of a compiled function with an input of {rows} x {columns} float32",
            "NumPy's",
            figures,
            goal=("over", "ours", 1e-6),
        )


def op_lines(x, values):
    """Functions of one op: the additional time compared with the call on arrays."""
    ops = {
        "sum": lambda a: a.sum(),
        "slice": lambda a: a[1:],
        "index array": lambda a: a[[3, 1, 2]],
    }
    indices = sw.array([3, 1, 2], device="cpu")
    eager = {
        "sum": values.sum,
        "slice": lambda: values[1:].copy(),  # a result shares no memory with an input
        "index array": lambda: values[indices],
    }
    for name, op in ops.items():
        f = sw.function([x], op(x), device="cpu")
        figures = interleave(
            {"compiled function": Call(f, values), "on the array": eager[name]},
            seconds=0.005,
            rounds=41,
        )
        yield Result(
            f"call of a compiled function of one {name} on the CPU, 16 float32",
            "compiled function",
            figures,
            goal=("over", "on the array", 0.6e-6),
        )


def node_line(x, values):
    """The time per node: the difference between a long and a short chain, over their difference in
    length."""
    lengths = 8, 72
    # The op contiguous does nothing for a contiguous input, so only the overhead is measured.
    functions = [sw.function([x], chain(x, n, sw.contiguous) + 1, device="cpu") for n in lengths]
    figures = interleave(
        {"short": lambda: functions[0](values), "long": lambda: functions[1](values)},
        seconds=0.004,
        rounds=61,
    )
    nodes = lengths[1] - lengths[0]
    pairs = zip(figures["short"].seconds, figures["long"].seconds, strict=True)
    per_node = Contender([(long - short) / nodes for short, long in pairs])
    yield Result(
        "each further node of a function on the CPU",
        "a node",
        {"a node": per_node},
        goal=("at most", None, 80e-9),
    )


def alternating(x, nodes, exp):
    """A graph of `nodes` nodes that alternate between exp and addition, no two of them equal."""
    y = x
    for i in range(nodes):
        y = y + x if i % 2 else exp(y)
    return y


def seconds_of(function, rounds):
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return Contender(seconds)


def pytensor_seconds(nodes):
    """PyTensor in its fastest mode: without fusion, C compiler or LLVM."""
    import pytensor

    x = pytensor.tensor.vector("x", dtype="float32")
    y = alternating(x, nodes, pytensor.tensor.exp)
    return seconds_of(lambda: pytensor.function([x], y, mode="FAST_COMPILE"), 5)


def compile_line(nodes, limit, peers=False):
    x = sw.tensor.fvector("x")
    y = alternating(x, nodes, sw.exp)
    rounds = 5 if nodes <= 10_000 else 1
    figures = {"compile": seconds_of(lambda: sw.function([x], y, device="cpu"), rounds)}
    if peers and installed("pytensor"):
        figures["pytensor"] = pytensor_seconds(nodes)
    yield Result(
        f"compiling a function of {nodes} nodes",
        "compile",
        figures,
        goal=("at most", None, limit),
    )


def pickle_line(nodes):
    """Pickling a graph and unpickling it, without a peer."""
    x = sw.tensor.fvector("x")
    y = alternating(x, nodes, sw.exp)
    yield Result(
        f"pickling and unpickling a graph of {nodes} nodes",
        "pickle",
        {"pickle": seconds_of(lambda: pickle.loads(pickle.dumps([x, y])), 3)},
    )


def exp_line(dtype):
    # Size and seed of the tutorial's script.
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
    yield from input_lines()
    yield from op_lines(x, values)
    yield from node_line(x, values)
    yield from compile_line(1000, 0.150, peers=True)
    yield from compile_line(10_000, 1.5)
    yield from compile_line(100_000, 15.0)
    yield from pickle_line(10_000)
    for dtype in ("float32", "float64"):
        yield from exp_line(dtype)
