# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing by slices, integers, index arrays and masks, and NumPy's functions over indices."""

import numpy as np

from ..values import ALL, BFLOAT16, BOOL, NUMPYS, cast, is_inexact
from .index_functions import (
    along,
    choose,
    compress,
    extract,
    nonzero,
    place,
    put,
    repeat,
    searchsorted,
    select,
    take,
)
from .index_keys import random_key


def case(context):
    OPERATIONS[int(context.r.random() * len(OPERATIONS))](context)


def _read(context):
    shape = context.shape(min_rank=1)
    array = context.array(context.pick(ALL), shape)
    ours, theirs = random_key(context, shape, arrays=context.chance(0.7))
    context.check("reading", lambda: array.ours[ours], lambda: array.theirs[theirs])


def _write(context):
    dtype = context.pick(ALL)
    array = context.target(dtype, context.shape(min_rank=1))
    ours, theirs = random_key(context, array.shape, arrays=context.chance(0.75))
    try:
        selected = np.asarray(array.theirs[theirs]).shape
    except Exception:
        selected = None
    is_element = len(theirs) == len(array.shape) and all(
        np.ndim(k) == 0 and not isinstance(k, slice) and k is not None and k is not Ellipsis
        for k in theirs
    )
    source = dtype if context.chance(0.5) else context.pick(NUMPYS)
    lossy = is_inexact(source) and not is_inexact(dtype) and dtype != BOOL
    if (dtype == BFLOAT16 and source.kind == "c") or len(context.memories) > 8:
        source = dtype
    if selected is None:
        shape = ()  # the key is an error; the libraries may report another error first
    else:
        # If the key selects no elements, NumPy accepts values of any shape.
        fits = 0 in selected or context.chance(0.97)
        shape = context.broadcastable(selected) if fits else context.shape(60)
    if len(theirs) == 1 and getattr(theirs[0], "dtype", BFLOAT16) == BOOL:
        shape = shape[-1:]  # as for a single mask
    if is_element:
        shape = ()  # NumPy accepts only a number, Spanwise every array that broadcasts
    value = context.array(source, shape, "whole" if lossy else "any")

    def write():
        array.ours[ours] = value.ours

    def reference():
        _assign(array.theirs, theirs, value.theirs)

    context.check("writing", write, reference)


def _assign(array, key, values):
    """array[key] = values, where the last of several values for an element, in C order, is assigned.

    NumPy does not specify which one is assigned, since it visits index arrays in the order of their
    memory; so this assigns by flat indices in C order.
    """
    if array.dtype == BFLOAT16:
        values = cast(values, BFLOAT16)
    if not any(isinstance(k, np.ndarray) and k.dtype != bool for k in key):
        array[key] = values
        return
    array.copy()[key] = values  # raises NumPy's errors
    indices = np.arange(array.size).reshape(array.shape)[key]
    flat = array.reshape(-1).copy()
    flat[indices.reshape(-1)] = np.broadcast_to(
        _without_ones(values, indices.ndim), indices.shape
    ).reshape(-1)
    array[...] = flat.reshape(array.shape)


def _without_ones(values, rank):
    """The values without leading axes of extent 1 beyond `rank`, as assignment ignores them."""
    while values.ndim > rank and values.shape[0] == 1:
        values = values[0]
    return values


def _write_number(context):
    array = context.target(context.pick(ALL), context.shape(min_rank=1))
    ours, theirs = random_key(context, array.shape)
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
    ours, theirs = random_key(context, shape, arrays=context.chance(0.75))
    from_ours, from_theirs = random_key(context, shape, arrays=False)
    try:
        selected = np.asarray(target.theirs[theirs]).shape
        values = source.theirs[from_theirs]
        np.broadcast_to(values, selected)
    except Exception:
        from_ours = from_theirs = (0,) * len(shape)
        if 0 in shape:
            return
    values = np.array(source.theirs[from_theirs])

    def write():
        target.ours[ours] = source.ours[from_ours]

    context.check("overlapping writing", write, lambda: _assign(target.theirs, theirs, values))


OPERATIONS = (
    *(_read,) * 12,
    *(_write,) * 12,
    *(_write_number,) * 3,
    *(_write_overlap,) * 3,
    *(take,) * 3,
    *(put,) * 2,
    *(along,) * 2,
    *(nonzero,) * 2,
    compress,
    extract,
    repeat,
    place,
    choose,
    searchsorted,
    select,
)
