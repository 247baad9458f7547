# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions with indices or masks as arguments."""

import numpy as np

import spanwise as sw

from ..values import ALL, BOOL, INTEGERS, NUMPYS, pool
from .index_keys import SAFE, random_indices


def _any_axis(context, rank):
    return None if context.chance(0.3) else context.axis(rank)


def _extent(shape, axis):
    if axis is None:
        return int(np.prod(shape))
    return shape[axis] if shape and -len(shape) <= axis < len(shape) else 1


def take(context):
    array = context.array(context.pick(ALL), context.shape(min_rank=1))
    axis = _any_axis(context, len(array.shape))
    mode = context.pick(("raise", "raise", "wrap", "clip"))
    if 0 in array.shape:
        mode = "clip"  # NumPy does not check indices of empty arrays
    indices = random_indices(context, _extent(array.shape, axis), context.shape(12), SAFE)
    context.note(axis=axis, mode=mode)
    context.check(
        "take",
        lambda: sw.take(array.ours, indices.ours, axis, mode=mode),
        lambda: np.take(array.theirs, indices.theirs, axis, mode=mode),
    )


def put(context):
    dtype = context.pick(ALL)
    array = context.target(dtype, context.shape(min_rank=1))
    indices = random_indices(context, int(np.prod(array.shape)), context.shape(20), SAFE)
    values = context.array(dtype, context.shape(20))
    mode = context.pick(("raise", "raise", "wrap", "clip"))
    context.note(mode=mode)
    context.check(
        "put",
        lambda: sw.put(array.ours, indices.ours, values.ours, mode),
        lambda: np.put(array.theirs, indices.theirs, values.theirs, mode),
    )


def compress(context):
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


def extract(context):
    shape = context.shape()
    array, mask = context.array(context.pick(ALL), shape), context.array(BOOL, shape)
    context.check(
        "extract",
        lambda: sw.extract(mask.ours, array.ours),
        lambda: np.extract(mask.theirs, array.theirs),
    )


def along(context):
    dtype = context.pick(ALL)
    shape = context.shape(max_size=300, min_rank=1)
    axis = int(context.r.random() * len(shape))
    index_shape = list(shape)
    index_shape[axis] = int(context.r.random() * 5) if shape[axis] else 0
    # Each index once: for duplicates NumPy does not specify which value remains.
    order = np.argsort(
        np.random.default_rng(int(context.r.random() * (1 << 32))).random(shape), axis
    )
    index_shape[axis] = min(index_shape[axis], shape[axis])
    values = order.take(np.arange(index_shape[axis]), axis)
    if context.chance(0.5):
        values = values - shape[axis]
    indices = context.array(values.dtype, values.shape, values=values)
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


def nonzero(context):
    array = context.array(
        context.pick(NUMPYS), context.shape(min_rank=1), context.pick(("any", "whole"))
    )
    name = context.pick(("nonzero", "argwhere", "flatnonzero"))
    context.check(
        name, lambda: getattr(sw, name)(array.ours), lambda: getattr(np, name)(array.theirs)
    )


def repeat(context):
    array = context.array(context.pick(ALL), context.shape(max_size=300))
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


def place(context):
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


def searchsorted(context):
    dtype = context.pick((*INTEGERS, np.dtype("float32"), np.dtype("float64")))
    line = np.sort(pool("whole", dtype)[: int(context.r.random() * 60)])
    array = context.array(dtype, line.shape, values=line)
    values = context.array(dtype, context.shape(300), "whole")
    side = context.pick(("left", "right"))
    context.note(side=side)
    context.check(
        "searchsorted",
        lambda: sw.searchsorted(array.ours, values.ours, side),
        lambda: np.searchsorted(array.theirs, values.theirs, side),
    )


def choose(context):
    dtype = context.pick(NUMPYS)
    shape = context.shape(300)
    count = context.pick((1, 2, 3, 4))
    flat = [int(context.r.random() * count) for _ in range(int(np.prod(shape)))]
    values = np.array(flat, np.int64).reshape(shape)
    indices = context.array(values.dtype, shape, values=values)
    choices = [context.array(dtype, context.broadcastable(shape)) for _ in range(count)]
    context.check(
        "choose",
        lambda: sw.choose(indices.ours, [c.ours for c in choices]),
        lambda: np.choose(indices.theirs, [c.theirs for c in choices]),
    )


def select(context):
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
