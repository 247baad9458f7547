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


def case(room):
    OPERATIONS[int(room.r.random() * len(OPERATIONS))](room)


# ---- Keys ----


def _indices(room, extent, shape, dtypes=INTEGERS):
    """An array of integers that name places of an axis; now and then one that is outside."""
    dtype = room.pick(dtypes) if extent < 100 else np.dtype("int64")
    low = 0 if dtype.kind == "u" else -extent
    count = int(np.prod(shape))
    r = room.r
    span = extent - low
    if extent == 0 and count:
        shape, count = (*shape[:-1], 0) if shape else (0,), 0
    flat = [low + int(r.random() * span) for _ in range(count)] if count < 40 else None
    if flat is None:
        flat = np.random.default_rng(int(r.random() * (1 << 32))).integers(
            low, max(extent, 1), count
        )
    values = np.array(flat, np.int64).reshape(shape)
    if values.size and room.chance(0.01) and extent < 100:
        values.flat[int(r.random() * values.size)] = extent
    return room.array(dtype, values.shape, values=values.astype(dtype))


def _slice(room):
    pick = room.pick
    return slice(pick(_BOUNDS), pick(_BOUNDS), pick(_KEY_STEPS))


def _key(room, shape, arrays=True):
    """(our key, NumPy's)."""
    common = [int(room.r.random() * 6) for _ in range(room.pick((0, 1, 1, 1, 2)))]
    ours, theirs, axis, dots = [], [], 0, False
    while axis < len(shape) and not room.chance(0.12):
        u, extent = room.r.random(), shape[axis]
        if arrays and u < 0.28:
            own = tuple(n if room.chance(0.8) else 1 for n in common)
            own = own[int(room.r.random() * 1.3) :]
            _add(room, ours, theirs, _indices(room, extent, own))
            axis += 1
        elif arrays and u < 0.4:
            rank = 1 if room.chance(0.8) else room.pick((0, 2))
            rank = min(rank, len(shape) - axis)
            _add(room, ours, theirs, room.array(BOOL, shape[axis : axis + rank]))
            axis += rank
        elif u < 0.68:
            ours.append(_slice(room))
            theirs.append(ours[-1])
            axis += 1
        elif u < 0.85 and (extent or room.chance(0.1)):
            at = int(room.r.random() * 2 * extent) - extent if not room.chance(0.01) else extent + 1
            ours.append(at)
            theirs.append(at)
            axis += 1
        elif u < 0.93 and len(ours) < 7:
            ours.append(None)
            theirs.append(None)
        elif not dots and 0 not in shape:  # a mask may come to lie on another axis
            ours.append(Ellipsis)
            theirs.append(Ellipsis)
            dots = True
        if len(room.memories) > 6:
            break
    room.note(key=tuple("array" if isinstance(k, np.ndarray) else k for k in theirs))
    return tuple(ours), tuple(theirs)


def _add(room, ours, theirs, operand):
    theirs.append(operand.theirs)
    u = room.r.random()
    if u < 0.6:
        ours.append(operand.ours)
    elif u < 0.9 or operand.theirs.size == 0 or operand.theirs.size > 50:
        ours.append(operand.theirs)
    else:
        ours.append(operand.theirs.tolist())


# ---- Brackets ----


def _read(room):
    shape = room.shape(min_rank=1)
    array = room.array(room.pick(ALL), shape)
    ours, theirs = _key(room, shape, arrays=room.chance(0.7))
    room.check("reading", lambda: array.ours[ours], lambda: array.theirs[theirs])


