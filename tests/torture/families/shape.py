# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Other shapes of the same elements, and arrays joined, split, turned, padded and repeated."""

import numpy as np

import spanwise as sw

from ..values import ALL, BFLOAT16, NUMPYS
from ..windows import size_of


def case(room):
    OPERATIONS[int(room.r.random() * len(OPERATIONS))](room)


def _any(room, most=None, min_rank=0, dtypes=ALL):
    return room.array(room.pick(dtypes), room.shape(most, min_rank))


def _call(room, name, arrays, *arguments, **options):
    """The same call on both sides, arrays first."""
    if arguments or options:
        room.note(arguments=arguments, **options)
    room.check(
        name,
        lambda: getattr(sw, name)(*(a.ours for a in arrays), *arguments, **options),
        lambda: getattr(np, name)(*(a.theirs for a in arrays), *arguments, **options),
    )


# ---- Views ----


def _factors(room, size):
    """A random shape of so many elements, one extent perhaps left open, now and then wrong."""
    shape, left = [], size
    while left > 1 and len(shape) < 5 and room.chance(0.8):
        divisors = [d for d in (2, 3, 4, 5, 6, 7, 8, 10, 16) if left % d == 0]
        if not divisors:
            break
        shape.append(room.pick(divisors))
        left //= shape[-1]
    shape.append(left)
    while len(shape) < 6 and room.chance(0.2):
        shape.append(1)
    room.r.shuffle(shape)
    if room.chance(0.25):
        shape[int(room.r.random() * len(shape))] = -1
    if room.chance(0.02):
        shape[0] = room.pick((-1, 0, 3))
    return tuple(shape)


def _reshape(room):
    array = _any(room)
    shape = _factors(room, size_of(array.shape))
    order = room.pick("CCCF")
    room.note(shape=shape, order=order)
    if room.chance(0.2):
        _reshape_without_copy(room, array, shape, order)
        return
    room.check(
        "reshape",
        lambda: array.ours.reshape(shape, order=order),
        lambda: array.theirs.reshape(shape, order=order),
    )


def _reshape_without_copy(room, array, shape, order):
    """A view, or an error where NumPy cannot either."""

    def reference():
        return np.reshape(array.theirs, shape, order=order, copy=False)

    room.check("reshape", lambda: array.ours.reshape(shape, order=order, copy=False), reference)


def _axes(room):
    array = _any(room)
    order = list(range(len(array.shape)))
    room.r.shuffle(order)
    order = [i - len(order) if room.chance(0.3) else i for i in order]
    name = room.pick(("transpose", "permute_dims"))
    _call(room, name, [array], tuple(order) if room.chance(0.8) else None)


def _two_axes(room):
    array = _any(room)
    rank = len(array.shape)
    _call(
        room,
        room.pick(("swapaxes", "moveaxis", "rollaxis")),
        [array],
        room.axis(rank),
        room.axis(rank),
    )


def _squeeze(room):
    array = _any(room)
    ones = [i for i, n in enumerate(array.shape) if n == 1]
    axis = (
        None
        if room.chance(0.5)
        else tuple(ones)
        if room.chance(0.8)
        else room.axis(len(array.shape))
    )
    _call(room, "squeeze", [array], axis)


def _expand(room):
    array = _any(room)
    _call(room, "expand_dims", [array], room.axis(len(array.shape) + 1))


def _flip(room):
    array = _any(room, min_rank=1)
    rank = len(array.shape)
    if room.chance(0.2) or rank < 2:
        _call(room, "flip", [array], None if room.chance(0.3) else room.axis(rank))
        return
    if room.chance(0.5):
        _call(room, "flip", [array], room.axis(rank))
        return
    _call(room, room.pick(("fliplr", "flipud", "matrix_transpose")), [array])


def _rot90(room):
    array = _any(room, min_rank=2)
    _call(room, "rot90", [array], room.pick((-1, 0, 1, 2, 3, 5)))


def _broadcast(room):
    shape = room.shape()
    small = room.array(room.pick(ALL), room.broadcastable(shape))
    if room.chance(0.6):
        _call(room, "broadcast_to", [small], shape)
        return
    _call(room, "broadcast_arrays", [room.array(room.pick(ALL), shape), small])


def _at_least(room):
    _call(room, room.pick(("atleast_1d", "atleast_2d", "atleast_3d")), [_any(room)])


def _diagonal(room):
    array = _any(room, min_rank=2)
    rank = len(array.shape)
    offset = room.pick((0, 0, 1, -1, 2, -3, 40))
    _call(room, "diagonal", [array], offset, room.axis(rank), room.axis(rank))


def _diag(room):
    array = room.array(room.pick(ALL), room.shape(100)[:2])
    _call(room, room.pick(("diag", "diagflat")), [array], room.pick((0, 1, -2)))


def _triangle(room):
    array = _any(room, min_rank=1)
    if len(array.shape) == 1 and array.shape[0] > 500:
        return  # becomes a square
    _call(room, room.pick(("tril", "triu")), [array], room.pick((0, 0, 1, -1, 3, -20)))


def _fill_diagonal(room):
    n, dtype = room.pick((1, 2, 3, 5, 9)), room.pick(NUMPYS)
    shape = (n,) * 3 if room.chance(0.3) else (n, room.pick((1, 2, 4, 7)))
    array, values = room.target(dtype, shape), room.array(dtype, (room.pick((1, 2, 5)),))
    wrap = room.chance(0.3)
    room.note(wrap=wrap)
    room.check(
        "fill_diagonal",
        lambda: sw.fill_diagonal(array.ours, values.ours, wrap),
        lambda: np.fill_diagonal(array.theirs, values.theirs, wrap),
    )


# ---- More, in another order ----


