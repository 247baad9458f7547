# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Other shapes of the same elements, and arrays joined, split, turned, padded and repeated."""

import numpy as np

import spanwise as sw

from ..values import ALL, BFLOAT16, NUMPYS
from ..windows import size_of


def case(context):
    OPERATIONS[int(context.r.random() * len(OPERATIONS))](context)


def _any(context, most=None, min_rank=0, dtypes=ALL):
    return context.array(context.pick(dtypes), context.shape(most, min_rank))


def _call(context, name, arrays, *arguments, **options):
    """The same call on both sides, arrays first."""
    if arguments or options:
        context.note(arguments=arguments, **options)
    context.check(
        name,
        lambda: getattr(sw, name)(*(a.ours for a in arrays), *arguments, **options),
        lambda: getattr(np, name)(*(a.theirs for a in arrays), *arguments, **options),
    )


# ---- Views ----


def _factors(context, size):
    """A random shape of so many elements, one extent perhaps left open, now and then wrong."""
    shape, left = [], size
    while left > 1 and len(shape) < 5 and context.chance(0.8):
        divisors = [d for d in (2, 3, 4, 5, 6, 7, 8, 10, 16) if left % d == 0]
        if not divisors:
            break
        shape.append(context.pick(divisors))
        left //= shape[-1]
    shape.append(left)
    while len(shape) < 6 and context.chance(0.2):
        shape.append(1)
    context.r.shuffle(shape)
    if context.chance(0.25):
        shape[int(context.r.random() * len(shape))] = -1
    if context.chance(0.02):
        shape[0] = context.pick((-1, 0, 3))
    return tuple(shape)


def _reshape(context):
    array = _any(context)
    shape = _factors(context, size_of(array.shape))
    order = context.pick("CCCF")
    context.note(shape=shape, order=order)
    if context.chance(0.2):
        _reshape_without_copy(context, array, shape, order)
        return
    context.check(
        "reshape",
        lambda: array.ours.reshape(shape, order=order),
        lambda: array.theirs.reshape(shape, order=order),
    )


def _reshape_without_copy(context, array, shape, order):
    """A view, or an error where NumPy cannot either."""

    def reference():
        return np.reshape(array.theirs, shape, order=order, copy=False)

    context.check("reshape", lambda: array.ours.reshape(shape, order=order, copy=False), reference)


def _axes(context):
    array = _any(context)
    order = list(range(len(array.shape)))
    context.r.shuffle(order)
    order = [i - len(order) if context.chance(0.3) else i for i in order]
    name = context.pick(("transpose", "permute_dims"))
    _call(context, name, [array], tuple(order) if context.chance(0.8) else None)


def _two_axes(context):
    array = _any(context)
    rank = len(array.shape)
    _call(
        context,
        context.pick(("swapaxes", "moveaxis", "rollaxis")),
        [array],
        context.axis(rank),
        context.axis(rank),
    )


def _squeeze(context):
    array = _any(context)
    ones = [i for i, n in enumerate(array.shape) if n == 1]
    axis = (
        None
        if context.chance(0.5)
        else tuple(ones)
        if context.chance(0.8)
        else context.axis(len(array.shape))
    )
    _call(context, "squeeze", [array], axis)


def _expand(context):
    array = _any(context)
    _call(context, "expand_dims", [array], context.axis(len(array.shape) + 1))


def _flip(context):
    array = _any(context, min_rank=1)
    rank = len(array.shape)
    if context.chance(0.2) or rank < 2:
        _call(context, "flip", [array], None if context.chance(0.3) else context.axis(rank))
        return
    if context.chance(0.5):
        _call(context, "flip", [array], context.axis(rank))
        return
    _call(context, context.pick(("fliplr", "flipud", "matrix_transpose")), [array])


def _rot90(context):
    array = _any(context, min_rank=2)
    _call(context, "rot90", [array], context.pick((-1, 0, 1, 2, 3, 5)))


def _broadcast(context):
    shape = context.shape()
    small = context.array(context.pick(ALL), context.broadcastable(shape))
    if context.chance(0.6):
        _call(context, "broadcast_to", [small], shape)
        return
    _call(context, "broadcast_arrays", [context.array(context.pick(ALL), shape), small])


def _at_least(context):
    _call(context, context.pick(("atleast_1d", "atleast_2d", "atleast_3d")), [_any(context)])


def _diagonal(context):
    array = _any(context, min_rank=2)
    rank = len(array.shape)
    offset = context.pick((0, 0, 1, -1, 2, -3, 40))
    _call(context, "diagonal", [array], offset, context.axis(rank), context.axis(rank))


def _diag(context):
    array = context.array(context.pick(ALL), context.shape(100)[:2])
    _call(context, context.pick(("diag", "diagflat")), [array], context.pick((0, 1, -2)))


def _triangle(context):
    array = _any(context, min_rank=1)
    if len(array.shape) == 1 and array.shape[0] > 500:
        return  # becomes a square
    _call(context, context.pick(("tril", "triu")), [array], context.pick((0, 0, 1, -1, 3, -20)))