def _write(room):
    dtype = room.pick(ALL)
    array = room.target(dtype, room.shape(min_rank=1))
    ours, theirs = _key(room, array.shape, arrays=room.chance(0.75))
    try:
        chosen = np.asarray(array.theirs[theirs]).shape
    except Exception:
        chosen = None
    is_one = len(theirs) == len(array.shape) and all(
        np.ndim(k) == 0 and not isinstance(k, slice) and k is not None and k is not Ellipsis
        for k in theirs
    )
    source = dtype if room.chance(0.5) else room.pick(NUMPYS)
    lossy = is_inexact(source) and not is_inexact(dtype) and dtype != BOOL
    if (dtype == BFLOAT16 and source.kind == "c") or len(room.memories) > 8:
        source = dtype
    if chosen is None:
        shape = ()  # one error is enough
    else:
        # Where nothing is chosen NumPy takes values of any shape.
        fits = 0 in chosen or room.chance(0.97)
        shape = room.broadcastable(chosen) if fits else room.shape(60)
    if len(theirs) == 1 and getattr(theirs[0], "dtype", BFLOAT16) == BOOL:
        shape = shape[-1:]  # as for a single mask
    if is_one:
        shape = ()  # NumPy takes a number only; we anything that broadcasts
    value = room.array(source, shape, "whole" if lossy else "any")

    def write():
        array.ours[ours] = value.ours

    def reference():
        _assign(array.theirs, theirs, value.theirs)

    room.check("writing", write, reference)


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


def _write_number(room):
    array = room.target(room.pick(ALL), room.shape(min_rank=1))
    ours, theirs = _key(room, array.shape)
    number = room.pick((0, 1, True))
    room.note(number=number)

    def write():
        array.ours[ours] = number

    def reference():
        array.theirs[theirs] = number

    room.check("writing a number", write, reference)


def _write_overlap(room):
    """What is written lies, in part, where it is written to."""
    shape = room.shape(min_rank=1)
    source, target = room.overlapping(room.pick(ALL), shape)
    ours, theirs = _key(room, shape, arrays=room.chance(0.75))
    from_ours, from_theirs = _key(room, shape, arrays=False)
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

    room.check("overlapping writing", write, lambda: _assign(target.theirs, theirs, values))


# ---- Functions ----


def _any_axis(room, rank):
    return None if room.chance(0.3) else room.axis(rank)


def _extent(shape, axis):
    if axis is None:
        return int(np.prod(shape))
    return shape[axis] if shape and -len(shape) <= axis < len(shape) else 1


def _take(room):
    array = room.array(room.pick(ALL), room.shape(min_rank=1))
    axis = _any_axis(room, len(array.shape))
    mode = room.pick(("raise", "raise", "wrap", "clip"))
    if 0 in array.shape:
        mode = "clip"  # NumPy does not look at indices then
    indices = _indices(room, _extent(array.shape, axis), room.shape(12), _SAFE)
    room.note(axis=axis, mode=mode)
    room.check(
        "take",
        lambda: sw.take(array.ours, indices.ours, axis, mode=mode),
        lambda: np.take(array.theirs, indices.theirs, axis, mode=mode),
    )


def _put(room):
    dtype = room.pick(ALL)
    array = room.target(dtype, room.shape(min_rank=1))
    indices = _indices(room, int(np.prod(array.shape)), room.shape(20), _SAFE)
    values = room.array(dtype, room.shape(20))
    mode = room.pick(("raise", "raise", "wrap", "clip"))
    room.note(mode=mode)
    room.check(
        "put",
        lambda: sw.put(array.ours, indices.ours, values.ours, mode),
        lambda: np.put(array.theirs, indices.theirs, values.theirs, mode),
    )


def _compress(room):
    array = room.array(room.pick(ALL), room.shape(min_rank=1))
    axis = _any_axis(room, len(array.shape))
    extent = _extent(array.shape, axis)
    condition = room.array(BOOL, (extent - int(room.r.random() * 2) if extent else 0,))
    room.note(axis=axis)
    room.check(
        "compress",
        lambda: sw.compress(condition.ours, array.ours, axis),
        lambda: np.compress(condition.theirs, array.theirs, axis),
    )


def _extract(room):
    shape = room.shape()
    array, mask = room.array(room.pick(ALL), shape), room.array(BOOL, shape)
    room.check(
        "extract",
        lambda: sw.extract(mask.ours, array.ours),
        lambda: np.extract(mask.theirs, array.theirs),
    )


