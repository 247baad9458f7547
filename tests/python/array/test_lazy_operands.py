# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Lazy foreign arrays are not computed implicitly: operators return NotImplemented, other functions
raise."""

import operator

import numpy as np
import pytest
from python.array.lazy_arrays import CALLS, Lazy

import spanwise as sw


class Collection:
    """Like xarray.DataArray: lazy if it has a graph."""

    def __init__(self, graph):
        self.graph = graph
        self.compute_count = 0

    def __dask_graph__(self):
        return self.graph

    def __array__(self, dtype=None, copy=None):
        self.compute_count += 1
        return np.arange(3.0)

    def to_numpy(self):
        return self.__array__()

    __array_ufunc__ = Lazy.__array_ufunc__
    __radd__ = Lazy.__radd__


class Eager:
    """Implements __array_ufunc__ itself, like pandas.Series, and has its elements in memory."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(3.0)

    def to_numpy(self):
        return np.arange(3.0)

    __array_ufunc__ = Lazy.__array_ufunc__
    __radd__ = Lazy.__radd__


@pytest.fixture
def array(device):
    return sw.array(np.arange(3.0), device=device)


BINARY = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "matmul",
    "pow",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
]


@pytest.mark.parametrize("name", [*BINARY, "and_", "or_", "xor", "lshift", "rshift"])
def test_operators_are_left_to_a_lazy_array(array, name):
    lazy = Lazy()
    if name in ("and_", "or_", "xor", "lshift", "rshift"):
        array = array.astype("int32")
    assert getattr(operator, name)(array, lazy) == "answered"
    assert divmod(array, lazy) == "answered"
    assert lazy.compute_count == 0


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "pow", "and", "or", "xor"]
)
def test_special_methods_return_not_implemented_for_lazy_operands(array, name):
    lazy = Lazy()
    for prefix in ("", "r", "i"):
        method = getattr(array, f"__{prefix}{name}__")
        assert method(lazy) is NotImplemented, method
    assert lazy.compute_count == 0


def test_numpy_functions_of_lazy_arrays_are_left_to_their_library(array):
    lazy = Lazy()
    assert np.add(array, lazy) == ("ufunc", "add")
    assert np.add(lazy, array) == ("ufunc", "add")
    assert np.matmul(array, lazy) == ("ufunc", "matmul")
    assert np.sin(array, out=lazy) == ("ufunc", "sin")
    assert np.concatenate([array, lazy]) == ("function", "concatenate")
    assert lazy.compute_count == 0


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("make", [Lazy, lambda: Collection({})], ids=["array", "collection"])
def test_functions_and_kernels_raise_with_the_remedy(array, make, call):
    lazy = make()
    with pytest.raises(TypeError, match=r"map_blocks.*spanwise\.asarray"), array.device:
        call(array, lazy)
    assert lazy.compute_count == 0


def test_conversions_compute_once(device):
    for convert in (sw.asarray, sw.array, sw.Array, lambda x: sw.convert(x, "numpy", copyif=True)):
        lazy = Lazy()
        assert np.asarray(convert(lazy)).tolist() == [0, 1, 2]
        assert lazy.compute_count == 1
    lazy = Lazy()
    assert sw.asarray([lazy, lazy], device=device).tolist() == [[0, 1, 2]] * 2
    assert lazy.compute_count == 2


def test_forbidden_copy_does_not_compute():
    lazy = Lazy()
    with pytest.raises(sw.CopyNeededError, match="no memory before it is computed"):
        sw.asarray(lazy, copy=False)
    with sw.strict_copies(), pytest.raises(sw.CopyNeededError):
        sw.asarray(lazy)
    assert sw.explain(lazy, "numpy").shares is False
    assert lazy.compute_count == 0


def test_a_collection_without_a_graph_is_an_operand_of_functions(array):
    collection = Collection(None)
    assert sw.sum(collection).item() == 3
    assert array + collection == "answered"


def test_computed_arrays_are_operands_of_functions(array):
    assert sw.sum(Eager()).item() == 3
    assert sw.add(np.ones(3), Eager()).tolist() == [1, 2, 3]
    assert array + Eager() == "answered"
