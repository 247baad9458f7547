# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of collective operations, computed by NumPy, and the operands of all_operations.py."""

import zlib

import numpy as np
from support.elementwise import ALL

import spanwise as sw

DTYPES = [*ALL, "bfloat16"]
REDUCTIONS = ("sum", "prod", "min", "max", "mean")
REDUCING = ("all_reduce", "reduce", "reduce_scatter")
MOVING = ("broadcast", "all_gather", "all_to_all")
ROWS, COLUMNS = 6, 5  # 6 rows can be divided among 1, 2 and 3 ranks
#: Views and one copy of an array of shape (2 * ROWS, 2 * COLUMNS). All but the last three have shape
#: (ROWS, COLUMNS).
LAYOUTS = {
    "contiguous": lambda a: a[:ROWS, :COLUMNS].copy(),
    "window": lambda a: a[1 : ROWS + 1, 2 : COLUMNS + 2],
    "steps": lambda a: a[::2, ::2],
    "reversed": lambda a: a[ROWS - 1 :: -1, COLUMNS - 1 :: -1],
    "transposed": lambda a: a.reshape(-1)[: ROWS * COLUMNS].reshape(COLUMNS, ROWS).T,
    "broadcast": lambda a: sw.broadcast_to(a[0, :COLUMNS], (ROWS, COLUMNS)),
    "number": lambda a: a[0, 0],
    "empty": lambda a: a[:0, :COLUMNS],
    "empty vector": lambda a: a[0, :0],
}


def is_defined(op, reduction, dtype):
    """Whether Spanwise defines the operation for the dtype; the engine may still refuse it."""
    if op not in REDUCING:
        return True
    if reduction in ("min", "max"):
        return not dtype.startswith("complex")
    return reduction != "mean" or dtype.startswith(("float", "bfloat", "complex"))


def values(key, dtype, rank):
    """Random numbers for the operand of `rank` in the case `key`; each rank can compute those of the
    others. Sums of 8-bit and products of 8-bit and 16-bit integers wrap, as those of NumPy's
    elementwise add and multiply; those of real and complex numbers stay in range."""
    random = np.random.default_rng([zlib.crc32(key.encode()), rank])
    shape = (2 * ROWS, 2 * COLUMNS)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        return random.integers(0, 100, shape).astype(dtype)
    real = random.uniform(0.5, 2, shape)
    if dtype.startswith("complex"):
        return (real + 1j * random.uniform(0.5, 2, shape)).astype(dtype)
    return as_numpy(sw.array(real).astype(dtype))


def as_numpy(array):
    """The array as one of NumPy; bfloat16 as float32, which has all its values."""
    array = sw.asarray(array)
    return (array.astype("float32") if array.dtype.name == "bfloat16" else array).numpy()


def array(key, dtype, rank, layout, device):
    return LAYOUTS[layout](sw.array(values(key, dtype, rank), dtype=dtype, device=device))


def reduced(arrays, reduction):
    if reduction == "mean":
        wide = [each.astype(np.result_type(each, np.float64)) for each in arrays]
        return sum(wide[1:], wide[0]) / len(arrays)
    is_inexact = arrays[0].dtype.kind in "fc"
    wide = [
        each.astype(np.result_type(each, np.float64)) if is_inexact else each for each in arrays
    ]
    ufunc = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}[reduction]
    return ufunc.reduce(np.stack(wide), axis=0, dtype=wide[0].dtype)


def expected(op, arrays, reduction, rank, root):
    """The result of `rank`, None where it gets none; `arrays` are the operands of all ranks."""
    size = len(arrays)
    if op == "broadcast":
        return arrays[root]
    rows = [np.atleast_1d(each) for each in arrays]
    if op == "all_gather":
        return np.concatenate(rows)
    if op == "all_to_all":
        return np.concatenate([np.split(each, size)[rank] for each in rows])
    if op == "reduce":
        return reduced(arrays, reduction) if rank == root else None
    if op == "reduce_scatter":
        return np.split(reduced(rows, reduction), size)[rank]
    return reduced(arrays, reduction)


def difference(result, oracle, dtype, op):
    """How `result` differs from `oracle`; "" where it is equal, or close after a reduction of inexact
    numbers of `dtype`."""
    result = as_numpy(result)
    if result.shape != oracle.shape:
        return f"shape {result.shape}, expected {oracle.shape}"
    if op in REDUCING and result.dtype.kind in "fc":
        significand = {"bfloat16": 8, "float16": 11, "float32": 24, "complex64": 24}  # bits
        same = np.allclose(result, oracle, rtol=8 * 2.0 ** -significand.get(dtype, 53), atol=0)
    else:
        same = np.array_equal(result, oracle)
    return "" if same else f"got {result.ravel()[:4]}, expected {oracle.ravel()[:4]}"
