# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Other shapes of the same elements, and arrays joined, split, turned, padded and repeated."""

import numpy as np

import spanwise as sw

from ..compare import Tolerance
from ..values import ALL, BFLOAT16, NUMPYS, is_complex
from .views import (
    any_array,
    at_least,
    axes,
    broadcast,
    call,
    diag,
    diagonal,
    expand,
    fill_diagonal,
    flip,
    reshape,
    rot90,
    squeeze,
    triangle,
    two_axes,
)


def case(context):
    OPERATIONS[int(context.r.random() * len(OPERATIONS))](context)


def _roll(context):
    array = any_array(context)
    rank, shift = len(array.shape), context.pick((0, 1, -1, 3, 17, -50))
    if context.chance(0.3) or rank == 0:
        call(context, "roll", [array], shift)
    elif context.chance(0.7):
        call(context, "roll", [array], shift, context.axis(rank))
    else:
        call(context, "roll", [array], (shift, 2), (context.axis(rank, 0), context.axis(rank, 0)))


def _tile(context):
    array = any_array(context, max_size=200)
    reps = tuple(context.pick((0, 1, 1, 2, 3)) for _ in range(context.pick((0, 1, 1, 2, 3))))
    call(context, "tile", [array], reps if context.chance(0.7) else context.pick((0, 1, 2, 5)))


def _resize(context):
    call(context, "resize", [any_array(context, max_size=200)], context.shape(300))


# Not "mean": the order of its sums differs from NumPy's.
_PADS = (
    *("constant", "constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp"),
    *("maximum", "minimum", "median"),
)


def _pad(context):
    array = any_array(context, max_size=200, min_rank=1, dtypes=NUMPYS)
    widths = tuple((context.pick((0, 1, 2, 5)), context.pick((0, 0, 1, 3, 9))) for _ in array.shape)
    mode = context.pick(_PADS)
    if mode == "linear_ramp" and array.dtype.kind not in "iu":
        mode = "edge"
    options = {}
    if mode == "constant" and array.dtype.kind != "b":
        options["constant_values"] = context.pick((0, 1, (1, 2)))
    elif mode == "linear_ramp":
        options["end_values"] = context.pick((0, 1, (1, 2)))
    elif mode in ("maximum", "minimum", "median"):
        options["stat_length"] = context.pick((None, 1, 2, (1, 3), 50))
    # Of zeros of both signs, and of complex numbers with a NaN, any may be the least or the greatest.
    is_either = mode in ("maximum", "minimum") and is_complex(array.dtype)
    tolerance = Tolerance(signed_zeros=False, nonfinite_in_either_part=is_either)
    call(context, "pad", [array], widths, mode, tolerance=tolerance, **options)


def _dtypes(context, count):
    """Dtypes of arrays to join. All or none are bfloat16, which NumPy promotes by other rules."""
    first = context.pick(ALL)
    if first == BFLOAT16 or context.chance(0.6):
        return [first] * count
    return [first, *(context.pick(NUMPYS) for _ in range(count - 1))]


def _concatenate(context):
    shape = context.shape(min_rank=1)
    count = context.pick((1, 2, 2, 3, 4))
    axis = context.axis(len(shape))
    arrays = []
    for dtype in _dtypes(context, count):
        part_shape = list(shape)
        if -len(shape) <= axis < len(shape):
            part_shape[axis] = int(context.r.random() * (shape[axis] + 2))
        if context.chance(0.005):
            part_shape[0] += 1
        arrays.append(context.array(dtype, tuple(part_shape)))
    axis = None if context.chance(0.1) else axis
    context.note(axis=axis)
    ours, theirs = [a.ours for a in arrays], [a.theirs for a in arrays]
    if context.chance(0.75):
        context.check(
            "concatenate", lambda: sw.concatenate(ours, axis), lambda: np.concatenate(theirs, axis)
        )
        return
    try:
        expected = np.concatenate(theirs, axis)
    except ValueError:
        return
    out = context.target(expected.dtype, expected.shape)
    context.check(
        "concatenate",
        lambda: sw.concatenate(ours, axis, out=out.ours),
        lambda: np.concatenate(theirs, axis, out=out.theirs),
        out=out,
    )


def _stack(context):
    shape = context.shape(max_size=300)
    arrays = [context.array(d, shape) for d in _dtypes(context, context.pick((1, 2, 3)))]
    ours, theirs = [a.ours for a in arrays], [a.theirs for a in arrays]
    name = context.pick(("stack", "stack", "vstack", "hstack", "dstack", "column_stack"))
    options = {"axis": context.axis(len(shape) + 1)} if name == "stack" else {}
    context.note(**options)
    context.check(
        name,
        lambda: getattr(sw, name)(ours, **options),
        lambda: getattr(np, name)(theirs, **options),
    )


def _split(context):
    array = any_array(context, min_rank=1)
    name = context.pick(("split", "array_split", "hsplit", "vsplit", "dsplit", "unstack"))
    axis = context.axis(len(array.shape))
    if name == "unstack":
        if -len(array.shape) <= axis < len(array.shape) and array.shape[axis] < 50:
            call(context, name, [array], axis=axis)
        return
    extra = (axis,) if name in ("split", "array_split") else ()
    indices = sorted(int(context.r.random() * 9) for _ in range(context.pick((1, 2, 3))))
    call(context, name, [array], context.pick((1, 2, 3, indices)), *extra)


def _append(context):
    shape = context.shape(300, min_rank=1)
    dtypes = _dtypes(context, 2)
    arrays = [context.array(d, shape) for d in dtypes]
    call(context, "append", arrays, None if context.chance(0.3) else context.axis(len(shape)))


def _delete(context):
    array = any_array(context, max_size=300, min_rank=1)
    axis = context.axis(len(array.shape), 0)
    extent = array.shape[axis]
    if extent == 0:
        return
    i = int(context.r.random() * extent)
    indices = context.pick((i, [i, 0], slice(i, None), slice(None, None, 2), [i - extent]))
    call(context, "delete", [array], indices, axis)


def _insert(context):
    array = any_array(context, max_size=300, min_rank=1)
    axis = context.axis(len(array.shape), 0)
    i = int(context.r.random() * (array.shape[axis] + 1))
    call(context, "insert", [array], context.pick((i, [i, 0], [0])), context.pick((0, 1)), axis)


def _diff(context):
    """Differences, which both libraries round in the same steps."""
    array = any_array(context, min_rank=1, dtypes=NUMPYS)
    call(context, "diff", [array], context.pick((0, 1, 1, 2)), context.axis(len(array.shape)))


def _grid(context):
    arrays = [any_array(context, max_size=30) for _ in range(context.pick((1, 2, 3)))]
    arrays = [context.array(a.dtype, (context.pick((0, 1, 2, 5, 8)),)) for a in arrays[:2]]
    options = {"indexing": context.pick(("xy", "ij")), "sparse": context.chance(0.3)}
    call(context, "meshgrid", arrays, **options)


OPERATIONS = (
    *(reshape,) * 5,
    *(_concatenate,) * 4,
    *(axes,) * 2,
    *(_roll,) * 2,
    *(_pad,) * 2,
    *(_stack,) * 2,
    *(_split,) * 2,
    *(triangle,) * 2,
    *(diagonal,) * 2,
    two_axes,
    squeeze,
    expand,
    flip,
    rot90,
    broadcast,
    at_least,
    diag,
    fill_diagonal,
    _tile,
    _resize,
    _append,
    _delete,
    _insert,
    _grid,
    _diff,
)
