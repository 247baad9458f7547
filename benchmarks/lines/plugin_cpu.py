# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The overhead of a plug-in op on the CPU: a call of a function of one, and each further node."""

import ctypes
import pathlib
import tempfile

import numpy as np
from harness import Contender, Result, interleave
from native import compile_into

import spanwise as sw

SMALL = 16
REPEATS = 1000  # direct calls per measurement: a call from Python would take a hundred times as long as the op
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "sdk" / "include"


def function_of(op, nodes):
    x = y = sw.tensor.fvector("x")
    for _ in range(nodes):
        y = op(y)
    return sw.function([x], y, device="cpu")


def call_line(op, library, values):
    f = function_of(op, 1)
    np.testing.assert_array_equal(f(values), np.full(SMALL, 2, "float32"))
    direct = ctypes.CDLL(str(library)).increment_repeatedly
    out = sw.empty(SMALL, dtype="float32", device="cpu")
    arguments = (
        *(ctypes.c_void_p(array.ptr) for array in (values, out)),
        *map(ctypes.c_int64, (SMALL, REPEATS)),
    )
    figures = interleave(
        {"compiled function": lambda: f(values), "the op itself": lambda: direct(*arguments)},
        seconds=0.005,
        rounds=61,
    )
    itself = figures["the op itself"].seconds
    figures["the op itself"] = Contender([seconds / REPEATS for seconds in itself])
    yield Result(
        "call of a function of one op out of the tree on the CPU, 16 float32",
        "compiled function",
        figures,
        goal=("over", "the op itself", 0.6e-6),
    )


def node_line(op, values):
    lengths = 8, 72
    short, long = (function_of(op, nodes) for nodes in lengths)
    figures = interleave(
        {"short": lambda: short(values), "long": lambda: long(values)}, seconds=0.004, rounds=61
    )
    pairs = zip(figures["short"].seconds, figures["long"].seconds, strict=True)
    per_node = [(many - few) / (lengths[1] - lengths[0]) for few, many in pairs]
    yield Result(
        "each further node of an op out of the tree on the CPU, its work included",
        "a node",
        {"a node": Contender(per_node)},
        goal=("at most", None, 80e-9),
    )


def measure():
    with tempfile.TemporaryDirectory() as folder:
        library = compile_into(folder, "plugin_ops", "-std=c++20", f"-I{INCLUDE}")
        op = sw.load_ops(library).increment
        values = sw.ones(SMALL, dtype="float32", device="cpu")
        yield from call_line(op, library, values)
        yield from node_line(op, values)
