# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""__array_priority__ of operands, and Dask arrays as operands."""

import operator
import subprocess
import sys

import numpy as np
import pytest
from python.array.lazy_arrays import CALLS, Lazy

import spanwise as sw


@pytest.fixture
def array(device):
    return sw.array(np.arange(3.0), device=device)


class Prioritized:
    """An operand that computes operators itself; without __array_priority__ if `priority` is None."""

    def __init__(self, priority):
        if priority is not None:
            type(self).__array_priority__ = priority

    __radd__ = __eq__ = __ne__ = __lt__ = __gt__ = __rmatmul__ = Lazy._answer


@pytest.mark.parametrize("priority", [1000, 0.5, 0, -1, None])
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "gt", "add", "matmul"])
def test_operand_of_higher_priority_computes_the_operation(array, priority, name):
    operand_type = type("Operand", (Prioritized,), {})  # __init__ sets an attribute of the class
    other = operand_type(priority)
    function = getattr(operator, name)
    if priority is not None and priority > 0:
        assert function(array, other) == "answered" == function(np.arange(3.0), other)
    elif name in ("eq", "ne"):  # no operand equals no element
        assert function(array, other).tolist() == [name == "ne"] * 3
    if name in ("eq", "ne"):
        assert function(other, array) == "answered"


def test_a_bridged_array_of_higher_priority_is_an_operand(array):
    if array.device.kind != "cpu":
        pytest.skip("arrays on a GPU do not mix with NumPy's")

    class Matrix(np.ndarray):
        __array_priority__ = 1000

    assert type(array + np.arange(3.0).view(Matrix)) is sw.Array


UNREGISTERED = """
import dask.array as da, spanwise as sw
try:
    sw.zeros(3, device="cpu") + da.arange(3, chunks=2)
except TypeError as error:
    print(error)
"""


def test_operators_on_dask_arrays_are_refused_before_spanwise_dask_is_imported():
    pytest.importorskip("dask.array")
    command = [sys.executable, "-c", UNREGISTERED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "unsupported operand" in done.stdout, done.stderr


def test_dask_arrays_are_computed_by_asarray_only(array):
    da = pytest.importorskip("dask.array")
    lazy = da.arange(3, chunks=2)
    for call in (CALLS["sum"], CALLS["add"], CALLS["kernel"], CALLS["concatenate"]):
        with pytest.raises(TypeError, match="map_blocks"):
            call(array, lazy)
    assert sw.asarray(lazy).tolist() == [0, 1, 2]
    total = lazy.map_blocks(lambda block: sw.asarray(block).numpy() * 2).sum()
    assert total.compute() == 6


REGISTERED = """
import numpy as np, dask.array as da, spanwise as sw
da.register_chunk_type(sw.Array)
a = sw.asarray(np.arange(3.0), device="cpu")
for result in (a + da.ones(3, chunks=2), da.ones(3, chunks=2) + a, a @ da.ones((3, 2), chunks=2)):
    assert type(result) is da.Array, type(result)
print(np.asarray((a + da.ones(3, chunks=2)).compute()).tolist())
"""


def test_dask_computes_with_registered_arrays():
    pytest.importorskip("dask.array")
    done = subprocess.run(
        [sys.executable, "-c", REGISTERED], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[1.0, 2.0, 3.0]\n", done.stderr
