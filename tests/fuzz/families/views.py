# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operations on axes and shapes, most of which return views."""

import numpy as np

import spanwise as sw

from ..compare import EXACT
from ..values import ALL, NUMPYS
from ..windows import size_of


def any_array(context, max_size=None, min_rank=0, dtypes=ALL):
    return context.array(context.pick(dtypes), context.shape(max_size, min_rank))


def call(context, name, arrays, *arguments, tolerance=EXACT, **options):
    """The same call on both sides, arrays first."""
    if arguments or options:
        context.note(arguments=arguments, **options)
    context.check(
        name,
        lambda: getattr(sw, name)(*(a.ours for a in arrays), *arguments, **options),
        lambda: getattr(np, name)(*(a.theirs for a in arrays), *arguments, **options),
        tolerance,
    )


def _factors(context, size):
    """A random shape of `size` elements, sometimes with an extent of -1, sometimes invalid."""
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


def reshape(context):
    array = any_array(context)
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
    """With copy=False: a view, or an error where the result is none."""

    def reference():
        return np.reshape(array.theirs, shape, order=order, copy=False)

    context.check("reshape", lambda: array.ours.reshape(shape, order=order, copy=False), reference)


def axes(context):
    array = any_array(context)
    order = list(range(len(array.shape)))
    context.r.shuffle(order)
    order = [i - len(order) if context.chance(0.3) else i for i in order]
    name = context.pick(("transpose", "permute_dims"))
    call(context, name, [array], tuple(order) if context.chance(0.8) else None)


def two_axes(context):
    array = any_array(context)
    rank = len(array.shape)
    call(
        context,
        context.pick(("swapaxes", "moveaxis", "rollaxis")),
        [array],
        context.axis(rank),
        context.axis(rank),
    )


def squeeze(context):
    array = any_array(context)
    ones = [i for i, n in enumerate(array.shape) if n == 1]
    axis = (
        None
        if context.chance(0.5)
        else tuple(ones)
        if context.chance(0.8)
        else context.axis(len(array.shape))
    )
    call(context, "squeeze", [array], axis)


def expand(context):
    array = any_array(context)
    call(context, "expand_dims", [array], context.axis(len(array.shape) + 1))


def flip(context):
    array = any_array(context, min_rank=1)
    rank = len(array.shape)
    if context.chance(0.2) or rank < 2:
        call(context, "flip", [array], None if context.chance(0.3) else context.axis(rank))
        return
    if context.chance(0.5):
        call(context, "flip", [array], context.axis(rank))
        return
    call(context, context.pick(("fliplr", "flipud", "matrix_transpose")), [array])


def rot90(context):
    array = any_array(context, min_rank=2)
    call(context, "rot90", [array], context.pick((-1, 0, 1, 2, 3, 5)))


def broadcast(context):
    shape = context.shape()
    small = context.array(context.pick(ALL), context.broadcastable(shape))
    if context.chance(0.6):
        call(context, "broadcast_to", [small], shape)
        return
    call(context, "broadcast_arrays", [context.array(context.pick(ALL), shape), small])


def at_least(context):
    call(context, context.pick(("atleast_1d", "atleast_2d", "atleast_3d")), [any_array(context)])


def diagonal(context):
    array = any_array(context, min_rank=2)
    rank = len(array.shape)
    offset = context.pick((0, 0, 1, -1, 2, -3, 40))
    call(context, "diagonal", [array], offset, context.axis(rank), context.axis(rank))


def diag(context):
    array = context.array(context.pick(ALL), context.shape(100)[:2])
    call(context, context.pick(("diag", "diagflat")), [array], context.pick((0, 1, -2)))


def triangle(context):
    array = any_array(context, min_rank=1)
    if len(array.shape) == 1 and array.shape[0] > 500:
        return  # becomes a square
    call(context, context.pick(("tril", "triu")), [array], context.pick((0, 0, 1, -1, 3, -20)))


def fill_diagonal(context):
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