def _roll(room):
    array = _any(room)
    rank, shift = len(array.shape), room.pick((0, 1, -1, 3, 17, -50))
    if room.chance(0.3) or rank == 0:
        _call(room, "roll", [array], shift)
    elif room.chance(0.7):
        _call(room, "roll", [array], shift, room.axis(rank))
    else:
        _call(room, "roll", [array], (shift, 2), (room.axis(rank, 0), room.axis(rank, 0)))


def _tile(room):
    array = _any(room, most=200)
    reps = tuple(room.pick((0, 1, 1, 2, 3)) for _ in range(room.pick((0, 1, 1, 2, 3))))
    _call(room, "tile", [array], reps if room.chance(0.7) else room.pick((0, 1, 2, 5)))


def _resize(room):
    _call(room, "resize", [_any(room, most=200)], room.shape(300))


_PADS = ("constant", "constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp")


def _pad(room):
    array = _any(room, most=200, min_rank=1, dtypes=NUMPYS)
    widths = tuple((room.pick((0, 1, 2, 5)), room.pick((0, 0, 1, 3, 9))) for _ in array.shape)
    mode = room.pick(_PADS)
    if mode == "linear_ramp" and array.dtype.kind not in "iu":
        mode = "edge"
    options = {}
    if mode == "constant" and array.dtype.kind != "b":
        options["constant_values"] = room.pick((0, 1, (1, 2)))
    _call(room, "pad", [array], widths, mode, **options)


def _dtypes(room, count):
    """Of arrays to join; bfloat16 only beside its like, since NumPy promotes it by rules of its own."""
    first = room.pick(ALL)
    if first == BFLOAT16 or room.chance(0.6):
        return [first] * count
    return [first, *(room.pick(NUMPYS) for _ in range(count - 1))]


def _concatenate(room):
    shape = room.shape(min_rank=1)
    count = room.pick((1, 2, 2, 3, 4))
    axis = room.axis(len(shape))
    arrays = []
    for dtype in _dtypes(room, count):
        own = list(shape)
        if -len(own) <= axis < len(own):
            own[axis] = int(room.r.random() * (shape[axis] + 2))
        if room.chance(0.005):
            own[0] += 1
        arrays.append(room.array(dtype, tuple(own)))
    axis = None if room.chance(0.1) else axis
    room.note(axis=axis)
    ours, theirs = [a.ours for a in arrays], [a.theirs for a in arrays]
    if room.chance(0.75):
        room.check(
            "concatenate", lambda: sw.concatenate(ours, axis), lambda: np.concatenate(theirs, axis)
        )
        return
    try:
        expected = np.concatenate(theirs, axis)
    except ValueError:
        return
    out = room.target(expected.dtype, expected.shape)
    room.check(
        "concatenate",
        lambda: sw.concatenate(ours, axis, out=out.ours),
        lambda: np.concatenate(theirs, axis, out=out.theirs),
        out=out,
    )


def _stack(room):
    shape = room.shape(most=300)
    arrays = [room.array(d, shape) for d in _dtypes(room, room.pick((1, 2, 3)))]
    ours, theirs = [a.ours for a in arrays], [a.theirs for a in arrays]
    name = room.pick(("stack", "stack", "vstack", "hstack", "dstack", "column_stack"))
    options = {"axis": room.axis(len(shape) + 1)} if name == "stack" else {}
    room.note(**options)
    room.check(
        name,
        lambda: getattr(sw, name)(ours, **options),
        lambda: getattr(np, name)(theirs, **options),
    )


def _split(room):
    array = _any(room, min_rank=1)
    name = room.pick(("split", "array_split", "hsplit", "vsplit", "dsplit", "unstack"))
    axis = room.axis(len(array.shape))
    if name == "unstack":
        if -len(array.shape) <= axis < len(array.shape) and array.shape[axis] < 50:
            _call(room, name, [array], axis=axis)
        return
    extra = (axis,) if name in ("split", "array_split") else ()
    places = sorted(int(room.r.random() * 9) for _ in range(room.pick((1, 2, 3))))
    _call(room, name, [array], room.pick((1, 2, 3, places)), *extra)


def _append(room):
    shape = room.shape(300, min_rank=1)
    dtypes = _dtypes(room, 2)
    arrays = [room.array(d, shape) for d in dtypes]
    _call(room, "append", arrays, None if room.chance(0.3) else room.axis(len(shape)))


def _delete(room):
    array = _any(room, most=300, min_rank=1)
    axis = room.axis(len(array.shape), 0)
    extent = array.shape[axis]
    if extent == 0:
        return
    at = int(room.r.random() * extent)
    what = room.pick((at, [at, 0], slice(at, None), slice(None, None, 2), [at - extent]))
    _call(room, "delete", [array], what, axis)


def _insert(room):
    array = _any(room, most=300, min_rank=1)
    axis = room.axis(len(array.shape), 0)
    at = int(room.r.random() * (array.shape[axis] + 1))
    _call(room, "insert", [array], room.pick((at, [at, 0], [0])), room.pick((0, 1)), axis)


def _diff(room):
    """The exact ones; of floats each step rounds alike."""
    array = _any(room, min_rank=1, dtypes=NUMPYS)
    _call(room, "diff", [array], room.pick((0, 1, 1, 2)), room.axis(len(array.shape)))


def _grid(room):
    arrays = [_any(room, most=30) for _ in range(room.pick((1, 2, 3)))]
    arrays = [room.array(a.dtype, (room.pick((0, 1, 2, 5, 8)),)) for a in arrays[:2]]
    options = {"indexing": room.pick(("xy", "ij")), "sparse": room.chance(0.3)}
    _call(room, "meshgrid", arrays, **options)


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
