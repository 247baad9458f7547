# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A lazy foreign array, and calls that must raise for it instead of computing it."""

import numpy as np

import spanwise as sw


class Lazy:
    """Implements NumPy's protocols itself, like dask.array.Array; __array__() computes the elements.

    Spanwise takes it for lazy, since it has __array_ufunc__ and no to_numpy(). Comparisons with it, and
    operators of which it is the right operand, return "answered"; NumPy's ufuncs and functions return
    ("ufunc", name) and ("function", name) for it.
    """

    shape = (3,)
    ndim = 1
    dtype = np.dtype("float64")

    def __init__(self):
        self.compute_count = 0

    def __array__(self, dtype=None, copy=None):
        self.compute_count += 1
        return np.arange(3.0)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return ("ufunc", ufunc.__name__)

    def __array_function__(self, function, types, args, options):
        return ("function", function.__name__)

    def _answer(self, other):
        return "answered"

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rmatmul__ = __rpow__ = __rand__ = _answer
    __rfloordiv__ = __rmod__ = __rdivmod__ = __rlshift__ = __rrshift__ = _answer
    __ror__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _answer

    def _compute_number(self):
        self.compute_count += 1
        return 0

    __index__ = __int__ = __float__ = _compute_number

    def __len__(self):
        return 3

    def __getitem__(self, key):
        raise AssertionError("the elements of a lazy array must not be read")


KERNEL = "__global__ void f(double* x) { x[0] = 1; }"

#: Calls with `a`, an array of Spanwise with 3 float64 elements, and a lazy array `x`.
CALLS = {
    "sum": lambda a, x: sw.sum(x),
    "cumsum": lambda a, x: sw.cumsum(x),
    "sin": lambda a, x: sw.sin(x),
    "add": lambda a, x: sw.add(a, x),
    "add, lazy operand first": lambda a, x: sw.add(x, a),
    "where=": lambda a, x: sw.add(a, a, where=x),
    "out=": lambda a, x: sw.add(a, a, out=x),
    "add.at": lambda a, x: sw.add.at(a, [0, 1, 2], x),
    "matmul": lambda a, x: sw.matmul(a, x),
    "dot": lambda a, x: a.dot(x),
    "einsum": lambda a, x: sw.einsum("i,i", a, x),
    "tensordot": lambda a, x: sw.tensordot(a, x, 1),
    "concatenate": lambda a, x: sw.concatenate([a, x]),
    "stack": lambda a, x: sw.stack([x, x]),
    "list of lazy arrays": lambda a, x: sw.sum([x, x]),
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
