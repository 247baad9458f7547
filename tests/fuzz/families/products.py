# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of vectors, matrices and batches of them, of any layouts and dtypes."""

import numpy as np

import spanwise as sw

from ..compare import EXACT, Tolerance, wide_dtype
from ..values import ALL, BFLOAT16, FEW, NUMPYS, cast, is_complex, is_inexact

_EXTENTS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17)
_LARGE = (31, 64, 65, 130)


def case(context):
    OPERATIONS[int(context.r.random() * len(OPERATIONS))](context)


def _extents(context, count):
    """`count` extents; rarely some that are large enough for several blocks of the kernels."""
    large = context.chance(0.06)
    return [
        context.pick(_LARGE if large and context.chance(0.6) else _EXTENTS) for _ in range(count)
    ]


def _operands(context, shapes):
    dtypes = ALL if context.is_cpu else FEW
    first = context.pick(dtypes)
    others = [first] * len(shapes)
    if first != BFLOAT16 and context.is_cpu and context.chance(0.25):
        others = [context.pick(NUMPYS) for _ in shapes]
    kinds = ["mild" if is_inexact(d) else "any" for d in others]
    return [context.array(d, s, k) for d, s, k in zip(others, shapes, kinds, strict=True)]


def _check(context, name, arrays, depth, call, out=True):
    """Checks call(module, *arrays); each result is a sum of `depth` products."""
    ours, theirs = [a.ours for a in arrays], [a.theirs for a in arrays]
    try:
        expected = np.asarray(_numpys(call, theirs))
    except Exception:
        context.check(name, lambda: call(sw, *ours), lambda: _numpys(call, theirs))
        return
    tolerance = EXACT
    if is_inexact(expected.dtype):
        absolute = _RoundingBound(call, theirs, expected.dtype, depth)
        tolerance = Tolerance(
            1, lambda: call(np, *_widened(theirs, expected.dtype)), absolute, signed_zeros=False
        )
    if not out or context.chance(0.75):
        context.check(name, lambda: call(sw, *ours), lambda: expected, tolerance)
        return
    target = context.target(expected.dtype, expected.shape, tolerance)
    context.check(
        name,
        lambda: call(sw, *ours, out=target.ours),
        lambda: np.copyto(target.theirs, expected),
        tolerance,
        out=target,
    )


def _numpys(call, values):
    if any(v.dtype == BFLOAT16 for v in values):
        return np.asarray(call(np, *(v.astype(np.float32) for v in values))).astype(BFLOAT16)
    return call(np, *values)


def _widened(values, dtype):
    return [cast(v, dtype).astype(wide_dtype(dtype)) for v in values]


class _RoundingBound:
    """The rounding error of a sum of products; computed only where bits differ."""

    def __init__(self, call, values, dtype, depth):
        self._arguments = call, values, dtype, depth

    def __array__(self, dtype=None, copy=None):
        call, values, dtype, depth = self._arguments
        part = np.dtype(f"f{dtype.itemsize // 2}") if is_complex(dtype) else dtype
        # 16-bit sums are computed in float32, but intermediates between two products are rounded.
        is_narrow = part.itemsize == 2
        eps = float(np.finfo(np.float32 if is_narrow else part).eps)
        if is_narrow and len(values) > 2:
            eps = 2.0**-8 if part == BFLOAT16 else 2.0**-11
        moduli = [np.abs(v.astype(np.complex128)) for v in values]
        return np.asarray(eps * (8 + depth / 4) * call(np, *moduli))


# ---- The products ----


def _batches(context):
    """Two shapes of leading axes that broadcast."""
    batch = (
        tuple(_extents(context, context.pick((0, 0, 0, 1, 2)))) if context.chance(0.9) else (3, 1)
    )
    batch = tuple(min(n, 5) for n in batch)
    smaller = context.broadcastable(batch)
    return (batch, smaller) if context.chance(0.5) else (smaller, batch)


