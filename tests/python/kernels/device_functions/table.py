# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates expressions of CUDA C for many inputs by one kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from support.arrays import poisoned

import spanwise as sw

TYPES = {
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}


@dataclass(frozen=True)
class Function:
    """`code`, an expression of inputs x, y, z and of the index i, has the values of `reference`.

    `names` are the device functions that it tests.
    """

    names: tuple[str, ...]
    code: str
    reference: Callable[..., object]
    result: str
    ulps: float = 0

    def __str__(self) -> str:
        return self.names[0]


def function(name, arguments, reference, result, ulps=0.0, names=()):
    code = f"{name}({', '.join('xyz'[:arguments])})"
    return Function((name, *names), code, reference, result, ulps)


def evaluate(functions, inputs, device, prelude=""):
    """The results of each function for arrays x, y, z: one kernel evaluates all."""
    count = len(inputs[0])
    letters = "xyz"[: len(inputs)]
    dtypes = [np.dtype(array.dtype).name for array in inputs]
    parameters = [f"const {TYPES[t]}* in_{c}" for c, t in zip(letters, dtypes, strict=True)]
    parameters += [f"{TYPES[f.result]}* out_{k}" for k, f in enumerate(functions)]
    loads = "".join(f"  const auto {c} = in_{c}[i];\n" for c in letters)
    stores = "".join(f"  out_{k}[i] = {f.code};\n" for k, f in enumerate(functions))
    source = (
        f"{prelude}\n__global__ void k({', '.join(parameters)}, int n) {{\n"
        f"  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        f"{loads}{stores}}}\n"
    )
    outputs = [poisoned(count, f.result, device) for f in functions]
    kernel = sw.SourceModule(source, device=device).get_function("k")
    arrays = [sw.array(array, device=device) for array in inputs]
    kernel(*arrays, *outputs, np.int32(count), block=128, grid=-(-count // 128))
    return [np.asarray(output.get()) for output in outputs]


def compare(tested, got, expected, inputs):
    """Compares one function; errors of floating-point results are in units of the last place."""
    name = tested.names[0]
    if got.dtype.kind != "f":
        bits = 8 * got.dtype.itemsize
        assert [int(v) % 2**bits for v in got] == [int(v) % 2**bits for v in expected], name
        return
    expected = np.array(expected)
    with np.errstate(all="ignore"):
        rounded = expected.astype(got.dtype)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        if tested.ulps == 0:
            same &= (np.signbit(got) == np.signbit(rounded)) | np.isnan(rounded)
            distance = np.where(same, 0, np.inf)
        else:
            error = np.abs(got.astype(expected.dtype) - expected)
            distance = np.where(same, 0, error / np.spacing(np.abs(rounded)))
    worst = int(np.argmax(distance))
    where = [array[worst] for array in inputs]
    assert distance[worst] <= tested.ulps, (name, where, got[worst], expected[worst])


def check(functions, inputs, device, prelude=""):
    for tested, got in zip(functions, evaluate(functions, inputs, device, prelude), strict=True):
        with np.errstate(all="ignore"):
            expected = [tested.reference(*row) for row in zip(*inputs, strict=True)]
        compare(tested, got, expected, inputs)
