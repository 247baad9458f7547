# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Lazy foreign arrays are not computed implicitly: operators return NotImplemented, other functions
raise."""

import operator
import subprocess
import sys

import numpy as np
import pytest

import spanwise as sw


class Lazy:
    """As dask.array.Array: answers NumPy's protocols itself, and __array__() computes."""

    shape = (3,)
    ndim = 1
    dtype = np.dtype("float64")

    def __init__(self):
        self.computed = 0

    def __array__(self, dtype=None, copy=None):
        self.computed += 1
        return np.arange(3.0)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return ("ufunc", ufunc.__name__)

    def __array_function__(self, function, types, args, options):
        return ("function", function.__name__)

    def _answer(self, other):
        return "answered"

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rmatmul__ = __rpow__ = __rand__ = _answer
    __rfloordiv__ = __rmod__ = __rdivmod__ = __rlshift__ = __ror__ = __rxor__ = _answer
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _answer

    def _count(self):
        self.computed += 1
        return 0

    __index__ = __int__ = __float__ = _count

    def __len__(self):
        return 3

    def __getitem__(self, key):
        raise AssertionError("its elements are not to be looked at")


class Collection:
    """Like xarray.DataArray: lazy if it has a graph."""

    def __init__(self, graph):
        self.graph = graph
        self.computed = 0

    def __dask_graph__(self):
        return self.graph

    def __array__(self, dtype=None, copy=None):
        self.computed += 1
        return np.arange(3.0)

    def to_numpy(self):
        return self.__array__()

    __array_ufunc__ = Lazy.__array_ufunc__
    __radd__ = Lazy.__radd__


class Eager:
    """As pandas.Series: answers ufuncs itself, and has its elements."""

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


@pytest.mark.parametrize("name", [*BINARY, "and_", "or_", "xor", "lshift"])
def test_operators_are_left_to_a_lazy_array(array, name):
    lazy = Lazy()
    if name in ("and_", "or_", "xor", "lshift"):
        array = array.astype("int32")
    assert getattr(operator, name)(array, lazy) == "answered"
    assert divmod(array, lazy) == "answered"
    assert lazy.computed == 0


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "pow", "and", "or", "xor"]
)
def test_slots_return_not_implemented(array, name):
    lazy = Lazy()
    for prefix in ("", "r", "i"):
        method = getattr(array, f"__{prefix}{name}__")
        assert method(lazy) is NotImplemented, method
    assert lazy.computed == 0


def test_numpy_functions_of_lazy_arrays_are_left_to_their_library(array):
    lazy = Lazy()
    assert np.add(array, lazy) == ("ufunc", "add")
    assert np.add(lazy, array) == ("ufunc", "add")
    assert np.matmul(array, lazy) == ("ufunc", "matmul")
    assert np.sin(array, out=lazy) == ("ufunc", "sin")
    assert np.concatenate([array, lazy]) == ("function", "concatenate")
    assert lazy.computed == 0


KERNEL = "__global__ void f(double* x) { x[0] = 1; }"
CALLS = {
    "sum": lambda a, x: sw.sum(x),
    "cumsum": lambda a, x: sw.cumsum(x),
    "sin": lambda a, x: sw.sin(x),
    "add": lambda a, x: sw.add(a, x),
    "add of it first": lambda a, x: sw.add(x, a),
    "where=": lambda a, x: sw.add(a, a, where=x),
    "out=": lambda a, x: sw.add(a, a, out=x),
    "add.at": lambda a, x: sw.add.at(a, [0, 1, 2], x),
    "matmul": lambda a, x: sw.matmul(a, x),
    "dot": lambda a, x: a.dot(x),
    "einsum": lambda a, x: sw.einsum("i,i", a, x),
    "tensordot": lambda a, x: sw.tensordot(a, x, 1),
    "concatenate": lambda a, x: sw.concatenate([a, x]),
    "stack": lambda a, x: sw.stack([x, x]),
    "a list of them": lambda a, x: sw.sum([x, x]),
    "vstack": lambda a, x: sw.vstack([a, x]),
    "append": lambda a, x: sw.append(a, x),
    "roll": lambda a, x: sw.roll(x, 1),
    "tile": lambda a, x: sw.tile(x, 2),
    "reshape": lambda a, x: sw.reshape(x, (3, 1)),
    "flip": lambda a, x: sw.flip(x),
    "pad": lambda a, x: sw.pad(x, 1),
    "where": lambda a, x: sw.where(a > 1, a, x),
    "clip": lambda a, x: sw.clip(x, 0, 1),
    "round": lambda a, x: sw.round(x),
    "isclose": lambda a, x: sw.isclose(a, x),
    "allclose": lambda a, x: sw.allclose(a, x),
    "take": lambda a, x: sw.take(x, [0]),
    "searchsorted": lambda a, x: sw.searchsorted(a, x),
    "diff": lambda a, x: sw.diff(x),
    "norm": lambda a, x: sw.linalg.vector_norm(x),
    "zeros_like": lambda a, x: sw.zeros_like(x),
    "assignment": lambda a, x: a.__setitem__(..., x),
    "copyto": lambda a, x: sw.copyto(a, x),
    "softmax": lambda a, x: sw.softmax(x),
    "normal": lambda a, x: sw.random.default_rng(0).normal(x),
    "shared": lambda a, x: sw.shared(x),
    "compiled function": lambda a, x: compiled()(x),
    "kernel": lambda a, x: kernel(a.device)(x, block=(1, 1, 1), grid=(1, 1)),
    "In": lambda a, x: kernel(a.device)(sw.driver.In(x), block=(1, 1, 1), grid=(1, 1)),
    "ElementwiseKernel": lambda a, x: sw.ElementwiseKernel("T x", "T y", "y = x")(x),
    "ReductionKernel": lambda a, x: sw.ReductionKernel("double", "0", "a + b", "x[i]", "double* x")(
        x
    ),
}