def _fill_diagonal(context):
    n, dtype = context.pick((1, 2, 3, 5, 9)), context.pick(NUMPYS)
    shape = (n,) * 3 if context.chance(0.3) else (n, context.pick((1, 2, 4, 7)))
    array, values = context.target(dtype, shape), context.array(dtype, (context.pick((1, 2, 5)),))
    wrap = context.chance(0.3)
    context.note(wrap=wrap)
    context.check(
        "fill_diagonal",
        lambda: sw.fill_diagonal(array.ours, values.ours, wrap),
        lambda: np.fill_diagonal(array.theirs, values.theirs, wrap),
    )


# ---- More, in another order ----


def _roll(context):
    array = _any(context)
    rank, shift = len(array.shape), context.pick((0, 1, -1, 3, 17, -50))
    if context.chance(0.3) or rank == 0:
        _call(context, "roll", [array], shift)
    elif context.chance(0.7):
        _call(context, "roll", [array], shift, context.axis(rank))
    else:
        _call(context, "roll", [array], (shift, 2), (context.axis(rank, 0), context.axis(rank, 0)))


def _tile(context):
    array = _any(context, most=200)
    reps = tuple(context.pick((0, 1, 1, 2, 3)) for _ in range(context.pick((0, 1, 1, 2, 3))))
    _call(context, "tile", [array], reps if context.chance(0.7) else context.pick((0, 1, 2, 5)))


def _resize(context):
    _call(context, "resize", [_any(context, most=200)], context.shape(300))


_PADS = ("constant", "constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp")


def _pad(context):
    array = _any(context, most=200, min_rank=1, dtypes=NUMPYS)
    widths = tuple((context.pick((0, 1, 2, 5)), context.pick((0, 0, 1, 3, 9))) for _ in array.shape)
    mode = context.pick(_PADS)
    if mode == "linear_ramp" and array.dtype.kind not in "iu":
        mode = "edge"
    options = {}
    if mode == "constant" and array.dtype.kind != "b":
        options["constant_values"] = context.pick((0, 1, (1, 2)))
    _call(context, "pad", [array], widths, mode, **options)


def _dtypes(context, count):
    """Of arrays to join; bfloat16 only beside its like, since NumPy promotes it by rules of its own."""
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
        own = list(shape)
        if -len(own) <= axis < len(own):
            own[axis] = int(context.r.random() * (shape[axis] + 2))
        if context.chance(0.005):
            own[0] += 1
        arrays.append(context.array(dtype, tuple(own)))
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
    shape = context.shape(most=300)
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
    array = _any(context, min_rank=1)
    name = context.pick(("split", "array_split", "hsplit", "vsplit", "dsplit", "unstack"))
    axis = context.axis(len(array.shape))
    if name == "unstack":
        if -len(array.shape) <= axis < len(array.shape) and array.shape[axis] < 50:
            _call(context, name, [array], axis=axis)
        return
    extra = (axis,) if name in ("split", "array_split") else ()
    places = sorted(int(context.r.random() * 9) for _ in range(context.pick((1, 2, 3))))
    _call(context, name, [array], context.pick((1, 2, 3, places)), *extra)


def _append(context):
    shape = context.shape(300, min_rank=1)
    dtypes = _dtypes(context, 2)
    arrays = [context.array(d, shape) for d in dtypes]
    _call(context, "append", arrays, None if context.chance(0.3) else context.axis(len(shape)))


def _delete(context):
    array = _any(context, most=300, min_rank=1)
    axis = context.axis(len(array.shape), 0)
    extent = array.shape[axis]
    if extent == 0:
        return
    at = int(context.r.random() * extent)
    what = context.pick((at, [at, 0], slice(at, None), slice(None, None, 2), [at - extent]))
    _call(context, "delete", [array], what, axis)


def _insert(context):
    array = _any(context, most=300, min_rank=1)
    axis = context.axis(len(array.shape), 0)
    at = int(context.r.random() * (array.shape[axis] + 1))
    _call(context, "insert", [array], context.pick((at, [at, 0], [0])), context.pick((0, 1)), axis)


def _diff(context):
    """The exact ones; of floats each step rounds alike."""
    array = _any(context, min_rank=1, dtypes=NUMPYS)
    _call(context, "diff", [array], context.pick((0, 1, 1, 2)), context.axis(len(array.shape)))


def _grid(context):
    arrays = [_any(context, most=30) for _ in range(context.pick((1, 2, 3)))]
    arrays = [context.array(a.dtype, (context.pick((0, 1, 2, 5, 8)),)) for a in arrays[:2]]
    options = {"indexing": context.pick(("xy", "ij")), "sparse": context.chance(0.3)}
    _call(context, "meshgrid", arrays, **options)


OPERATIONS = (
    *(_reshape,) * 5,
    *(_concatenate,) * 4,
    *(_axes,) * 2,
    *(_roll,) * 2,
    *(_pad,) * 2,
    *(_stack,) * 2,
    *(_split,) * 2,
    *(_triangle,) * 2,
    *(_diagonal,) * 2,
    _two_axes,
    _squeeze,
    _expand,
    _flip,
    _rot90,
    _broadcast,
    _at_least,
    _diag,
    _fill_diagonal,
    _tile,
    _resize,
    _append,
    _delete,
    _insert,
    _grid,
    _diff,
)
