# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The layouts of the copy benchmarks, copy_cpu and copy_gpu."""

import numpy as np


def _broadcast(a, shape):
    return np.broadcast_to(a, shape) if isinstance(a, np.ndarray) else a.broadcast_to(shape)


# Name, dtype, shape of the memory (copy_gpu extends the first axis), the view that is copied.
LAYOUTS = [
    ("contiguous", "float32", (4096, 4096), lambda a: a),
    ("rows of 1000 bytes, pitch 1024", "float32", (65536, 256), lambda a: a[:, :250]),
    ("rows of 64 bytes, pitch 96", "float32", (1 << 20, 24), lambda a: a[:, :16]),
    ("rows that begin at 4 bytes", "float32", (65536, 251), lambda a: a[:, 1:]),
    ("bytes that begin at 1", "uint8", (65536, 1025), lambda a: a[:, 1:]),
    ("transpose float32", "float32", (4096, 4096), lambda a: a.T),
    ("transpose uint8", "uint8", (8192, 8192), lambda a: a.T),
    ("transpose float16", "float16", (4096, 8192), lambda a: a.T),
    ("transpose float64", "float64", (2048, 4096), lambda a: a.T),
    ("transpose complex128", "complex128", (2048, 2048), lambda a: a.T),
    ("transposes in a batch (0, 2, 1)", "float32", (256, 256, 256), lambda a: a.transpose(0, 2, 1)),
    ("runs of 512 bytes (1, 0, 2)", "float32", (256, 512, 128), lambda a: a.transpose(1, 0, 2)),
    (
        "permutation (3, 2, 1, 0)",
        "float32",
        (64, 64, 64, 64),
        lambda a: a.transpose(3, 2, 1, 0),
    ),
    ("permutation (2, 1, 0)", "float32", (256, 256, 256), lambda a: a.transpose(2, 1, 0)),
    ("pixels to planes (N, 3)", "float32", (5 << 20, 3), lambda a: a.T),
    ("small axes (N, 5, 4)", "float32", (1 << 20, 4, 5), lambda a: a.transpose(0, 2, 1)),
    ("planes to pixels (3, N)", "float32", (3, 5 << 20), lambda a: a.T),
    ("a row to all", "float32", (4096,), lambda a: _broadcast(a, (4 * a.shape[0], a.shape[0]))),
    ("a column to all", "float32", (4096, 1), lambda a: _broadcast(a, (a.shape[0], 4096))),
    ("backwards", "float32", (16 << 20,), lambda a: a[::-1]),
    ("every other", "float32", (32 << 20,), lambda a: a[::2]),
]


def memory(shape, dtype):
    """Random bytes as `dtype`; all pages are written."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.random.default_rng(0).integers(0, 255, size, np.uint8).view(dtype).reshape(shape)
