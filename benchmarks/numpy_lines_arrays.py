# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of indexing, copies, views, joining, products, random numbers and creation."""

import functools

import numpy as np
from numpy_line import (
    K,
    Line,
    M,
    Operand,
    ascending,
    backwards,
    bools,
    every_second,
    f32,
    f64,
    function,
    infix,
    ints,
    method,
    random_in_range,
    transposed,
)


def indexing():
    def read(m, a, key):
        return lambda: a[key]

    def write(m, a, key, values=1):
        return lambda: a.__setitem__(key, values)

    def ufunc_at(name):
        return lambda m, a, key, values: functools.partial(getattr(m, name).at, a, key, values)

    def read_at(key):
        return lambda m, a: lambda: a[key]

    def line(operation, layout, *operands, prepare=read):
        return Line("indexing", operation, layout, operands, prepare)

    def as_float(m, a):
        return lambda: float(a[1])

    def write_at(key, value):
        return lambda m, a: lambda: a.__setitem__(key, value)

    reversed_indices = np.arange(16)[::-1].copy()
    # The results of these three are views: no elements are copied.
    yield line("a[1]", "4x4 float64", f64(4, 4), prepare=read_at(1))
    yield line("a[1, 2:]", "4x4 float64", f64(4, 4), prepare=read_at((1, slice(2, None))))
    yield line("a[i], i a NumPy integer", "4x4 float64", f64(4, 4), prepare=read_at(np.int64(1)))
    yield line("float(a[1])", "16 float64", f64(16), prepare=as_float)
    yield line("a[1] = 2.5", "16 float64", f64(16), prepare=write_at(1, 2.5))
    yield line("a[2:5] = 1", "16 float64", f64(16), prepare=write_at(slice(2, 5), 1))
    yield line("a[i]", "16 float32", f32(16), ints(16, below=16))
    yield line("a[i], i of NumPy", "16 float32", f32(16), prepare=read_at(reversed_indices))
    yield line("a[i]", "1M float32", f32(M), ints(M, below=M))
    yield line("a[i]", "rows of 8 of 1M float32", f32(M // 8, 8), ints(M // 8, below=M // 8))
    yield line(
        "take", "64k float32", f32(1 << 16), ints(1 << 16, below=1 << 16), prepare=method("take")
    )
    yield line("a[i] = v", "1M float32", f32(M), ints(M, below=M), f32(M), prepare=write)
    add_at, maximum_at = ufunc_at("add"), ufunc_at("maximum")
    yield line("add.at", "16 float32", f32(16), ints(16, below=16), f32(16), prepare=add_at)
    yield line("add.at", "1M float32", f32(M), ints(M, below=M), f32(M), prepare=add_at)
    yield line("add.at", "1M values for 100 float64", f64(100), ints(M), f64(M), prepare=add_at)
    rows = f32(K, 64), ints(10 * K, below=K), f32(10 * K, 64)
    yield line("add.at", "10k rows of 64 for 1000", *rows, prepare=add_at)
    yield line("maximum.at", "1M float64", f64(M), ints(M, below=M), f64(M), prepare=maximum_at)
    yield line("a[mask]", "16 float32", f32(16), bools(16))
    yield line("a[mask]", "1M float32", f32(M), bools(M))
    yield line("a[mask] = 1", "16M float32", f32(16 * M), bools(16 * M), prepare=write)
    yield line("nonzero", "1M bool", bools(M), prepare=method("nonzero"))
    ordered, search = f64(100 * K, view=ascending), function("searchsorted")
    few, many = f64(16, view=random_in_range), f64(100 * K, view=random_in_range)
    yield line("searchsorted", "16 among 100k float64", ordered, few, prepare=search)
    yield line("searchsorted", "100k among 100k float64", ordered, many, prepare=search)


def copies():
    def line(operation, layout, operand, prepare):
        return Line("copies", operation, layout, (operand,), prepare)

    copy = method("copy")
    pixels = f64(M, 2, view=transposed)
    reversed_axes = f32(64, 64, 64, 64, view=lambda a: a.transpose(3, 2, 1, 0))
    byte_matrix = Operand("uint8", (4096, 4096), transposed)
    yield line("copy", "4x4 float64", f64(4, 4), copy)
    yield line("copy", "4x4 float64, transposed", f64(4, 4, view=transposed), copy)
    yield line("copy", "1M float32", f32(M), copy)
    yield line("copy", "16M float32", f32(16 * M), copy)
    yield line("copy", "4096x4096 float32, transposed", f32(4096, 4096, view=transposed), copy)
    yield line("copy", "4096x4096 uint8, transposed", byte_matrix, copy)
    yield line("copy", "1Mx2 float64, transposed", pixels, copy)
    yield line("copy", "64^4 float32, permuted 3210", reversed_axes, copy)
    yield line("copy", "8M float32, every second", f32(16 * M, view=every_second), copy)
    yield line("copy", "16M float32, backwards", f32(16 * M, view=backwards), copy)
    yield line("astype float64", "1M float32", f32(M), method("astype", "float64"))
    yield line("astype bool", "100k float64", f64(100 * K), method("astype", "bool"))
    yield line("astype int64", "100k float64", f64(100 * K), method("astype", "int64"))
    yield line("tolist", "16 float64", f64(16), method("tolist"))


def views():
    def line(operation, layout, operand, prepare):
        return Line("views", operation, layout, (operand,), prepare)

    yield line("reshape", "16 float64 to 4x4", f64(16), method("reshape", 4, 4))
    yield line("transpose", "2x3x4 float64", f64(2, 3, 4), method("transpose", 2, 0, 1))
    yield line("a.T", "4x4 float64", f64(4, 4), lambda m, a: lambda: a.T)
    yield line("ravel", "4x4 float64", f64(4, 4), method("ravel"))
    yield line("expand_dims", "16 float64", f64(16), function("expand_dims", axis=0))
    yield line("flip", "4x4 float64", f64(4, 4), function("flip"))


def joining():
    def line(operation, layout, count, operand, prepare):
        return Line("joining", operation, layout, (operand,) * count, prepare)

    def joined(name, **options):
        return lambda m, *a: functools.partial(getattr(m, name), a, **options)

    yield line("concatenate", "two of 16 float32", 2, f32(16), joined("concatenate"))
    yield line("concatenate", "two of 1M float32", 2, f32(M), joined("concatenate"))
    yield line("stack", "two of 1M float32, last axis", 2, f32(M), joined("stack", axis=-1))
    yield line("roll", "64k float32", 1, f32(1 << 16), lambda m, a: functools.partial(m.roll, a, 5))
    yield line("tile", "1M float32, twice", 1, f32(M), lambda m, a: functools.partial(m.tile, a, 2))
    yield line("repeat", "1M float32, twice", 1, f32(M), method("repeat", 2))


def products():
    def line(operation, layout, *operands, prepare=None):
        return Line("products", operation, layout, operands, prepare or function(operation))

    def norm(m, a):
        return functools.partial(m.linalg.norm, a)

    def einsum(m, a, b):
        return functools.partial(m.einsum, "ij,jk", a, b)

    yield line("a @ b", "4x4 float32", f32(4, 4), f32(4, 4), prepare=infix("@"))
    yield line("dot", "3 float64", f64(3), f64(3))
    yield line("matmul", "16x16 float64", f64(16, 16), f64(16, 16))
    yield line("matmul", "512x512 float32", f32(512, 512), f32(512, 512))
    yield line(
        "matmul", "512x512 float32, transposed", f32(512, 512, view=transposed), f32(512, 512)
    )
    yield line("matmul", "1000 of 4x4 float32", f32(K, 4, 4), f32(K, 4, 4))
    yield line("matmul", "2048x2048 float32 by a vector", f32(2048, 2048), f32(2048))
    yield line("matmul", "1000x1000 bool by a vector", bools(K, K), bools(K))
    yield line("matmul", "128x128 int64", ints(128, 128), ints(128, 128))
    yield line("vecdot", "1M float32", f32(M), f32(M))
    yield line("vdot", "100k float64", f64(100 * K), f64(100 * K))
    yield line("linalg.norm", "16 float64", f64(16), prepare=norm)
    yield line("linalg.norm", "100k float64", f64(100 * K), prepare=norm)
    yield line("outer", "4 float64", f64(4), f64(4))
    yield line("outer", "1000 float64", f64(K), f64(K))
    yield line("einsum", "ij,jk of 2x3, 3x2 float32", f32(2, 3), f32(3, 2), prepare=einsum)


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
        return Line(
            "creation", operation, layout, (), _creation_call(operation, arguments, options)
        )

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


def _creation_call(operation, arguments, options):
    return lambda m: functools.partial(getattr(m, operation), *arguments, **options)


FAMILIES = (indexing, copies, views, joining, products, random, creation)