def compiled():
    x = sw.tensor.dvector("x")
    return sw.function([x], x * 2)


def kernel(device):
    return sw.SourceModule(KERNEL, device=device).get_function("f")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("make", [Lazy, lambda: Collection({})], ids=["array", "collection"])
def test_functions_and_kernels_raise_with_the_remedy(array, make, call):
    lazy = make()
    with pytest.raises(TypeError, match=r"map_blocks.*spanwise\.asarray"), array.device:
        call(array, lazy)
    assert lazy.computed == 0


def test_conversions_compute_once(device):
    for convert in (sw.asarray, sw.array, sw.Array, lambda x: sw.convert(x, "numpy", copyif=True)):
        lazy = Lazy()
        assert np.asarray(convert(lazy)).tolist() == [0, 1, 2]
        assert lazy.computed == 1
    lazy = Lazy()
    assert sw.asarray([lazy, lazy], device=device).tolist() == [[0, 1, 2]] * 2
    assert lazy.computed == 2


def test_forbidden_copy_does_not_compute():
    lazy = Lazy()
    with pytest.raises(sw.CopyNeededError, match="no memory before it is computed"):
        sw.asarray(lazy, copy=False)
    with sw.strict_copies(), pytest.raises(sw.CopyNeededError):
        sw.asarray(lazy)
    assert sw.explain(lazy, "numpy").shares is False
    assert lazy.computed == 0


def test_a_collection_without_a_graph_is_an_operand_of_functions(array):
    collection = Collection(None)
    assert sw.sum(collection).item() == 3
    assert array + collection == "answered"


def test_computed_arrays_are_operands_of_functions(array):
    assert sw.sum(Eager()).item() == 3
    assert sw.add(np.ones(3), Eager()).tolist() == [1, 2, 3]
    assert array + Eager() == "answered"


# ---- Precedence, as NumPy has it ----


class Ranked:
    def __init__(self, priority):
        if priority is not None:
            type(self).__array_priority__ = priority

    __radd__ = __eq__ = __ne__ = __lt__ = __gt__ = __rmatmul__ = Lazy._answer


@pytest.mark.parametrize("priority", [1000, 0.5, 0, -1, None])
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "gt", "add", "matmul"])
def test_operand_of_higher_priority_computes_the_operation(array, priority, name):
    kind = type("Kind", (Ranked,), {})
    other = kind(priority)
    function = getattr(operator, name)
    if priority is not None and priority > 0:
        assert function(array, other) == "answered" == function(np.arange(3.0), other)
    elif name in ("eq", "ne"):  # no operand equals no element
        assert function(array, other).tolist() == [name == "ne"] * 3
    assert function(other, array) == "answered" if name in ("eq", "ne") else True


def test_a_bridged_array_of_higher_priority_is_an_operand(array):
    class Matrix(np.ndarray):
        __array_priority__ = 1000

    other = np.arange(3.0).view(Matrix)
    if array.device.kind == "cpu":
        assert type(array + other) is sw.Array


# ---- The real one ----


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
for made in (a + da.ones(3, chunks=2), da.ones(3, chunks=2) + a, a @ da.ones((3, 2), chunks=2)):
    assert type(made) is da.Array, type(made)
print(np.asarray((a + da.ones(3, chunks=2)).compute()).tolist())
"""


def test_dask_computes_with_registered_arrays():
    pytest.importorskip("dask.array")
    done = subprocess.run(
        [sys.executable, "-c", REGISTERED], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[1.0, 2.0, 3.0]\n", done.stderr
