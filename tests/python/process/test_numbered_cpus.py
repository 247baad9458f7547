# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""cpu:1 is the processor under another name: results of operations on its arrays are on cpu:1."""

import numpy as np
import pytest

import spanwise as sw

CALLS = {
    "sum": lambda x: x.sum(axis=0),
    "mean": lambda x: x.mean(),
    "argmax": lambda x: x.argmax(axis=1),
    "count_nonzero": lambda x: sw.count_nonzero(x),
    "count_nonzero over an axis": lambda x: sw.count_nonzero(x, axis=0),
    "cumsum": lambda x: x.cumsum(),
    "repeat": lambda x: sw.repeat(x, 2),
    "repeat by counts": lambda x: sw.repeat(x, [1, 2, 3], axis=0),
    "tile": lambda x: sw.tile(x, (2, 2)),
    "concatenate": lambda x: sw.concatenate([x, x.T.copy().T]),
    "concatenate flattened": lambda x: sw.concatenate([x, x], axis=None),
    "stack": lambda x: sw.stack([x, x]),
    "append": lambda x: sw.append(x, x),
    "pad": lambda x: sw.pad(x, 1),
    "take": lambda x: sw.take(x, [0, 1], axis=1),
    "index by a list": lambda x: x[[0, 1]],
    "index by a mask": lambda x: x[x > 3],
    "nonzero": lambda x: sw.nonzero(x)[0],
    "nonzero of one axis": lambda x: sw.nonzero(x.reshape(-1))[0],
    "matmul": lambda x: x @ x.T,
    "add": lambda x: x + 1,
    "median": lambda x: sw.median(x, axis=0),
    "sort": lambda x: sw.sort(x, descending=True),
    "interp": lambda x: sw.interp(x[0], x[0], x[1]),
    "inv": lambda x: sw.linalg.inv(x @ x.T + sw.eye(3, device="cpu:1")),
    "numpy.percentile": lambda x: np.percentile(x, [20, 50]),
    "numpy.spacing": lambda x: np.spacing(x),
    "delete": lambda x: sw.delete(x[0], 0),
    "ElementwiseKernel": sw.ElementwiseKernel("T x", "T z", "z = x", "numbered"),
    "ReductionKernel": sw.ReductionKernel("T x", "T z", "x", "a + b", "z = a", "0", "numbered"),
    "ScanKernel": lambda x: sw.ScanKernel("float64", "a + b")(x[0], "new"),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_on_the_operands_device(name):
    values = np.arange(12.0).reshape(3, 4)
    on_cpu_1 = CALLS[name](sw.array(values, device="cpu:1"))
    on_cpu = CALLS[name](sw.array(values, device="cpu"))
    assert (str(on_cpu_1.device), str(on_cpu.device)) == ("cpu:1", "cpu")
    np.testing.assert_array_equal(on_cpu_1.numpy(), on_cpu.numpy())
