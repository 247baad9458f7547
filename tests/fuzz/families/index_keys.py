# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random indices and keys."""

import numpy as np

from ..values import BOOL, INTEGERS

_BOUNDS = (None, None, None, 0, 1, -1, 2, -2, 3, 5, -4, 9)

# The dtypes of indices that NumPy's functions accept: they are cast to int64 safely. Spanwise accepts
# uint64 too.
SAFE = INTEGERS[:-1]

_KEY_STEPS = (None, None, None, 1, -1, 2, -2, 3)


def random_indices(context, extent, shape, dtypes=INTEGERS):
    """An array of indices of an axis of `extent` elements, rarely with one that is out of range."""
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


def random_key(context, shape, arrays=True):
    """(key of Spanwise, the same key of NumPy) for an array of `shape`."""
    common = [int(context.r.random() * 6) for _ in range(context.pick((0, 1, 1, 1, 2)))]
    ours, theirs, axis, has_ellipsis = [], [], 0, False
    while axis < len(shape) and not context.chance(0.12):
        u, extent = context.r.random(), shape[axis]
        if arrays and u < 0.28:
            index_shape = tuple(n if context.chance(0.8) else 1 for n in common)
            index_shape = index_shape[int(context.r.random() * 1.3) :]
            _add(context, ours, theirs, random_indices(context, extent, index_shape))
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
            index = (
                int(context.r.random() * 2 * extent) - extent
                if not context.chance(0.01)
                else extent + 1
            )
            ours.append(index)
            theirs.append(index)
            axis += 1
        elif u < 0.93 and len(ours) < 7:
            ours.append(None)
            theirs.append(None)
        elif not has_ellipsis and 0 not in shape:  # masks behind it may select from other axes
            ours.append(Ellipsis)
            theirs.append(Ellipsis)
            has_ellipsis = True
        if len(context.memories) > 6:
            break
    context.note(key=tuple("array" if isinstance(k, np.ndarray) else k for k in theirs))
    return tuple(ours), tuple(theirs)


def _add(context, ours, theirs, operand):
    """Appends an index array: on our side an array of either library, or a list."""
    theirs.append(operand.theirs)
    u = context.r.random()
    if u < 0.6:
        ours.append(operand.ours)
    elif u < 0.9 or operand.theirs.size == 0 or operand.theirs.size > 50:
        ours.append(operand.theirs)
    else:
        ours.append(operand.theirs.tolist())
