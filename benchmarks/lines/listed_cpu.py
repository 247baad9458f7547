# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The listed lines: operation x size x layout, none of which may be slower than NumPy on the CPU.

Operations of all families as programs use them, from 16 elements to 16M. Lines are chosen by use, not by
speed; slower ones are kept and counted in the summary.
"""

import dataclasses
import functools
import operator
from collections.abc import Callable

import numpy as np
from harness import Result, interleave

import spanwise as sw

TABLE = "not slower than NumPy on the CPU"
K, M = 1000, 1 << 20
MORE = 8  # additional rounds for lines that are slower


@dataclasses.dataclass(frozen=True)
class Given:
    """An operand: values of a dtype, and the view of them that the operation gets."""

    dtype: str
    shape: tuple[int, ...]
    view: Callable = lambda a: a
    below: int = 100  # for integers
    low: int = 0

    def make(self, seed):
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
    layout: str  # size and layout, as text
    given: tuple[Given, ...]
    prepare: Callable  # (module, operands) -> a call without arguments
    is_random: bool = False


def f32(*shape, view=lambda a: a):
    return Given("float32", shape, view)


def f64(*shape, view=lambda a: a):
    return Given("float64", shape, view)


def ints(*shape, below=100, dtype="int64", low=0):
    return Given(dtype, shape, below=below, low=low)


def bools(*shape):
    return Given("bool", shape)


def second(a):
    return a[::2]


def backwards(a):
    return a[::-1]


def ascending(a):
    return a.cumsum()


def anywhere(a):
    """Random values in the range of 100k ascending ones."""
    return (a - 0.5) * (100 * K)


def turned(a):
    return a.T


def function(name, **options):
    """The module's function of the operands."""
    return lambda m, *a: functools.partial(getattr(m, name), *a, **options)


def method(name, *arguments, **options):
    """The first operand's method."""
    return lambda m, a, *b: functools.partial(getattr(a, name), *b, *arguments, **options)


def infix(name):
    """The operator as a program calls it."""
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
    }[name]


def elementwise():
    def line(operation, layout, *given, how=None):
        return Line("elementwise", operation, layout, given, how or function(operation))

    def times(number):
        return lambda m, a: functools.partial(m.multiply, a, number)

    yield line("a + b", "16 float32", f32(16), f32(16), how=infix("+"))
    yield line("add", "16 float32", f32(16), f32(16))
    yield line("add", "16 float64", f64(16), f64(16))
    yield line("exp", "16 float32", f32(16))
    yield line("multiply", "16 float32 by a number", f32(16), how=times(2.5))
    yield line("a *= 1", "16 float32", f32(16), how=infix("*= 1"))
    yield line("a ** 2", "16 float32", f32(16), how=infix("** 2"))
    yield line("add", "1000 float32", f32(K), f32(K))
    yield line("add", "100k float32", f32(100 * K), f32(100 * K))
    yield line("add", "1M float32", f32(M), f32(M))
    yield line("add", "1M int64", ints(M), ints(M))
    yield line("add", "16M float32", f32(16 * M), f32(16 * M))
    yield line("multiply", "1M float32 by a number", f32(M), how=times(2.5))
    yield line("divide", "1M float64", f64(M), f64(M))
    yield line("maximum", "1M float32", f32(M), f32(M))
    yield line("sqrt", "16M float32", f32(16 * M))
    yield line("exp", "1000 float32", f32(K))
    yield line("exp", "1M float32", f32(M))
    yield line("exp", "1M float64", f64(M))
    yield line("log", "1M float64", f64(M))
    yield line("sin", "1M float32", f32(M))
    yield line("tanh", "1M float32", f32(M))
    yield line("power", "1M float64", f64(M), f64(M))
    yield line("add", "1M float32, every second", f32(2 * M, view=second), f32(2 * M, view=second))
    yield line("exp", "1M float32, every second", f32(2 * M, view=second))
    yield line("add", "1000x1000 float32 and a row", f32(K, K), f32(K))
    yield line("add", "1000x1000 float32 and a column", f32(K, K), f32(K, 1))
    yield line("add", "1000x1000 float32 and a transpose", f32(K, K, view=turned), f32(K, K))
    yield line("where", "1M float32", bools(M), f32(M), f32(M))
    yield line("where", "16 float32", bools(16), f32(16), f32(16))
    yield line("a *= 1", "1M float32", f32(M), how=infix("*= 1"))
    yield line("a ** 2", "1M float32", f32(M), how=infix("** 2"))
    yield line("absolute", "1M float32", f32(M))
    yield line("a // 3", "100k int64", ints(100 * K), how=infix("// 3"))
    yield line("a // b", "100k int64", ints(100 * K), ints(100 * K, low=1), how=infix("// b"))
    yield line("a % b", "100k int64", ints(100 * K), ints(100 * K, low=1), how=infix("% b"))
    yield line("a // b", "100k float64", f64(100 * K), f64(100 * K), how=infix("// b"))
    yield line("a % b", "100k float64", f64(100 * K), f64(100 * K), how=infix("% b"))
    yield line("a % 0.3", "100k float32", f32(100 * K), how=infix("% 0.3"))
    yield line("divmod", "100k float64", f64(100 * K), f64(100 * K))
    yield line("a ** 0.5", "100k float64", f64(100 * K), how=infix("** 0.5"))
    yield line("left_shift", "100k int64", ints(100 * K), ints(100 * K))
    yield line("exp", "100k float32, far below 0", f32(100 * K, view=lambda a: a * -300))
    yield line("clip", "16 float32", f32(16), how=function("clip", min=0.7, max=1.2))
    yield line("clip", "1M float32", f32(M), how=function("clip", min=0.7, max=1.2))
    yield line("a.clip", "16 float64", f64(16), how=method("clip", 0.7, 1.2))
    yield line("a.clip", "100k float64", f64(100 * K), how=method("clip", 0.7, 1.2))


