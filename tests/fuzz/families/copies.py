# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies between any two layouts and dtypes: assignment, copyto, astype, copy, fill, view."""

import numpy as np

import spanwise as sw

from ..values import ALL, BFLOAT16, BOOL, FEW, NUMPYS, cast, is_inexact


def _pair(context):
    """(source dtype, target dtype, kind of values), for casts whose results all processors agree on."""
    dtypes = ALL if context.is_cpu else (*FEW, BFLOAT16)
    source = context.pick(dtypes)
    target = source if context.chance(0.4) else context.pick(dtypes)
    # The conversion of a float beyond an integer's range depends on the processor.
    lossy = is_inexact(source) and not is_inexact(target) and target != BOOL
    return source, target, "whole" if lossy else "any"


def case(context):
    OPERATIONS[int(context.r.random() * len(OPERATIONS))](context)


def _assign(context):
    source, target, kind = _pair(context)
    shape = context.shape()
    to = context.target(target, shape)
    value = context.array(
        source, context.broadcastable(shape) if context.chance(0.97) else context.shape(), kind
    )

    def theirs():
        to.theirs[...] = cast(value.theirs, target)

    def ours():
        to.ours[...] = value.ours

    context.check("assignment", ours, theirs)


def _copyto(context):
    source, target, kind = _pair(context)
    casting = context.pick(("same_kind", "unsafe", "unsafe", "safe"))
    shape = context.shape()
    to = context.target(target, shape)
    value = context.array(source, context.broadcastable(shape), kind)
    context.note(casting=casting)

    def theirs():
        if not sw.can_cast(source, target, casting):
            raise TypeError("cannot cast")
        np.copyto(to.theirs, cast(value.theirs, target), casting="unsafe")

    context.check("copyto", lambda: sw.copyto(to.ours, value.ours, casting=casting), theirs)


def _overlap(context):
    dtype = context.pick(ALL)
    source, target = context.overlapping(dtype, context.shape())

    def ours():
        target.ours[...] = source.ours

    def theirs():
        # Between vectors of different steps NumPy does not always see the overlap.
        target.theirs[...] = source.theirs.copy()

    context.check("overlapping assignment", ours, theirs)


def _astype(context):
    source, target, kind = _pair(context)
    order = context.pick("KCFA")
    value = context.array(source, context.shape(), kind)
    context.note(to=target.name, order=order)
    context.check(
        "astype",
        lambda: value.ours.astype(target, order),
        lambda: cast(value.theirs, target).astype(target, order),
    )


def _copy(context):
    order = context.pick("CFAK")
    value = context.array(context.pick(ALL), context.shape())
    name = context.pick(("copy", "flatten", "ravel"))
    context.note(order=order)

    def theirs():
        return getattr(value.theirs, name)(order)

    context.check(name, lambda: getattr(value.ours, name)(order), theirs)


def _fill(context):
    dtype = context.pick(ALL)
    to = context.target(dtype, context.shape())
    number = context.pick((0, 1, 7, 1.5, True, -0.0))
    number = int(number) if not is_inexact(dtype) else number
    context.note(number=number)
    context.check("fill", lambda: to.ours.fill(number), lambda: to.theirs.fill(number))


def _number(context):
    """A number, or a list, is assigned."""
    dtype = context.pick(NUMPYS)
    shape = context.shape()
    to = context.target(dtype, shape)
    number = context.pick((0, 1, 100, -1, 300, 1.5, 2j, [1], True))
    if not shape and isinstance(number, list):
        number = (
            1  # NumPy rejects lists of more dimensions than the target has; Spanwise broadcasts
        )
    context.note(number=number)

    def ours():
        to.ours[...] = number

    def theirs():
        to.theirs[...] = number

    context.check("assignment of a number", ours, theirs)


def _is_whole(value, size):
    """Whether strides and offset are multiples of `size`: Spanwise counts them in elements, NumPy in bytes."""
    start = value.theirs.ctypes.data - value.memory.theirs.ctypes.data
    return start % size == 0 and all(s >= 0 and s % size == 0 for s in value.theirs.strides[:-1])


def _view(context):
    """The same bytes as another dtype."""
    source, target = context.pick(ALL), context.pick(ALL)
    if BOOL in (source, target) and source != target:
        target = source  # not every byte is a bool
    value = context.array(source, context.shape())
    if target.itemsize > source.itemsize and not _is_whole(value, target.itemsize):
        return
    context.note(dtype=target.name)
    context.check("view", lambda: value.ours.view(target), lambda: value.theirs.view(target))


def _parts(context):
    value = context.array(context.pick(NUMPYS), context.shape())
    name = context.pick(("real", "imag"))
    context.check(
        name, lambda: getattr(sw, name)(value.ours), lambda: getattr(np, name)(value.theirs)
    )


def _like(context):
    """New arrays in the shape of another."""
    value = context.array(context.pick(ALL), context.shape())
    name, fill = context.pick((("zeros_like", ()), ("ones_like", ()), ("full_like", (3,))))
    if fill and value.dtype == BOOL:
        fill = (True,)
    context.check(
        name,
        lambda: getattr(sw, name)(value.ours, *fill),
        lambda: getattr(np, name)(value.theirs, *fill),
    )


def _array(context):
    """sw.array and sw.asarray of a NumPy view."""
    source, target, kind = _pair(context)
    value = context.array(source, context.shape(), kind)
    theirs = value.theirs
    context.note(dtype=target.name)
    context.check(
        "array",
        lambda: sw.array(theirs, target, device=context.device),
        lambda: cast(theirs, target),
    )


OPERATIONS = (
    *(_assign,) * 5,
    *(_astype,) * 4,
    *(_copy,) * 3,
    *(_copyto,) * 3,
    *(_overlap,) * 3,
    _fill,
    _number,
    _view,
    _parts,
    _like,
    _array,
)
