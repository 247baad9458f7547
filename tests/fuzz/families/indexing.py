# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing by slices, integers, index arrays and masks, and NumPy's functions over indices."""

import numpy as np

import spanwise as sw

from ..values import ALL, BFLOAT16, BOOL, INTEGERS, NUMPYS, cast, is_inexact, pool

_BOUNDS = (None, None, None, 0, 1, -1, 2, -2, 3, 5, -4, 9)
# What NumPy's functions take, which cast indices to int64 safely; ours take uint64 as well.
_SAFE = INTEGERS[:-1]
_KEY_STEPS = (None, None, None, 1, -1, 2, -2, 3)


def case(context):
    OPERATIONS[int(context.r.random() * len(OPERATIONS))](context)


# ---- Keys ----


def _indices(context, extent, shape, dtypes=INTEGERS):
    """An array of integers that name places of an axis; now and then one that is outside."""
    dtype = context.pick(dtypes) if extent < 100 else np.dtype("int64")
    low = 0 if dtype.kind == "u" else -extent
    count = int(np.prod(shape))
    r = context.r
    span = extent - low
    if extent == 0 and count:
        shape, count = (*shape[:-1], 0) if shape else (0,), 0
    flat = [low + int(r.random() * span) for _ in range(count)] if count < 40 else None
    if flat is None:
        flat = np.random.default_rng(int(r.random() * (1 << 32))).integers(
            low, max(extent, 1), count
        )
    values = np.array(flat, np.int64).reshape(shape)
    if values.size and context.chance(0.01) and extent < 100:
        values.flat[int(r.random() * values.size)] = extent
    return context.array(dtype, values.shape, values=values.astype(dtype))


def _slice(context):
    pick = context.pick
    return slice(pick(_BOUNDS), pick(_BOUNDS), pick(_KEY_STEPS))


def _key(context, shape, arrays=True):
    """(our key, NumPy's)."""
    common = [int(context.r.random() * 6) for _ in range(context.pick((0, 1, 1, 1, 2)))]
    ours, theirs, axis, dots = [], [], 0, False
    while axis < len(shape) and not context.chance(0.12):
        u, extent = context.r.random(), shape[axis]
        if arrays and u < 0.28:
            own = tuple(n if context.chance(0.8) else 1 for n in common)
            own = own[int(context.r.random() * 1.3) :]
            _add(context, ours, theirs, _indices(context, extent, own))
            axis += 1
        elif arrays and u < 0.4:
            rank = 1 if context.chance(0.8) else context.pick((0, 2))
            rank = min(rank, len(shape) - axis)
            _add(context, ours, theirs, context.array(BOOL, shape[axis : axis + rank]))
            axis += rank
        elif u < 0.68:
            ours.append(_slice(context))
            theirs.append(ours[-1])
            axis += 1
        elif u < 0.85 and (extent or context.chance(0.1)):
            at = (
                int(context.r.random() * 2 * extent) - extent
                if not context.chance(0.01)
                else extent + 1
            )
            ours.append(at)
            theirs.append(at)
            axis += 1
        elif u < 0.93 and len(ours) < 7:
            ours.append(None)
            theirs.append(None)
        elif not dots and 0 not in shape:  # a mask may end up on another axis
            ours.append(Ellipsis)
            theirs.append(Ellipsis)
            dots = True
        if len(context.memories) > 6:
            break
    context.note(key=tuple("array" if isinstance(k, np.ndarray) else k for k in theirs))
    return tuple(ours), tuple(theirs)


def _add(context, ours, theirs, operand):
    theirs.append(operand.theirs)
    u = context.r.random()
    if u < 0.6:
        ours.append(operand.ours)
    elif u < 0.9 or operand.theirs.size == 0 or operand.theirs.size > 50:
        ours.append(operand.theirs)
    else:
        ours.append(operand.theirs.tolist())


# ---- Brackets ----


def _read(context):
    shape = context.shape(min_rank=1)
    array = context.array(context.pick(ALL), shape)
    ours, theirs = _key(context, shape, arrays=context.chance(0.7))
    context.check("reading", lambda: array.ours[ours], lambda: array.theirs[theirs])


def _write(context):
    dtype = context.pick(ALL)
    array = context.target(dtype, context.shape(min_rank=1))
    ours, theirs = _key(context, array.shape, arrays=context.chance(0.75))
    try:
        chosen = np.asarray(array.theirs[theirs]).shape
    except Exception:
        chosen = None
    is_one = len(theirs) == len(array.shape) and all(
        np.ndim(k) == 0 and not isinstance(k, slice) and k is not None and k is not Ellipsis
        for k in theirs
    )
    source = dtype if context.chance(0.5) else context.pick(NUMPYS)
    lossy = is_inexact(source) and not is_inexact(dtype) and dtype != BOOL
    if (dtype == BFLOAT16 and source.kind == "c") or len(context.memories) > 8:
        source = dtype
    if chosen is None:
        shape = ()  # one error is enough
    else:
        # Where nothing is chosen NumPy takes values of any shape.
        fits = 0 in chosen or context.chance(0.97)
        shape = context.broadcastable(chosen) if fits else context.shape(60)
    if len(theirs) == 1 and getattr(theirs[0], "dtype", BFLOAT16) == BOOL:
        shape = shape[-1:]  # as for a single mask
    if is_one:
        shape = ()  # NumPy takes a number only; we anything that broadcasts
    value = context.array(source, shape, "whole" if lossy else "any")

    def write():
        array.ours[ours] = value.ours

    def reference():
        _assign(array.theirs, theirs, value.theirs)

    context.check("writing", write, reference)