def _matmul(context):
    rows, depth, columns = _extents(context, 3)
    left, right = _batches(context)
    other = depth if context.chance(0.99) else depth + 1
    kind = context.pick(("mm", "mm", "mm", "mm", "vm", "mv", "vv"))
    shapes = [
        (depth,) if kind[0] == "v" else (*left, rows, depth),
        (other,) if kind[1] == "v" else (*right, other, columns),
    ]
    arrays = _operands(context, shapes)
    if context.chance(0.1):  # a matrix and its own transpose
        rows = min(rows, 40)
        first = context.array(arrays[0].dtype, (rows, depth), "mild")
        _check(context, "a @ a.T", [first], depth, lambda m, a, **o: m.matmul(a, a.T, **o))
        return
    _check(context, "matmul", arrays, depth, lambda m, a, b, **o: m.matmul(a, b, **o))


def _dot(context):
    rows, depth, columns = (min(n, 65) for n in _extents(context, 3))
    few = min(rows, 4)
    shapes = context.pick(
        (
            ((depth,), (depth,)),
            ((rows, depth), (depth,)),
            ((rows, depth), (depth, columns)),
            ((few, 2, depth), (3, depth, columns)),
            ((), (rows, columns)),
            ((rows, few), ()),
            ((rows, depth), (columns, depth)),
        )
    )
    arrays = _operands(context, shapes)
    # Without out=, which NumPy requires in C order and Spanwise accepts in any layout.
    _check(context, "dot", arrays, depth, lambda m, a, b: m.dot(a, b), out=False)


def _vecdot(context):
    (depth,) = _extents(context, 1)
    left, right = _batches(context)
    arrays = _operands(context, ((*left, depth), (*right, depth)))
    _check(context, "vecdot", arrays, depth, lambda m, a, b, **o: m.vecdot(a, b, **o))


def _outer(context):
    arrays = _operands(context, (context.shape(60), context.shape(60)))
    _check(context, "outer", arrays, 1, lambda m, a, b: m.outer(a, b), out=False)


def _inner(context):
    rows, depth, columns = _extents(context, 3)
    shapes = context.pick(
        (((depth,), (depth,)), ((rows, depth), (columns, depth)), ((rows, depth), (depth,)))
    )
    _check(
        context,
        "inner",
        _operands(context, shapes),
        depth,
        lambda m, a, b: m.inner(a, b),
        out=False,
    )


def _tensordot(context):
    sums = [min(n, 9) for n in _extents(context, context.pick((0, 1, 1, 2)))]
    free = [min(n, 5) for n in _extents(context, context.pick((0, 1, 2, 3)))]
    cut = int(context.r.random() * (len(free) + 1))
    left, right = (*free[:cut], *sums), (*sums, *free[cut:])
    axes, depth = len(sums), int(np.prod(sums))
    if len(sums) == 1 and context.chance(0.5):  # the summed axis is at any position
        positions = [int(context.r.random() * (len(part) + 1)) for part in (free[:cut], free[cut:])]
        left = (*free[:cut][: positions[0]], sums[0], *free[:cut][positions[0] :])
        right = (*free[cut:][: positions[1]], sums[0], *free[cut:][positions[1] :])
        axes = ([positions[0]], [positions[1] - len(right)])
    context.note(axes=axes)
    arrays = _operands(context, (left, right))
    _check(context, "tensordot", arrays, depth, lambda m, a, b: m.tensordot(a, b, axes), out=False)


_EINSUMS = (
    "ij,jk->ik", "ij,kj->ik", "ij,ij->i", "ij,ij->", "i,i->", "i,j->ji", "ii->i", "ii", "ij->ji", "ij->j",
    "bij,bjk->bik", "bij,bkj->bki", "ij,jk,kl->il", "ij,j", "ijk,kl->jil", "ijk->ki", "i,i,i->i",
    "abc,cd,bd->ad",
)  # fmt: skip


def _einsum(context):
    subscripts = context.pick(_EINSUMS)
    terms = subscripts.split("->")[0].split(",")
    labels = sorted(set("".join(terms)))
    extents = dict(zip(labels, (min(n, 9) for n in _extents(context, len(labels))), strict=True))
    shapes = [tuple(extents[label] for label in term) for term in terms]
    arrays = _operands(context, shapes)
    context.note(subscripts=subscripts)
    depth = int(np.prod([max(n, 1) for n in extents.values()]))
    _check(context, "einsum", arrays, depth, lambda m, *a: m.einsum(subscripts, *a), out=False)


OPERATIONS = (
    *(_matmul,) * 8,
    *(_dot,) * 3,
    *(_einsum,) * 3,
    *(_tensordot,) * 2,
    *(_vecdot,) * 2,
    _outer,
    _inner,
)