def comparisons():
    def line(operation, layout, *given, how=None):
        return Line("comparisons", operation, layout, given, how or function(operation))

    yield line("less", "16 float32", f32(16), f32(16))
    yield line("a > 1", "16 float32", f32(16), how=infix("> 1"))
    yield line("less", "100k float64", f64(100 * K), f64(100 * K))
    yield line("less", "1M float32", f32(M), f32(M))
    yield line("less", "16M float32", f32(16 * M), f32(16 * M))
    yield line("equal", "1M int64", ints(M), ints(M))
    yield line("isnan", "1M float64", f64(M))
    yield line("isfinite", "100k int64", ints(100 * K))
    yield line("logical_and", "1M bool", bools(M), bools(M))
    yield line("logical_and", "100k int64", ints(100 * K), ints(100 * K))
    yield line("a > 1", "100k float64", f64(100 * K), how=infix("> 1"))


def reductions():
    def line(operation, layout, given, **options):
        return Line("reductions", operation, layout, (given,), function(operation, **options))

    yield line("sum", "16 float32", f32(16))
    yield line("sum", "1M float32", f32(M))
    yield line("sum", "16M float32", f32(16 * M))
    yield line("sum", "1M float32, every second", f32(2 * M, view=second))
    yield line("sum", "1000x1000 float32 along axis 0", f32(K, K), axis=0)
    yield line("sum", "1000x1000 float32 along axis 1", f32(K, K), axis=1)
    yield line("sum", "4000x4000 float64 along axis 0", f64(4 * K, 4 * K), axis=0)
    yield line("sum", "100kx3 float64 along axis 1", f64(100 * K, 3), axis=1)
    yield line("max", "1M float32", f32(M))
    yield line("max", "1000x1000 float64 along axis 1", f64(K, K), axis=1)
    yield line("argmax", "1M float32", f32(M))
    yield line("argmax", "100x1000 float64 along axis 1", f64(100, K), axis=1)
    yield line("argmin", "20000x50 float64 along axis 1", f64(20 * K, 50), axis=1)
    yield line("mean", "16 float64", f64(16))
    yield line("mean", "1M float64", f64(M))
    yield line("min", "1000x1000 float32 along axis 0", f32(K, K), axis=0)
    yield line("std", "1000x1000 float64 along axis 1", f64(K, K), axis=1)
    yield line("var", "1000x1000 float32 along axis 0", f32(K, K), axis=0)
    yield line("all", "1M bool", Given("bool", (M,), lambda a: a | True))
    yield line("count_nonzero", "1M bool", bools(M))


