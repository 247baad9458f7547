# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of darknet's layers: pooling, dropout, columns of images, activations."""

import numpy as np
from oracle import Case, Inputs, f8


def layers():
    """Pooling, dropout, columns of images."""
    make, batch, c, h, w = Inputs(15), 2, 3, 8, 10
    more = {"options": ("-DGPU",)}
    x, delta = make.normal(batch, c, h, w), make.normal(batch, c)
    out = make.normal(batch, c)
    n = batch * c
    sizes = {"n": n, "w": w, "h": h, "c": c}
    file = "src/avgpool_layer_kernels.cu"
    yield Case(file, "forward_avgpool_layer_kernel", (n,), {**sizes, "input": x, "output": out},
               {"output": f8(x).mean((2, 3))}, **more)  # fmt: skip
    yield Case(file, "backward_avgpool_layer_kernel", (n,), {**sizes, "in_delta": x, "out_delta": delta},
               {"in_delta": f8(x) + f8(delta)[:, :, None, None] / (w * h)}, **more)  # fmt: skip
    yield from pooling(make, x, more)
    chance = make.rng.uniform(size=x.size).astype("f4")
    yield Case("src/dropout_layer_kernels.cu", "yoloswag420blazeit360noscope", (x.size,),
               {"input": x, "size": x.size, "rand": chance, "prob": 0.3, "scale": 1.25},
               {"input": np.where(chance < np.float32(0.3), 0, 1.25 * f8(x).ravel())}, **more)  # fmt: skip
    yield from columns(make, x[0], more)


def pooling(make, x, more):
    batch, c, h, w = x.shape
    out = make.normal(batch, c, h // 2, w // 2)
    indexes = np.full(out.shape, -5, "i4")
    numbers = np.arange(x.size).reshape(x.shape)
    windows = (
        x.reshape(batch, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(*out.shape, 4)
    )
    indices = (
        numbers.reshape(batch, c, h // 2, 2, w // 2, 2)
        .transpose(0, 1, 2, 4, 3, 5)
        .reshape(*out.shape, 4)
    )
    largest = np.take_along_axis(indices, windows.argmax(-1)[..., None], -1)[..., 0]
    sizes = {"in_h": h, "in_w": w, "in_c": c, "stride": 2, "size": 2, "pad": 0}
    file = "src/maxpool_layer_kernels.cu"
    yield Case(file, "forward_maxpool_layer_kernel", (out.size,),
               {"n": out.size, **sizes, "input": x, "output": out, "indexes": indexes},
               {"output": windows.max(-1), "indexes": largest}, **more)  # fmt: skip
    before, delta = make.normal(*x.shape), make.normal(*out.shape)
    want = f8(before).ravel()
    np.add.at(want, largest.ravel(), f8(delta).ravel())
    yield Case(file, "backward_maxpool_layer_kernel", (x.size,),
               {"n": x.size, **sizes, "delta": delta, "prev_delta": before, "indexes": largest.astype("i4")},
               {"prev_delta": want}, **more)  # fmt: skip


def columns(make, image, more):
    c, h, w = image.shape
    k, pad, stride = 3, 1, 2
    rows, cols = (h + 2 * pad - k) // stride + 1, (w + 2 * pad - k) // stride + 1
    padded = np.pad(f8(image), ((0, 0), (pad, pad), (pad, pad)))
    patches = np.array([padded[:, i : i + stride * rows : stride, j : j + stride * cols : stride]
                        for i in range(k) for j in range(k)])[:, :, :rows, :cols]  # fmt: skip
    want = patches.swapaxes(0, 1)
    sizes = {
        "height": h,
        "width": w,
        "ksize": k,
        "pad": pad,
        "stride": stride,
        "height_col": rows,
        "width_col": cols,
    }
    out = make.normal(*want.shape)
    yield Case("src/im2col_kernels.cu", "im2col_gpu_kernel", (c * rows * cols,),
               {"n": c * rows * cols, "data_im": image, **sizes, "data_col": out}, {"data_col": want},
               **more)  # fmt: skip
    back = np.pad(f8(image), ((0, 0), (pad, pad), (pad, pad)))
    for i in range(k):
        for j in range(k):
            back[:, i : i + stride * rows : stride, j : j + stride * cols : stride][
                :, :rows, :cols
            ] += f8(out)[:, i * k + j]
    yield Case("src/col2im_kernels.cu", "col2im_gpu_kernel", (c * h * w,),
               {"n": c * h * w, "data_col": out, **sizes, "data_im": image},
               {"data_im": back[:, pad : pad + h, pad : pad + w]}, **more)  # fmt: skip


def activations():
    make, n = Inputs(16), 300
    x, delta = 3 * make.normal(n), make.normal(n)
    x8, d8 = f8(x, delta)
    floor = np.floor(x8)
    stair = np.where(floor % 2 == 0, np.floor(x8 / 2), x8 - floor + np.floor(x8 / 2))
    selu = 1.0507 * np.where(x8 >= 0, x8, 1.6732 * np.expm1(x8))
    logistic = 1 / (1 + np.exp(-x8))
    steep = np.where(
        x8 < -4, 0.01 * (x8 + 4), np.where(x8 > 4, 0.01 * (x8 - 4) + 1, 0.125 * x8 + 0.5)
    )
    leaning = np.where(x8 < 0, 0.001 * x8, np.where(x8 > 1, 0.001 * (x8 - 1) + 1, x8))
    up, loggy = x8 > 0, (x8 + 1) / 2
    # In the order of the enumeration: name, value, slope as a function of the value.
    table = (
        ("logistic", logistic, (1 - x8) * x8), ("relu", x8 * up, up), ("relie", np.where(up, x8, 0.01 * x8),
         np.where(up, 1, 0.01)), ("linear", x8, np.ones(n)), ("ramp", x8 * up + 0.1 * x8, up + 0.1),
        ("tanh", np.tanh(x8), 1 - x8**2), ("plse", steep, np.where((x8 < 0) | (x8 > 1), 0.01, 0.125)),
        ("leaky", np.where(up, x8, 0.1 * x8), np.where(up, 1, 0.1)),
        ("elu", np.where(x8 >= 0, x8, np.expm1(x8)), np.where(x8 >= 0, 1, x8 + 1)),
        ("loggy", 2 * logistic - 1, 2 * (1 - loggy) * loggy), ("stair", stair, floor != x8),
        ("hardtan", np.clip(x8, -1, 1), abs(x8) < 1), ("lhtan", leaning, np.where(up & (x8 < 1), 1, 0.001)),
        ("selu", selu, np.where(x8 >= 0, 1.0507, x8 + 1.0507 * 1.6732)),
    )  # fmt: skip
    more = {"options": ("-DGPU",)}
    file = "src/activation_kernels.cu"
    for number, (name, value, slope) in enumerate(table):
        args = {"x": x, "n": n, "a": number}
        yield Case(file, "activate_array_kernel", (n,), args, {"x": value}, variant=name, **more)
        yield Case(file, "gradient_array_kernel", (n,), {**args, "delta": delta}, {"delta": d8 * slope},
                   variant=name, **more)  # fmt: skip