def _along(room):
    dtype = room.pick(ALL)
    shape = room.shape(most=300, min_rank=1)
    axis = int(room.r.random() * len(shape))
    index_shape = list(shape)
    index_shape[axis] = int(room.r.random() * 5) if shape[axis] else 0
    # Each place once: for several values NumPy leaves open which one stays.
    places = np.argsort(np.random.default_rng(int(room.r.random() * (1 << 32))).random(shape), axis)
    index_shape[axis] = min(index_shape[axis], shape[axis])
    places = places.take(np.arange(index_shape[axis]), axis)
    if room.chance(0.5):
        places = places - shape[axis]
    indices = room.array(places.dtype, places.shape, values=places)
    room.note(axis=axis)
    if room.chance(0.6):
        array = room.array(dtype, shape)
        room.check(
            "take_along_axis",
            lambda: sw.take_along_axis(array.ours, indices.ours, axis),
            lambda: np.take_along_axis(array.theirs, indices.theirs, axis),
        )
        return
    array, values = room.target(dtype, shape), room.array(dtype, room.broadcastable(indices.shape))
    room.check(
        "put_along_axis",
        lambda: sw.put_along_axis(array.ours, indices.ours, values.ours, axis),
        lambda: np.put_along_axis(array.theirs, indices.theirs, values.theirs, axis),
    )


def _nonzero(room):
    array = room.array(room.pick(NUMPYS), room.shape(min_rank=1), room.pick(("any", "whole")))
    name = room.pick(("nonzero", "argwhere", "flatnonzero"))
    room.check(name, lambda: getattr(sw, name)(array.ours), lambda: getattr(np, name)(array.theirs))


def _repeat(room):
    array = room.array(room.pick(ALL), room.shape(most=300))
    axis = _any_axis(room, len(array.shape))
    extent = _extent(array.shape, axis)
    if room.chance(0.5) or extent > 400:
        repeats = int(room.r.random() * 5)
        room.note(axis=axis, repeats=repeats)
        ours = theirs = repeats
    else:
        counts = np.array([int(room.r.random() * 4) for _ in range(extent)], np.int64)
        operand = room.array(counts.dtype, counts.shape, values=counts)
        ours, theirs = operand.ours, operand.theirs
        room.note(axis=axis)
    room.check(
        "repeat",
        lambda: sw.repeat(array.ours, ours, axis),
        lambda: np.repeat(array.theirs, theirs, axis),
    )


def _place(room):
    dtype = room.pick(ALL)
    shape = room.shape()
    array, mask = room.target(dtype, shape), room.array(BOOL, shape)
    values = room.array(dtype, (room.pick((1, 2, 3, 7, 50)),))
    name = room.pick(("place", "putmask"))
    room.check(
        name,
        lambda: getattr(sw, name)(array.ours, mask.ours, values.ours),
        lambda: getattr(np, name)(array.theirs, mask.theirs, values.theirs),
    )


def _searchsorted(room):
    dtype = room.pick((*INTEGERS, np.dtype("float32"), np.dtype("float64")))
    line = np.sort(pool("whole", dtype)[: int(room.r.random() * 60)])
    array = room.array(dtype, line.shape, values=line)
    wanted = room.array(dtype, room.shape(300), "whole")
    side = room.pick(("left", "right"))
    room.note(side=side)
    room.check(
        "searchsorted",
        lambda: sw.searchsorted(array.ours, wanted.ours, side),
        lambda: np.searchsorted(array.theirs, wanted.theirs, side),
    )


def _choose(room):
    dtype = room.pick(NUMPYS)
    shape = room.shape(300)
    count = room.pick((1, 2, 3, 4))
    places = np.array([int(room.r.random() * count) for _ in range(int(np.prod(shape)))], np.int64)
    indices = room.array(places.dtype, shape, values=places.reshape(shape))
    choices = [room.array(dtype, room.broadcastable(shape)) for _ in range(count)]
    room.check(
        "choose",
        lambda: sw.choose(indices.ours, [c.ours for c in choices]),
        lambda: np.choose(indices.theirs, [c.theirs for c in choices]),
    )


def _select(room):
    dtype = room.pick(NUMPYS)
    shape = room.shape(300)
    count = room.pick((1, 2, 3))
    conditions = [room.array(BOOL, room.broadcastable(shape)) for _ in range(count)]
    choices = [room.array(dtype, room.broadcastable(shape)) for _ in range(count)]
    room.check(
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