def _assign(array, key, values):
    """array[key] = values, where the last of several values for an element stays.

    NumPy leaves open which one does (it walks over index arrays as they lie in memory), so they are
    taken one by one.
    """
    if array.dtype == BFLOAT16:
        values = cast(values, BFLOAT16)
    if not any(isinstance(k, np.ndarray) and k.dtype != bool for k in key):
        array[key] = values
        return
    whole = array.copy()
    whole[key] = values  # for the errors
    places = np.arange(array.size).reshape(array.shape)[key]
    whole = array.reshape(-1).copy()
    whole[places.reshape(-1)] = np.broadcast_to(
        _without_ones(values, places.ndim), places.shape
    ).reshape(-1)
    array[...] = whole.reshape(array.shape)


def _without_ones(values, rank):
    while values.ndim > rank and values.shape[0] == 1:
        values = values[0]
    return values


def _write_number(context):
    array = context.target(context.pick(ALL), context.shape(min_rank=1))
    ours, theirs = _key(context, array.shape)
    number = context.pick((0, 1, True))
    context.note(number=number)

    def write():
        array.ours[ours] = number

    def reference():
        array.theirs[theirs] = number

    context.check("writing a number", write, reference)


def _write_overlap(context):
    """Source and target of the write overlap in part."""
    shape = context.shape(min_rank=1)
    source, target = context.overlapping(context.pick(ALL), shape)
    ours, theirs = _key(context, shape, arrays=context.chance(0.75))
    from_ours, from_theirs = _key(context, shape, arrays=False)
    try:
        chosen = np.asarray(target.theirs[theirs]).shape
        values = source.theirs[from_theirs]
        np.broadcast_to(values, chosen)
    except Exception:
        from_ours = from_theirs = (0,) * len(shape)
        if 0 in shape:
            return
    values = np.array(source.theirs[from_theirs])

    def write():
        target.ours[ours] = source.ours[from_ours]

    context.check("overlapping writing", write, lambda: _assign(target.theirs, theirs, values))


# ---- Functions ----


def _any_axis(context, rank):
    return None if context.chance(0.3) else context.axis(rank)


def _extent(shape, axis):
    if axis is None:
        return int(np.prod(shape))
    return shape[axis] if shape and -len(shape) <= axis < len(shape) else 1


def _take(context):
    array = context.array(context.pick(ALL), context.shape(min_rank=1))
    axis = _any_axis(context, len(array.shape))
    mode = context.pick(("raise", "raise", "wrap", "clip"))
    if 0 in array.shape:
        mode = "clip"  # NumPy does not look at indices then
    indices = _indices(context, _extent(array.shape, axis), context.shape(12), _SAFE)
    context.note(axis=axis, mode=mode)
    context.check(
        "take",
        lambda: sw.take(array.ours, indices.ours, axis, mode=mode),
        lambda: np.take(array.theirs, indices.theirs, axis, mode=mode),
    )


def _put(context):
    dtype = context.pick(ALL)
    array = context.target(dtype, context.shape(min_rank=1))
    indices = _indices(context, int(np.prod(array.shape)), context.shape(20), _SAFE)
    values = context.array(dtype, context.shape(20))
    mode = context.pick(("raise", "raise", "wrap", "clip"))
    context.note(mode=mode)
    context.check(
        "put",
        lambda: sw.put(array.ours, indices.ours, values.ours, mode),
        lambda: np.put(array.theirs, indices.theirs, values.theirs, mode),
    )


def _compress(context):
    array = context.array(context.pick(ALL), context.shape(min_rank=1))
    axis = _any_axis(context, len(array.shape))
    extent = _extent(array.shape, axis)
    condition = context.array(BOOL, (extent - int(context.r.random() * 2) if extent else 0,))
    context.note(axis=axis)
    context.check(
        "compress",
        lambda: sw.compress(condition.ours, array.ours, axis),
        lambda: np.compress(condition.theirs, array.theirs, axis),
    )


def _extract(context):
    shape = context.shape()
    array, mask = context.array(context.pick(ALL), shape), context.array(BOOL, shape)
    context.check(
        "extract",
        lambda: sw.extract(mask.ours, array.ours),
        lambda: np.extract(mask.theirs, array.theirs),
    )


