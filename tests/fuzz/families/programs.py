# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Bodies of several operations: fused graph functions and ElementwiseKernel, over any layouts.

Each operation is rounded by itself, so every value has to equal NumPy's. Programs and kernels are
drawn from a fixed number, since each is compiled for each layout that it meets. The kinds of values,
such as "mild", are those of tests/fuzz/values.py.
"""

import functools
import random

import numpy as np

import spanwise as sw

from ..values import BOOL

_PROGRAMS = 48
_REALS = [np.dtype(name) for name in ("float32", "float64", "int32", "uint8")]
_DTYPES = [*_REALS, np.dtype("complex64"), np.dtype("int64")]


# ---- Fused functions ----


def _program(number):
    """(dtypes of the inputs, a function of arrays or variables and their `where` and `cast`).

    Steps: "+", "-" and "*" of two values; "n", y - cast(x, "float32"); "<", where(x < y, y, z); "c",
    a cast to int16 or float64.
    """
    r = random.Random(number)
    dtypes = [r.choice(_REALS) for _ in range(r.randint(1, 4))]
    steps = []
    for k in range(r.randint(2, 14)):
        values = len(dtypes) + k
        steps.append((r.choice("++--**n<c"), [r.randrange(values) for _ in range(3)], r.random()))
    outputs = sorted(r.sample(range(len(steps)), r.randint(1, min(4, len(steps)))))

    def compute(inputs, where, cast):
        values = list(inputs)
        for op, (a, b, c), u in steps:
            x, y, z = values[a], values[b], values[c]
            if op == "n":
                values.append(y - cast(x, "float32"))
            elif op == "<":
                values.append(where(cast(x, "float64") < cast(y, "float64"), y, z))
            elif op == "c":
                narrow = u < 0.5 and _is_integer(x)
                values.append(cast(x, "int16" if narrow else "float64"))
            else:
                values.append(x + y if op == "+" else x - y if op == "-" else x * y)
        return [values[len(dtypes) + k] for k in outputs]

    return dtypes, compute


def _is_integer(value):
    return np.dtype(str(value.dtype)).kind in "iu"


@functools.cache
def _function(number, rank, device):
    dtypes, compute = _program(number)
    inputs = [sw.TensorType(d.name, (False,) * rank)() for d in dtypes]
    results = compute(inputs, sw.where, lambda x, dtype: x.astype(dtype))
    return sw.function(inputs, results, device=device, on_unused_input="ignore")


def _fused(context):
    number = int(context.r.random() * _PROGRAMS)
    dtypes, compute = _program(number)
    shape = context.shape()
    operands = [context.array(d, shape, "mild") for d in dtypes]
    context.note(program=number)
    function = _function(number, len(shape), str(context.device))

    def theirs():
        with np.errstate(all="ignore"):
            return compute([o.theirs for o in operands], np.where, lambda x, dtype: x.astype(dtype))

    context.check(
        "fused function",
        lambda: list(function(*(o.ours for o in operands))),
        theirs,
    )


# ---- ElementwiseKernel ----


@functools.cache
def _kernel(name):
    return {
        "sums": lambda: sw.ElementwiseKernel(
            "T x, T y", "T z, T v", "z = x + y; v = x - y", "sums"
        ),
        "choice": lambda: sw.ElementwiseKernel("T x, bool m", "T z", "if (m) z = x", "choice"),
        "index": lambda: sw.ElementwiseKernel("T x", "T z, int64 k", "z = x; k = i", "index"),
        "returns": lambda: sw.ElementwiseKernel(
            "T x, bool m", "T z, T v", "v = x; if (m) return; z = z - x", "returns"
        ),
        "mirror": lambda: sw.ElementwiseKernel(
            "int *z, const int *x", "z[i] = x[i] ^ x[n - 1 - i]", "mirror"
        ),
    }[name]()


def _sums(context, shape, dtype):
    y = context.array(dtype, shape, "mild")
    z = None
    if context.chance(0.3):
        x, z = context.overlapping(dtype, shape, kind="mild")
    else:
        x = context.array(dtype, context.broadcastable(shape), "mild")
    z = z or context.target(dtype, shape)
    v = context.target(dtype, shape)
    return [x, y, z, v], lambda: [x.theirs + y.theirs, x.theirs - y.theirs], [z, v]


def _choice(context, shape, dtype):
    x, m = context.array(dtype, context.broadcastable(shape)), context.array(BOOL, shape)
    z = context.target(dtype, shape)
    return [x, m, z], lambda: [np.where(m.theirs, x.theirs, z.theirs)], [z]


def _index(context, shape, dtype):
    x, z = context.array(dtype, shape), context.target(dtype, shape)
    k = context.target(np.dtype("int64"), shape)
    counted = np.arange(x.theirs.size).reshape(shape)
    return [x, z, k], lambda: [x.theirs, counted], [z, k]


def _returns(context, shape, dtype):
    x, m = context.array(dtype, shape, "mild"), context.array(BOOL, context.broadcastable(shape))
    z, v = (context.target(dtype, shape, kind="mild") for _ in "zv")
    return (
        [x, m, z, v],
        lambda: [np.where(m.theirs, z.theirs, z.theirs - x.theirs), x.theirs],
        [z, v],
    )


def _mirror(context, shape, dtype):
    x, z = context.array(np.dtype("int32"), shape), context.target(np.dtype("int32"), shape)
    return (
        [z, x],
        lambda: [x.theirs ^ x.theirs.reshape(-1)[::-1].reshape(shape)],
        [z],
    )


_KERNELS = {
    "sums": _sums,
    "choice": _choice,
    "index": _index,
    "returns": _returns,
    "mirror": _mirror,
}


def _user_kernel(context):
    name = context.pick(list(_KERNELS))
    arguments, values, outputs = _KERNELS[name](context, context.shape(), context.pick(_DTYPES))

    def theirs():
        with np.errstate(all="ignore"):
            results = [np.array(v) for v in values()]
        for output, value in zip(outputs, results, strict=True):
            np.copyto(output.theirs, value)

    def ours():
        _kernel(name)(*(operand.ours for operand in arguments))

    context.check(f"ElementwiseKernel {name}", ours, theirs)


def case(context):
    (_fused if context.chance(0.5) else _user_kernel)(context)
