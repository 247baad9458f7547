# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies into an array that is there, one line a layout class, beside memcpy of as many bytes.

On the CPU memcpy is NumPy's copy of a contiguous array, which is one thread's; ours is all threads'
and, where a line says so, one thread's.
"""

import contextlib

import numpy as np
from harness import Result, installed, interleave

import spanwise as sw

MIB = 1 << 20


# Name, dtype, shape of the memory, the view that is copied, at most so many times memcpy's time on
# the CPU (None: no goal beside NumPy's) and on a GPU.
CLASSES = [
    ("contiguous", "float32", (4096, 4096), lambda a: a, 1.0, 1 / 0.98),
    (
        "rows of 1000 bytes, pitch 1024",
        "float32",
        (65536, 256),
        lambda a: a[:, :250],
        None,
        1 / 0.9,
    ),
    ("rows of 64 bytes, pitch 96", "float32", (1 << 20, 24), lambda a: a[:, :16], None, 1 / 0.78),
    ("transpose float32 4096^2", "float32", (4096, 4096), lambda a: a.T, 1 / 0.8, 1 / 0.93),
    ("transpose uint8 8192^2", "uint8", (8192, 8192), lambda a: a.T, 1 / 0.6, 1 / 0.85),
    ("transpose float16 4096 x 8192", "float16", (4096, 8192), lambda a: a.T, None, 1 / 0.88),
    ("transpose float64 2048 x 4096", "float64", (2048, 4096), lambda a: a.T, None, 1 / 0.93),
    ("transpose complex128 2048^2", "complex128", (2048, 2048), lambda a: a.T, None, 1 / 0.93),
    (
        "transposes in a batch (0, 2, 1)",
        "float32",
        (256, 256, 256),
        lambda a: a.transpose(0, 2, 1),
        None,
        1 / 0.93,
    ),
    (
        "runs of 512 bytes (1, 0, 2)",
        "float32",
        (256, 512, 128),
        lambda a: a.transpose(1, 0, 2),
        None,
        1 / 0.95,
    ),
    (
        "permutation (3, 2, 1, 0) of 64^4",
        "float32",
        (64, 64, 64, 64),
        lambda a: a.transpose(3, 2, 1, 0),
        1 / 0.7,
        1 / 0.9,
    ),
    ("pixels to planes (N, 3)", "float32", (5 * MIB, 3), lambda a: a.T, None, 1 / 0.92),
    ("planes to pixels (3, N)", "float32", (3, 5 * MIB), lambda a: a.T, None, 1 / 0.92),
    ("a row to all", "float32", (4096,), lambda a: _stretched(a, (4096, 4096)), None, 1.0),
    ("a column to all", "float32", (4096, 1), lambda a: _stretched(a, (4096, 4096)), None, 1.0),
    ("backwards", "float32", (16 * MIB,), lambda a: a[::-1], None, 1 / 0.9),
    ("every other", "float32", (32 * MIB,), lambda a: a[::2], None, 1 / 0.63),
]


def _stretched(a, shape):
    return np.broadcast_to(a, shape) if isinstance(a, np.ndarray) else a.broadcast_to(shape)


def measure():
    for device in map(str, sw.devices()):
        for line in CLASSES:
            yield _on_cpu(*line[:5]) if device == "cpu" else _on_gpu(device, *line[:4], line[5])
        yield _cast(device)
    yield from _small()


def _memory(shape, dtype):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.random.default_rng(0).integers(0, 255, size, np.uint8).view(dtype).reshape(shape)


def _on_cpu(name, dtype, shape, view, goal):
    source = view(_memory(shape, dtype))
    ours = view(sw.array(_memory(shape, dtype), device="cpu"))
    theirs = np.ones(source.shape, dtype)
    mine = sw.ones(source.shape, dtype=dtype, device="cpu")
    # Pages that nobody has written are one page of zeros, which stays in the caches.
    packed, packed_target = np.ones(source.nbytes, np.uint8), np.ones(source.nbytes, np.uint8)

    def one_thread():
        with sw.config.change(cpu_threads=1):
            sw.copyto(mine, ours)

    contenders = {
        "sw.copyto": lambda: sw.copyto(mine, ours),
        "sw.copyto, one thread": one_thread,
        "np.copyto": lambda: np.copyto(theirs, source),
        "memcpy": lambda: np.copyto(packed_target, packed),
    }
    if installed("jax") and source.strides and 0 not in source.strides:
        contenders |= _jax(view, _memory(shape, dtype))
    figures = interleave(contenders, rounds=9)
    assert mine.numpy().tobytes() == theirs.tobytes()
    bound = ("ratio", "memcpy", goal) if goal else ("ratio", "np.copyto", 1.0)
    return Result(f"copy on the CPU: {name}, {dtype}", "sw.copyto", figures, goal=bound)


def _jax(view, memory):
    import jax

    with contextlib.suppress(Exception):  # a dtype that JAX was not told to keep
        source = jax.device_put(memory, jax.devices("cpu")[0])
        if source.dtype == memory.dtype:
            packed = jax.jit(lambda a: view(a) + 0)
            packed(source).block_until_ready()
            return {"jax, into a fresh array": lambda: packed(source).block_until_ready()}
    return {}


def _on_gpu(device, name, dtype, shape, view, goal):
    base = sw.asarray(_memory(shape, dtype)).to(device)
    source = view(base)
    target = sw.empty(source.shape, dtype=dtype, device=device)
    packed = sw.empty(source.nbytes, dtype="uint8", device=device)
    packed_target = sw.empty(source.nbytes, dtype="uint8", device=device)
    repeats = 20

    def many(to, what):
        def run():
            for _ in range(repeats):
                sw.copyto(to, what)
            to.sync()

        return run

    figures = interleave(
        {"20 x sw.copyto": many(target, source), "20 x memcpy": many(packed_target, packed)},
        rounds=7,
    )
    expected = np.ascontiguousarray(view(base.numpy()))
    assert target.numpy().tobytes() == expected.tobytes()
    return Result(
        f"copy on {device}: {name}, {dtype}",
        "20 x sw.copyto",
        figures,
        goal=("ratio", "20 x memcpy", goal),
    )


def _cast(device):
    values = np.random.default_rng(0).random(8 * MIB, dtype="float32")
    source = sw.asarray(values).to(device)
    target = sw.zeros(values.shape, dtype="float64", device=device)
    theirs = np.zeros(values.shape)

    def ours():
        sw.copyto(target, source)
        target.sync()

    figures = interleave(
        {"sw.copyto": ours, "np.copyto, on the CPU": lambda: np.copyto(theirs, values)}, rounds=7
    )
    np.testing.assert_array_equal(target.numpy(), theirs)
    return Result(
        f"cast on {device}, 8M float32 to float64",
        "sw.copyto",
        figures,
        goal=("ratio", "np.copyto, on the CPU", 1.0),
    )


def _small():
    a, b = sw.zeros((4, 4), device="cpu"), np.zeros((4, 4))
    x, y = sw.zeros((4, 4), device="cpu"), np.zeros((4, 4))

    def element(target):
        target[0, 0] = 1.0

    def row(target, source):
        target[0] = source[1]

    pairs = {
        "zeros(16)": (lambda: sw.zeros(16, device="cpu"), lambda: np.zeros(16)),
        "a[0, 0] = 1.0": (lambda: element(a), lambda: element(b)),
        "a[0] = x[1]": (lambda: row(a, x), lambda: row(b, y)),
        "a.copy()": (lambda: a.copy(), lambda: b.copy()),
        "a.T.copy()": (lambda: a.T.copy(), lambda: b.T.copy()),
        "array(list)": (lambda: sw.array([1.0, 2.0], device="cpu"), lambda: np.array([1.0, 2.0])),
        "a.reshape(16)": (lambda: a.reshape(16), lambda: b.reshape(16)),
        "a.flags": (lambda: a.flags, lambda: b.flags),
    }
    for name, (ours, theirs) in pairs.items():
        yield Result(
            f"host cost on the CPU: {name}",
            "spanwise",
            interleave({"spanwise": ours, "numpy": theirs}, rounds=9),
            goal=("ratio", "numpy", 1.5),
        )