def _along(context):
    dtype = context.pick(ALL)
    shape = context.shape(most=300, min_rank=1)
    axis = int(context.r.random() * len(shape))
    index_shape = list(shape)
    index_shape[axis] = int(context.r.random() * 5) if shape[axis] else 0
    # Each index once: for duplicates NumPy does not specify which value remains.
    places = np.argsort(
        np.random.default_rng(int(context.r.random() * (1 << 32))).random(shape), axis
    )
    index_shape[axis] = min(index_shape[axis], shape[axis])
    places = places.take(np.arange(index_shape[axis]), axis)
    if context.chance(0.5):
        places = places - shape[axis]
    indices = context.array(places.dtype, places.shape, values=places)
    context.note(axis=axis)
    if context.chance(0.6):
        array = context.array(dtype, shape)
        context.check(
            "take_along_axis",
            lambda: sw.take_along_axis(array.ours, indices.ours, axis),
            lambda: np.take_along_axis(array.theirs, indices.theirs, axis),
        )
        return
    array, values = (
        context.target(dtype, shape),
        context.array(dtype, context.broadcastable(indices.shape)),
    )
    context.check(
        "put_along_axis",
        lambda: sw.put_along_axis(array.ours, indices.ours, values.ours, axis),
        lambda: np.put_along_axis(array.theirs, indices.theirs, values.theirs, axis),
    )


def _nonzero(context):
    array = context.array(
        context.pick(NUMPYS), context.shape(min_rank=1), context.pick(("any", "whole"))
    )
    name = context.pick(("nonzero", "argwhere", "flatnonzero"))
    context.check(
        name, lambda: getattr(sw, name)(array.ours), lambda: getattr(np, name)(array.theirs)
    )


def _repeat(context):
    array = context.array(context.pick(ALL), context.shape(most=300))
    axis = _any_axis(context, len(array.shape))
    extent = _extent(array.shape, axis)
    if context.chance(0.5) or extent > 400:
        repeats = int(context.r.random() * 5)
        context.note(axis=axis, repeats=repeats)
        ours = theirs = repeats
    else:
        counts = np.array([int(context.r.random() * 4) for _ in range(extent)], np.int64)
        operand = context.array(counts.dtype, counts.shape, values=counts)
        ours, theirs = operand.ours, operand.theirs
        context.note(axis=axis)
    context.check(
        "repeat",
        lambda: sw.repeat(array.ours, ours, axis),
        lambda: np.repeat(array.theirs, theirs, axis),
    )


def _place(context):
    dtype = context.pick(ALL)
    shape = context.shape()
    array, mask = context.target(dtype, shape), context.array(BOOL, shape)
    values = context.array(dtype, (context.pick((1, 2, 3, 7, 50)),))
    name = context.pick(("place", "putmask"))
    context.check(
        name,
        lambda: getattr(sw, name)(array.ours, mask.ours, values.ours),
        lambda: getattr(np, name)(array.theirs, mask.theirs, values.theirs),
    )


def _searchsorted(context):
    dtype = context.pick((*INTEGERS, np.dtype("float32"), np.dtype("float64")))
    line = np.sort(pool("whole", dtype)[: int(context.r.random() * 60)])
    array = context.array(dtype, line.shape, values=line)
    wanted = context.array(dtype, context.shape(300), "whole")
    side = context.pick(("left", "right"))
    context.note(side=side)
    context.check(
        "searchsorted",
        lambda: sw.searchsorted(array.ours, wanted.ours, side),
        lambda: np.searchsorted(array.theirs, wanted.theirs, side),
    )


def _choose(context):
    dtype = context.pick(NUMPYS)
    shape = context.shape(300)
    count = context.pick((1, 2, 3, 4))
    places = np.array(
        [int(context.r.random() * count) for _ in range(int(np.prod(shape)))], np.int64
    )
    indices = context.array(places.dtype, shape, values=places.reshape(shape))
    choices = [context.array(dtype, context.broadcastable(shape)) for _ in range(count)]
    context.check(
        "choose",
        lambda: sw.choose(indices.ours, [c.ours for c in choices]),
        lambda: np.choose(indices.theirs, [c.theirs for c in choices]),
    )


def _select(context):
    dtype = context.pick(NUMPYS)
    shape = context.shape(300)
    count = context.pick((1, 2, 3))
    conditions = [context.array(BOOL, context.broadcastable(shape)) for _ in range(count)]
    choices = [context.array(dtype, context.broadcastable(shape)) for _ in range(count)]
    context.check(
        "select",
        lambda: sw.select([c.ours for c in conditions], [c.ours for c in choices]),
        lambda: np.select([c.theirs for c in conditions], [c.theirs for c in choices]),
    )


OPERATIONS = (
    *(_read,) * 12,
    *(_write,) * 12,
    *(_write_number,) * 3,
    *(_write_overlap,) * 3,
    *(_take,) * 3,
    *(_put,) * 2,
    *(_along,) * 2,
    *(_nonzero,) * 2,
    _compress,
    _extract,
    _repeat,
    _place,
    _choose,
    _searchsorted,
    _select,
)
