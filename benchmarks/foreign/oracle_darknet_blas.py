# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of darknet's src/blas_kernels.cu on vectors and batches."""

import numpy as np
from oracle import Case, Inputs, f8

BLOCK = 512  # of darknet.h: kernels with shared memory are launched with that many threads
SMALL = 1e-5  # added to variances


def blas(kernel, threads, args, expected, **more):
    return Case("src/blas_kernels.cu", kernel, threads, args, expected, options=("-DGPU",), **more)  # fmt: skip


def with_steps():
    """Kernels on vectors with steps between their elements."""
    make, n, step = Inputs(11), 100, 3
    x, y = make.normal(n * step), make.normal(2 * n + 5)
    x8, y8 = f8(x, y)
    at = slice(0, n * step, step)
    numbers = {"N": n, "ALPHA": 0.6}
    for kernel, change in (
        ("const_kernel", lambda v: np.full(n, 0.6)),
        ("fill_kernel", lambda v: np.full(n, 0.6)),
        ("constrain_kernel", lambda v: np.clip(v, -0.6, 0.6)),
        ("supp_kernel", lambda v: np.where(v * v < 0.36, 0, v)),
        ("add_kernel", lambda v: v + 0.6),
        ("scal_kernel", lambda v: v * 0.6),
    ):
        want = x8.copy()
        want[at] = change(x8[at])
        yield blas(kernel, (n,), {**numbers, "X": x, "INCX": step}, {"X": want})
    added, copied = y8.copy(), y8.copy()
    added[5::2] += 0.6 * x8[2 : 2 + n * step : step]
    copied[5::2] = x8[2 : 2 + n * step : step]
    vectors = {"X": x, "OFFX": 2, "INCX": step, "Y": y, "OFFY": 5, "INCY": 2}
    yield blas("axpy_kernel", (n,), {**numbers, **vectors}, {"Y": added})
    yield blas("copy_kernel", (n,), {"N": n, **vectors}, {"Y": copied})
    powers, multiplied, positive = y8.copy(), y8.copy(), make.positive(n * step)
    powers[: 2 * n : 2] = f8(positive)[at] ** 0.6
    multiplied[: 2 * n : 2] *= x8[at]
    vectors = {"INCX": step, "Y": y, "INCY": 2}
    yield blas("pow_kernel", (n,), {**numbers, "X": positive, **vectors}, {"Y": powers})
    yield blas("mul_kernel", (n,), {"N": n, "X": x, **vectors}, {"Y": multiplied})


def elementwise():
    """Losses, masks and weighted sums."""
    make, n = Inputs(12), 200
    a, b, c, d, e, f, s = (make.normal(n) for _ in range(7))
    a8, b8, c8, d8, e8, f8_, s8 = f8(a, b, c, d, e, f, s)
    p, truth = make.rng.uniform(0.05, 0.95, n).astype("f4"), make.rng.integers(0, 2, n).astype("f4")
    p8, t8 = f8(p, truth)
    diff = b8 - a8
    losses = {"pred": a, "truth": b, "delta": c, "error": d}
    probabilities = {"pred": p, "truth": truth, "delta": c, "error": d}
    one_sided = np.where(diff > 0, 1, -1)
    logistic = -t8 * np.log(p8 + 1e-7) - (1 - t8) * np.log(1 - p8 + 1e-7)
    for kernel, args, delta, error in (
        ("smooth_l1_kernel", losses, np.where(abs(diff) < 1, diff, one_sided),
         np.where(abs(diff) < 1, diff**2, 2 * abs(diff) - 1)),
        ("l2_kernel", losses, diff, diff**2),
        ("l1_kernel", losses, one_sided, abs(diff)),
        ("wgan_kernel", probabilities, np.where(t8 > 0, 1, -1), np.where(t8 != 0, -p8, p8)),
        ("softmax_x_ent_kernel", probabilities, t8 - p8, np.where(t8 != 0, -np.log(p8), 0)),
        ("logistic_x_ent_kernel", probabilities, t8 - p8, logistic),
    ):  # fmt: skip
        yield blas(kernel, (n,), {"n": n, **args}, {"delta": delta, "error": error})
    mask = {"n": n, "x": a, "mask_num": 1.0, "mask": truth}
    yield blas("mask_kernel", (n,), {**mask, "val": 7.5}, {"x": np.where(t8 == 1, 7.5, a8)})
    yield blas(
        "scale_mask_kernel", (n,), {**mask, "scale": 7.5}, {"x": np.where(t8 == 1, 7.5, 1) * a8}
    )
    yield blas("weighted_sum_kernel", (n,), {"n": n, "a": a, "b": b, "s": s, "c": c},
               {"c": s8 * a8 + (1 - s8) * b8})  # fmt: skip
    yield blas("mult_add_into_kernel", (n,), {"n": n, "a": a, "b": b, "c": c}, {"c": c8 + a8 * b8})
    yield blas("weighted_delta_kernel", (n,),
               {"n": n, "a": a, "b": b, "s": s, "da": d, "db": e, "ds": f, "dc": c},
               {"da": d8 + c8 * s8, "db": e8 + c8 * (1 - s8), "ds": f8_ + c8 * (a8 - b8)})  # fmt: skip
    moment, square = make.normal(n), make.positive(n)
    m8, v8 = f8(moment, square)
    step = 0.01 * (m8 / (1 - 0.9**3)) / (np.sqrt(v8 / (1 - 0.99**3)) + 1e-6)
    yield blas("adam_kernel", (n,), {"N": n, "x": a, "m": moment, "v": square, "B1": 0.9, "B2": 0.99,
                                     "rate": 0.01, "eps": 1e-6, "t": 3}, {"x": a8 + step})  # fmt: skip


