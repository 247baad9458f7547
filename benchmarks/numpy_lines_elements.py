# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of elementwise operations, comparisons, reductions and scans."""

import functools

from numpy_line import (
    K,
    Line,
    M,
    Operand,
    bools,
    every_second,
    f32,
    f64,
    function,
    infix,
    ints,
    method,
    transposed,
)


def elementwise():
    def line(operation, layout, *operands, prepare=None):
        return Line("elementwise", operation, layout, operands, prepare or function(operation))

    def times(number):
        return lambda m, a: functools.partial(m.multiply, a, number)

    yield line("a + b", "16 float32", f32(16), f32(16), prepare=infix("+"))
    yield line("add", "16 float32", f32(16), f32(16))
    yield line("add", "16 float64", f64(16), f64(16))
    yield line("exp", "16 float32", f32(16))
    yield line("multiply", "16 float32 by a number", f32(16), prepare=times(2.5))
    yield line("a *= 1", "16 float32", f32(16), prepare=infix("*= 1"))
    yield line("a ** 2", "16 float32", f32(16), prepare=infix("** 2"))
    yield line("add", "1000 float32", f32(K), f32(K))
    yield line("add", "100k float32", f32(100 * K), f32(100 * K))
    yield line("add", "1M float32", f32(M), f32(M))
    yield line("add", "1M int64", ints(M), ints(M))
    yield line("add", "16M float32", f32(16 * M), f32(16 * M))
    yield line("multiply", "1M float32 by a number", f32(M), prepare=times(2.5))
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
    yield line(
        "add",
        "1M float32, every second",
        f32(2 * M, view=every_second),
        f32(2 * M, view=every_second),
    )
    yield line("exp", "1M float32, every second", f32(2 * M, view=every_second))
    yield line("add", "1000x1000 float32 and a row", f32(K, K), f32(K))
    yield line("add", "1000x1000 float32 and a column", f32(K, K), f32(K, 1))
    yield line("add", "1000x1000 float32 and a transpose", f32(K, K, view=transposed), f32(K, K))
    yield line("where", "1M float32", bools(M), f32(M), f32(M))
    yield line("where", "16 float32", bools(16), f32(16), f32(16))
    yield line("a *= 1", "1M float32", f32(M), prepare=infix("*= 1"))
    yield line("a ** 2", "1M float32", f32(M), prepare=infix("** 2"))
    yield line("absolute", "1M float32", f32(M))
    yield line("a // 3", "100k int64", ints(100 * K), prepare=infix("// 3"))
    yield line("a // b", "100k int64", ints(100 * K), ints(100 * K, low=1), prepare=infix("// b"))
    yield line("a % b", "100k int64", ints(100 * K), ints(100 * K, low=1), prepare=infix("% b"))
    yield line("a // b", "100k float64", f64(100 * K), f64(100 * K), prepare=infix("// b"))
    yield line("a % b", "100k float64", f64(100 * K), f64(100 * K), prepare=infix("% b"))
    yield line("a % 0.3", "100k float32", f32(100 * K), prepare=infix("% 0.3"))
    yield line("divmod", "100k float64", f64(100 * K), f64(100 * K))
    yield line("a ** 0.5", "100k float64", f64(100 * K), prepare=infix("** 0.5"))
    yield line("left_shift", "100k int64", ints(100 * K), ints(100 * K))
    # Results that underflow to 0.
    yield line("exp", "100k float32, far below 0", f32(100 * K, view=lambda a: a * -300))
    yield line("clip", "16 float32", f32(16), prepare=function("clip", min=0.7, max=1.2))
    yield line("clip", "1M float32", f32(M), prepare=function("clip", min=0.7, max=1.2))
    yield line("a.clip", "16 float64", f64(16), prepare=method("clip", 0.7, 1.2))
    yield line("a.clip", "100k float64", f64(100 * K), prepare=method("clip", 0.7, 1.2))


def comparisons():
    def line(operation, layout, *operands, prepare=None):
        return Line("comparisons", operation, layout, operands, prepare or function(operation))

    yield line("less", "16 float32", f32(16), f32(16))
    yield line("a > 1", "16 float32", f32(16), prepare=infix("> 1"))
    yield line("less", "100k float64", f64(100 * K), f64(100 * K))
    yield line("less", "1M float32", f32(M), f32(M))
    yield line("less", "16M float32", f32(16 * M), f32(16 * M))
    yield line("equal", "1M int64", ints(M), ints(M))
    yield line("isnan", "1M float64", f64(M))
    yield line("isfinite", "100k int64", ints(100 * K))
    yield line("logical_and", "1M bool", bools(M), bools(M))
    yield line("logical_and", "100k int64", ints(100 * K), ints(100 * K))
    yield line("a > 1", "100k float64", f64(100 * K), prepare=infix("> 1"))


def reductions():
    def line(operation, layout, operand, **options):
        return Line("reductions", operation, layout, (operand,), function(operation, **options))

    yield line("sum", "16 float32", f32(16))
    yield line("sum", "1M float32", f32(M))
    yield line("sum", "16M float32", f32(16 * M))
    yield line("sum", "1M float32, every second", f32(2 * M, view=every_second))
    yield line("sum", "1000x1000 float32 along axis 0", f32(K, K), axis=0)
    yield line("sum", "1000x1000 float32 along axis 1", f32(K, K), axis=1)
    yield line("sum", "4000x4000 float64 along axis 0", f64(4 * K, 4 * K), axis=0)
    yield line("sum", "100kx3 float64 along axis 1", f64(100 * K, 3), axis=1)
    yield line("max", "1M float32", f32(M))
    yield line("max", "1Mx3 float32 along axis 1", f32(M, 3), axis=1)
    yield line("argmax", "100kx8 float32 along axis 1", f32(100 * K, 8), axis=1)
    yield line("max", "1000x1000 float64 along axis 1", f64(K, K), axis=1)
    yield line("argmax", "1M float32", f32(M))
    yield line("argmax", "100x1000 float64 along axis 1", f64(100, K), axis=1)
    yield line("argmin", "20000x50 float64 along axis 1", f64(20 * K, 50), axis=1)
    yield line("mean", "16 float64", f64(16))
    yield line("mean", "1M float64", f64(M))
    yield line("min", "1000x1000 float32 along axis 0", f32(K, K), axis=0)
    yield line("std", "1000x1000 float64 along axis 1", f64(K, K), axis=1)
    yield line("var", "1000x1000 float32 along axis 0", f32(K, K), axis=0)
    # All true: all() has to read every element.
    yield line("all", "1M bool", Operand("bool", (M,), lambda a: a | True))
    yield line("count_nonzero", "1M bool", bools(M))


def scans():
    def line(operation, layout, operand, **options):
        return Line("scans", operation, layout, (operand,), function(operation, **options))

    yield line("cumsum", "16 float64", f64(16))
    yield line("cumsum", "1M float32", f32(M))
    yield line("cumsum", "1000x1000 float32 along axis 0", f32(K, K), axis=0)
    yield line("cumsum", "100kx5 float32 along axis 1", f32(100 * K, 5), axis=1)
    yield line("cumsum", "16M float64", f64(16 * M))
    yield line("cumsum", "100k int64", ints(100 * K))


FAMILIES = (elementwise, comparisons, reductions, scans)
