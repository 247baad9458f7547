# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of darknet's src/blas_kernels.cu that reorder, join and enlarge arrays, and softmax."""

import numpy as np
from oracle import Inputs, f8
from oracle_darknet_blas import blas


def rearranged():
    """Reordered, joined and enlarged arrays."""
    make, batch, layers, spatial = Inputs(14), 2, 5, 33
    x, out = make.normal(batch, layers, spatial), make.normal(batch, spatial, layers)
    sizes = {"N": x.size, "x": x, "spatial": spatial, "layers": layers, "batch": batch}
    yield blas("flatten_kernel", (x.size,), {**sizes, "forward": 1, "out": out},
               {"out": f8(x).transpose(0, 2, 1)}, variant="forward")  # fmt: skip
    back = x.reshape(batch, spatial, layers)
    yield blas("flatten_kernel", (x.size,), {**sizes, "forward": 0, "out": out},
               {"out": f8(back).transpose(0, 2, 1)}, variant="back")  # fmt: skip
    left, right, both = make.normal(batch, 11), make.normal(batch, 17), make.normal(batch, 28)
    l8, r8, b8 = f8(left, right, both)
    args = {"NX": 11, "X": left, "NY": 17, "Y": right, "B": batch, "OUT": both}
    yield blas("inter_kernel", (both.size,), args, {"OUT": np.concatenate([l8, r8], 1)})
    yield blas("deinter_kernel", (both.size,), args, {"X": l8 + b8[:, :11], "Y": r8 + b8[:, 11:]})
    c, h, w, stride = 4, 6, 5, 2
    x, out = make.normal(batch, c, h, w), make.normal(batch, c, h * stride, w * stride)
    large = f8(x).repeat(stride, 2).repeat(stride, 3)
    args = {
        "N": np.uint64(out.size),
        "x": x,
        "w": w,
        "h": h,
        "c": c,
        "batch": batch,
        "stride": stride,
    }
    yield blas("upsample_kernel", (out.size,), {**args, "forward": 1, "scale": 0.5, "out": out},
               {"out": f8(out) + 0.5 * large}, variant="forward")  # fmt: skip
    small = f8(out).reshape(batch, c, h, stride, w, stride).sum((3, 5))
    yield blas("upsample_kernel", (out.size,), {**args, "forward": 0, "scale": 0.5, "out": out},
               {"x": f8(x) + 0.5 * small}, variant="back")  # fmt: skip
    add, out = make.normal(batch, c, h, w), make.normal(batch, c, h, w)
    sizes = {
        "size": add.size,
        "minw": w,
        "minh": h,
        "minc": c,
        "stride": 1,
        "sample": 1,
        "batch": batch,
    }
    yield blas("shortcut_kernel", (add.size,),
               {**sizes, "w1": w, "h1": h, "c1": c, "add": add, "w2": w, "h2": h, "c2": c, "s1": 0.5, "s2": 2.0,
                "out": out}, {"out": 0.5 * f8(out) + 2 * f8(add)})  # fmt: skip
    x, out = make.normal(batch, 4, 3, 5), make.normal(batch, 1, 6, 10)
    wide = f8(x).reshape(batch, 2, 2, 1, 3, 5).transpose(0, 3, 4, 1, 5, 2)
    args = {
        "N": x.size,
        "x": x,
        "w": 5,
        "h": 3,
        "c": 4,
        "batch": batch,
        "stride": 2,
        "forward": 1,
        "out": out,
    }
    yield blas("reorg_kernel", (x.size,), args, {"out": wide.reshape(out.shape)})
    yield from softmaxes(make)


def softmax(x, temperature):
    e = np.exp(x / temperature - x.max(-1, keepdims=True) / temperature)
    return e / e.sum(-1, keepdims=True)


def softmaxes(make):
    batch, groups, n = 3, 4, 9
    x, out = 3 * make.normal(batch, groups, n), make.normal(batch, groups, n)
    yield blas("softmax_kernel", (batch * groups,),
               {"input": x, "n": n, "batch": batch, "batch_offset": groups * n, "groups": groups,
                "group_offset": n, "stride": 1, "temp": 1.5, "output": out},
               {"output": softmax(f8(x), 1.5)})  # fmt: skip
    sizes, spatial = np.array([2, 4, 3], "i4"), 5
    offsets = np.array([0, 2, 6], "i4")
    x, out = make.normal(batch, n, spatial), make.normal(batch, n, spatial)
    parts = [softmax(p.swapaxes(1, 2), 0.8).swapaxes(1, 2) for p in np.split(f8(x), (2, 6), 1)]
    yield blas("softmax_tree_kernel", (batch * spatial * 3,),
               {"input": x, "spatial": spatial, "batch": batch, "stride": n * spatial, "temp": 0.8,
                "output": out, "groups": 3, "group_size": sizes, "group_offset": offsets},
               {"output": np.concatenate(parts, 1)})  # fmt: skip