def batches():
    """Batch normalisation: x is batch x filters x spatial, mean and variance one per filter."""
    make, batch, filters, spatial = Inputs(13), 3, 7, 700
    shape, sizes = (
        (batch, filters, spatial),
        {"batch": batch, "filters": filters, "spatial": spatial},
    )
    x, delta = make.normal(*shape), make.normal(*shape)
    mean, totals = make.normal(filters), make.normal(filters)
    variance, mean_delta, variance_delta = (
        make.positive(filters),
        make.normal(filters),
        make.normal(filters),
    )
    x8, d8 = f8(x, delta)
    m8, v8, md8, vd8 = (f8(v)[:, None] for v in (mean, variance, mean_delta, variance_delta))
    count, total = batch * spatial, batch * filters * spatial
    deviation = np.sqrt(v8 + SMALL)
    by_filter = (0, 2)
    mean_gradient = -(d8.sum(by_filter)[:, None]) / deviation
    variance_gradient = (d8 * (x8 - m8)).sum(by_filter)[:, None] * -0.5 * (v8 + SMALL) ** -1.5
    yield blas("normalize_kernel", (total,), {"N": total, "x": x, "mean": mean, "variance": variance, **sizes},
               {"x": (x8 - m8) / deviation})  # fmt: skip
    yield blas("normalize_delta_kernel", (total,),
               {"N": total, "x": x, "mean": mean, "variance": variance, "mean_delta": mean_delta,
                "variance_delta": variance_delta, **sizes, "delta": delta},
               {"delta": d8 / deviation + vd8 * 2 * (x8 - m8) / count + md8 / count})  # fmt: skip
    block = {"block": (BLOCK,), "rtol": 1e-4}
    alone, shared = ((filters,), {"rtol": 1e-4}), ((filters * BLOCK,), block)
    for name, (threads, more) in (("", alone), ("fast_", shared)):
        yield blas(f"{name}mean_kernel", threads, {"x": x, **sizes, "mean": totals},
                   {"mean": x8.mean(by_filter)}, **more)  # fmt: skip
        yield blas(f"{name}variance_kernel", threads, {"x": x, "mean": mean, **sizes, "variance": totals},
                   {"variance": ((x8 - m8) ** 2).sum(by_filter) / (count - 1)}, **more)  # fmt: skip
        yield blas(f"{name}mean_delta_kernel", threads,
                   {"delta": delta, "variance": variance, **sizes, "mean_delta": totals},
                   {"mean_delta": mean_gradient}, **more)  # fmt: skip
        kernel = "fast_variance_delta_kernel" if name else "variance_delta_kernel"
        yield blas(kernel, threads, {"x": x, "delta": delta, "mean": mean, "variance": variance, **sizes,
                                     "variance_delta": totals}, {"variance_delta": variance_gradient},
                   **more)  # fmt: skip
    yield from biases(make, x, delta, totals)


def biases(make, x, delta, totals):
    batch, n, size = x.shape
    x8, d8, g8 = f8(x, delta, totals)
    scale = make.normal(n)
    s8 = f8(scale)[:, None]
    sizes = {"batch": batch, "n": n, "size": size}
    yield blas("scale_bias_kernel", (size, n, batch), {"output": x, "biases": scale, "n": n, "size": size},
               {"output": x8 * s8}, block=(64, 1, 1))  # fmt: skip
    yield blas(
        "add_bias_kernel", (x.size,), {"output": x, "biases": scale, **sizes}, {"output": x8 + s8}
    )
    block = {"block": (BLOCK,), "rtol": 1e-4}
    yield blas("backward_bias_kernel", (n * BLOCK,), {"bias_updates": totals, "delta": delta, **sizes},
               {"bias_updates": g8 + d8.sum((0, 2))}, **block)  # fmt: skip
    yield blas("backward_scale_kernel", (n * BLOCK,),
               {"x_norm": x, "delta": delta, **sizes, "scale_updates": totals},
               {"scale_updates": g8 + (x8 * d8).sum((0, 2))}, **block)  # fmt: skip
    flat = make.normal(batch, n)
    yield blas("backward_bias_conn_kernel", (n,), {"bias_updates": totals, "delta": flat, "batch": batch, "n": n},
               {"bias_updates": g8 + f8(flat).sum(0)})  # fmt: skip
    sums = make.normal(8)
    rows = make.normal(6, 8)
    yield blas(
        "accumulate_kernel",
        (8,),
        {"x": rows, "n": 6, "groups": 8, "sum": sums},
        {"sum": f8(rows).sum(0)},
    )
    image, slope = make.normal(batch, n, 50), make.normal(batch, n, 50)
    length = np.sqrt((f8(image) ** 2).sum(1, keepdims=True))
    unit = f8(image) / length
    yield blas("l2norm_kernel", (batch * 50,), {"N": batch * 50, "x": image, "dx": slope, "batch": batch,
                                                "filters": n, "spatial": 50},
               {"x": unit, "dx": (1 - unit) / length})  # fmt: skip
