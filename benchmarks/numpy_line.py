# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A line that compares Spanwise with NumPy: an operation, its operands and their layout."""

import dataclasses
import functools
import operator
from collections.abc import Callable

import numpy as np

# As in the descriptions of lines: 10k is 10000, but 64k is 2**16 and 1M is 2**20.
K, M = 1000, 1 << 20


@dataclasses.dataclass(frozen=True)
class Operand:
    """Random values of a dtype and a shape, and the function that makes the operand from them, such
    as a view. It is called with the values as an array of Spanwise and as one of NumPy."""

    dtype: str
    shape: tuple[int, ...]
    view: Callable = lambda a: a
    below: int = 100  # integers are in [low, below), other numbers in [0.5, 1.5)
    low: int = 0

    def make(self, seed):
        """The values as a NumPy array, before `view`."""
        rng = np.random.default_rng(seed)
        if self.dtype == "bool":
            return rng.random(self.shape) < 0.5
        if self.dtype.startswith(("int", "uint")):
            return rng.integers(self.low, self.below, self.shape).astype(self.dtype)
        return (rng.random(self.shape) + 0.5).astype(self.dtype)


@dataclasses.dataclass(frozen=True)
class Line:
    family: str
    operation: str
    layout: str  # size, dtype and layout of the operands, as text
    operands: tuple[Operand, ...]
    prepare: Callable  # (module, *operands) -> a call without arguments; module: spanwise or numpy
    is_random: bool = False  # only shapes and dtypes of the two results are compared


def f32(*shape, view=lambda a: a):
    return Operand("float32", shape, view)


def f64(*shape, view=lambda a: a):
    return Operand("float64", shape, view)


def ints(*shape, below=100, dtype="int64", low=0):
    return Operand(dtype, shape, below=below, low=low)


def bools(*shape):
    return Operand("bool", shape)


def every_second(a):
    return a[::2]


def backwards(a):
    return a[::-1]


def ascending(a):
    return a.cumsum()


def random_in_range(a):
    """Random values in the range of `ascending` of 100k values, whose last is about 100k."""
    return (a - 0.5) * (100 * K)


def transposed(a):
    return a.T


# Each of the following returns a `Line.prepare`.


def function(name, **options):
    """Calls the module's function `name` with the operands."""
    return lambda m, *a: functools.partial(getattr(m, name), *a, **options)


def method(name, *arguments, **options):
    """Calls the method `name` of the first operand, with the others and `arguments`."""
    return lambda m, a, *b: functools.partial(getattr(a, name), *b, *arguments, **options)


def infix(expression):
    """Evaluates the operator in an expression, as programs write it."""
    return {
        "+": lambda m, a, b: lambda: a + b,
        "@": lambda m, a, b: lambda: a @ b,
        "> 1": lambda m, a: lambda: a > 1,
        "// 3": lambda m, a: lambda: a // 3,
        "// b": lambda m, a, b: lambda: a // b,
        "% b": lambda m, a, b: lambda: a % b,
        "% 0.3": lambda m, a: lambda: a % 0.3,
        "** 0.5": lambda m, a: lambda: a**0.5,
        "** 2": lambda m, a: lambda: a**2,
        "*= 1": lambda m, a: functools.partial(operator.imul, a, 1),
    }[expression]