def scans():
    def line(operation, layout, given, **options):
        return Line("scans", operation, layout, (given,), function(operation, **options))

    yield line("cumsum", "16 float64", f64(16))
    yield line("cumsum", "1M float32", f32(M))
    yield line("cumsum", "1000x1000 float32 along axis 0", f32(K, K), axis=0)
    yield line("cumsum", "16M float64", f64(16 * M))
    yield line("cumsum", "100k int64", ints(100 * K))


def indexing():
    def read(m, a, key):
        return lambda: a[key]

    def write(m, a, key, values=1):
        return lambda: a.__setitem__(key, values)

    def accumulate(name):
        return lambda m, a, key, values: functools.partial(getattr(m, name).at, a, key, values)

    def at(key):
        return lambda m, a: lambda: a[key]

    def line(operation, layout, *given, how=read):
        return Line("indexing", operation, layout, given, how)

    def number(m, a):
        return lambda: float(a[1])

    def put(key, value):
        return lambda m, a: lambda: a.__setitem__(key, value)

    sixteen = np.arange(16)[::-1].copy()
    yield line("a[1]", "a view of 4x4 float64", f64(4, 4), how=at(1))
    yield line("a[1, 2:]", "a view of 4x4 float64", f64(4, 4), how=at((1, slice(2, None))))
    yield line("a[i], i a NumPy integer", "a view of 4x4 float64", f64(4, 4), how=at(np.int64(1)))
    yield line("float(a[1])", "16 float64", f64(16), how=number)
    yield line("a[1] = 2.5", "16 float64", f64(16), how=put(1, 2.5))
    yield line("a[2:5] = 1", "16 float64", f64(16), how=put(slice(2, 5), 1))
    yield line("a[i]", "16 float32", f32(16), ints(16, below=16))
    yield line("a[i], i of NumPy", "16 float32", f32(16), how=at(sixteen))
    yield line("a[i]", "1M float32", f32(M), ints(M, below=M))
    yield line("a[i]", "rows of 8 of 1M float32", f32(M // 8, 8), ints(M // 8, below=M // 8))
    yield line(
        "take", "64k float32", f32(1 << 16), ints(1 << 16, below=1 << 16), how=method("take")
    )
    yield line("a[i] = v", "1M float32", f32(M), ints(M, below=M), f32(M), how=write)
    add_at, maximum_at = accumulate("add"), accumulate("maximum")
    yield line("add.at", "16 float32", f32(16), ints(16, below=16), f32(16), how=add_at)
    yield line("add.at", "1M float32", f32(M), ints(M, below=M), f32(M), how=add_at)
    yield line("add.at", "1M values for 100 float64", f64(100), ints(M), f64(M), how=add_at)
    rows = f32(K, 64), ints(10 * K, below=K), f32(10 * K, 64)
    yield line("add.at", "10k rows of 64 for 1000", *rows, how=add_at)
    yield line("maximum.at", "1M float64", f64(M), ints(M, below=M), f64(M), how=maximum_at)
    yield line("a[mask]", "16 float32", f32(16), bools(16))
    yield line("a[mask]", "1M float32", f32(M), bools(M))
    yield line("a[mask] = 1", "16M float32", f32(16 * M), bools(16 * M), how=write)
    yield line("nonzero", "1M bool", bools(M), how=method("nonzero"))
    ordered, searched = f64(100 * K, view=ascending), function("searchsorted")
    few, many = f64(16, view=anywhere), f64(100 * K, view=anywhere)
    yield line("searchsorted", "16 among 100k float64", ordered, few, how=searched)
    yield line("searchsorted", "100k among 100k float64", ordered, many, how=searched)


def copies():
    def line(operation, layout, given, how):
        return Line("copies", operation, layout, (given,), how)

    copy = method("copy")
    pixels = f64(M, 2, view=turned)
    turned_back = f32(64, 64, 64, 64, view=lambda a: a.transpose(3, 2, 1, 0))
    small_bytes = Given("uint8", (4096, 4096), turned)
    yield line("copy", "4x4 float64", f64(4, 4), copy)
    yield line("copy", "4x4 float64, transposed", f64(4, 4, view=turned), copy)
    yield line("copy", "1M float32", f32(M), copy)
    yield line("copy", "16M float32", f32(16 * M), copy)
    yield line("copy", "4096x4096 float32, transposed", f32(4096, 4096, view=turned), copy)
    yield line("copy", "4096x4096 uint8, transposed", small_bytes, copy)
    yield line("copy", "1Mx2 float64, transposed", pixels, copy)
    yield line("copy", "64^4 float32, permuted 3210", turned_back, copy)
    yield line("copy", "8M float32, every second", f32(16 * M, view=second), copy)
    yield line("copy", "16M float32, backwards", f32(16 * M, view=backwards), copy)
    yield line("astype float64", "1M float32", f32(M), method("astype", "float64"))
    yield line("astype bool", "100k float64", f64(100 * K), method("astype", "bool"))
    yield line("astype int64", "100k float64", f64(100 * K), method("astype", "int64"))
    yield line("tolist", "16 float64", f64(16), method("tolist"))


def views():
    def line(operation, layout, given, how):
        return Line("views", operation, layout, (given,), how)

    yield line("reshape", "16 float64 to 4x4", f64(16), method("reshape", 4, 4))
    yield line("transpose", "2x3x4 float64", f64(2, 3, 4), method("transpose", 2, 0, 1))
    yield line("a.T", "4x4 float64", f64(4, 4), lambda m, a: lambda: a.T)
    yield line("ravel", "4x4 float64", f64(4, 4), method("ravel"))
    yield line("expand_dims", "16 float64", f64(16), function("expand_dims", axis=0))
    yield line("flip", "4x4 float64", f64(4, 4), function("flip"))


def joining():
    def line(operation, layout, count, given, how):
        return Line("joining", operation, layout, (given,) * count, how)

    def joined(name, **options):
        return lambda m, *a: functools.partial(getattr(m, name), a, **options)

    yield line("concatenate", "two of 16 float32", 2, f32(16), joined("concatenate"))
    yield line("concatenate", "two of 1M float32", 2, f32(M), joined("concatenate"))
    yield line("stack", "two of 1M float32, last axis", 2, f32(M), joined("stack", axis=-1))
    yield line("roll", "64k float32", 1, f32(1 << 16), lambda m, a: functools.partial(m.roll, a, 5))
    yield line("tile", "1M float32, twice", 1, f32(M), lambda m, a: functools.partial(m.tile, a, 2))
    yield line("repeat", "1M float32, twice", 1, f32(M), method("repeat", 2))


def products():
    def line(operation, layout, *given, how=None):
        return Line("products", operation, layout, given, how or function(operation))

    def norm(m, a):
        return functools.partial(m.linalg.norm, a)

    def einsum(m, a, b):
        return functools.partial(m.einsum, "ij,jk", a, b)

    yield line("a @ b", "4x4 float32", f32(4, 4), f32(4, 4), how=infix("@"))
    yield line("dot", "3 float64", f64(3), f64(3))
    yield line("matmul", "16x16 float64", f64(16, 16), f64(16, 16))
    yield line("matmul", "512x512 float32", f32(512, 512), f32(512, 512))
    yield line("matmul", "512x512 float32, transposed", f32(512, 512, view=turned), f32(512, 512))
    yield line("matmul", "1000 of 4x4 float32", f32(K, 4, 4), f32(K, 4, 4))
    yield line("matmul", "2048x2048 float32 by a vector", f32(2048, 2048), f32(2048))
    yield line("matmul", "1000x1000 bool by a vector", bools(K, K), bools(K))
    yield line("matmul", "128x128 int64", ints(128, 128), ints(128, 128))
    yield line("vecdot", "1M float32", f32(M), f32(M))
    yield line("vdot", "100k float64", f64(100 * K), f64(100 * K))
    yield line("linalg.norm", "16 float64", f64(16), how=norm)
    yield line("linalg.norm", "100k float64", f64(100 * K), how=norm)
    yield line("outer", "4 float64", f64(4), f64(4))
    yield line("outer", "1000 float64", f64(K), f64(K))
    yield line("einsum", "ij,jk of 2x3, 3x2 float32", f32(2, 3), f32(3, 2), how=einsum)


def random():
    def line(operation, layout, *arguments):
        def prepare(m):
            generator = m.random.default_rng(1)
            return functools.partial(getattr(generator, operation), *arguments)

        return Line("random", operation, layout, (), prepare, is_random=True)

    yield line("random", "16 float32", 16, "float32")
    yield line("random", "1M float32", M, "float32")
    yield line("random", "1M float64", M, "float64")
    yield line("standard_normal", "1M float64", M)
    yield line("standard_exponential", "1M float64", M)
    yield line("integers", "1M int64", -100, 101, M)
    yield line("permutation", "1M", M)


def creation():
    def line(operation, layout, *arguments, **options):
        return Line("creation", operation, layout, (), _made(operation, arguments, options))

    yield line("zeros", "16 float64", 16)
    yield line("array", "a NumPy array of 16 float64", np.ones(16))
    yield line("array", "a list of 2", [1.0, 2.0])
    yield line("full", "16 float64", 16, 2.5)
    yield line("arange", "16", 16)
    yield line("linspace", "1000 float64", 0.0, 1.0, K)
    yield line("eye", "100x100 float64", 100)
    yield line("ones", "1M float32", M, dtype="float32")
    yield line("arange", "1M int64", M)
    yield line("arange", "10k float64", 0, 1000, 0.1)
    yield line("linspace", "1M float64", 0.0, 1.0, M)
    yield line("full", "16M float32", 16 * M, 2.5, dtype="float32")
    yield line("zeros", "16M float32", 16 * M, dtype="float32")


def _made(operation, arguments, options):
    return lambda m: functools.partial(getattr(m, operation), *arguments, **options)


FAMILIES = (
    elementwise, comparisons, reductions, scans, indexing,
    copies, views, joining, products, random, creation,
)  # fmt: skip
LISTED = [line for family in FAMILIES for line in family()]


def measure():
    with sw.config.change(device="cpu"):
        behind = []
        for line in LISTED:
            result = _measured(line)
            if result.reached:
                yield result
            else:
                behind.append((line, result))
        # Slower lines get additional rounds for both contenders: 80 ms are short if the process was
        # preempted, and some lines are nearly equal, since both call the same library.
        for _ in range(MORE):
            for line, result in behind:
                if not result.reached:
                    for name, more in _measured(line).contenders.items():
                        result.contenders[name].seconds.extend(more.seconds)
        for _, result in behind:
            yield result


def _measured(line: Line) -> Result:
    # The same memory for both, since its address and cached parts affect some lines.
    operands = [sw.array(given.make(seed)) for seed, given in enumerate(line.given)]
    shared = [sw.to_numpy(x) for x in operands]
    ours = line.prepare(sw, *(g.view(x) for g, x in zip(line.given, operands, strict=True)))
    theirs = line.prepare(np, *(g.view(x) for g, x in zip(line.given, shared, strict=True)))
    _agree(line, ours(), theirs())
    contenders = {"spanwise": ours, "NumPy": theirs}
    return Result(
        f"{line.family}: {line.operation} of {line.layout}",
        "spanwise",
        interleave(contenders, rounds=40, seconds=0.001),
        goal=("ratio", "NumPy", 1.0),
        table=TABLE,
    )


def _agree(line: Line, ours, theirs):
    if isinstance(theirs, tuple):
        for mine, their in zip(ours, theirs, strict=True):
            _agree(line, mine, their)
    elif line.is_random:
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    elif theirs is not None:
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-4)
