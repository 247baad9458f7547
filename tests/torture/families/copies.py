# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies between any two layouts and dtypes: assignment, copyto, astype, copy, fill, view."""

import numpy as np

import spanwise as sw

from ..values import ALL, BFLOAT16, BOOL, FEW, NUMPYS, cast, is_inexact


def _pair(room):
    """(source dtype, target dtype, kind of values) between which every value has one meaning."""
    dtypes = ALL if room.is_cpu else (*FEW, BFLOAT16)
    source = room.pick(dtypes)
    target = source if room.chance(0.4) else room.pick(dtypes)
    # What a float beyond an integer's range becomes, the processor decides.
    lossy = is_inexact(source) and not is_inexact(target) and target != BOOL
    return source, target, "whole" if lossy else "any"


def case(room):
    OPERATIONS[int(room.r.random() * len(OPERATIONS))](room)


def _assign(room):
    source, target, kind = _pair(room)
    shape = room.shape()
    to = room.target(target, shape)
    value = room.array(
        source, room.broadcastable(shape) if room.chance(0.97) else room.shape(), kind
    )

    def theirs():
        to.theirs[...] = cast(value.theirs, target)

    def ours():
        to.ours[...] = value.ours

    room.check("assignment", ours, theirs)


def _copyto(room):
    source, target, kind = _pair(room)
    casting = room.pick(("same_kind", "unsafe", "unsafe", "safe"))
    shape = room.shape()
    to = room.target(target, shape)
    value = room.array(source, room.broadcastable(shape), kind)
    room.note(casting=casting)

    def theirs():
        if not sw.can_cast(source, target, casting):
            raise TypeError("cannot cast")
        np.copyto(to.theirs, cast(value.theirs, target), casting="unsafe")

    room.check("copyto", lambda: sw.copyto(to.ours, value.ours, casting=casting), theirs)


def _overlap(room):
    dtype = room.pick(ALL)
    source, target = room.overlapping(dtype, room.shape())

    def ours():
        target.ours[...] = source.ours

    def theirs():
        # Between vectors of different steps NumPy does not always see the overlap.
        target.theirs[...] = source.theirs.copy()

    room.check("overlapping assignment", ours, theirs)


def _astype(room):
    source, target, kind = _pair(room)
    order = room.pick("KCFA")
    value = room.array(source, room.shape(), kind)
    room.note(to=target.name, order=order)
    room.check(
        "astype",
        lambda: value.ours.astype(target, order),
        lambda: cast(value.theirs, target).astype(target, order),
    )


def _copy(room):
    order = room.pick("CFAK")
    value = room.array(room.pick(ALL), room.shape())
    name = room.pick(("copy", "flatten", "ravel"))
    room.note(order=order)

    def theirs():
        return getattr(value.theirs, name)(order)

    room.check(name, lambda: getattr(value.ours, name)(order), theirs)


def _fill(room):
    dtype = room.pick(ALL)
    to = room.target(dtype, room.shape())
    number = room.pick((0, 1, 7, 1.5, True, -0.0))
    number = int(number) if not is_inexact(dtype) else number
    room.note(number=number)
    room.check("fill", lambda: to.ours.fill(number), lambda: to.theirs.fill(number))


def _number(room):
    """A number, or a list, is assigned."""
    dtype = room.pick(NUMPYS)
    shape = room.shape()
    to = room.target(dtype, shape)
    number = room.pick((0, 1, 100, -1, 300, 1.5, 2j, [1], True))
    if not shape and isinstance(number, list):
        number = 1  # NumPy refuses lists of more dimensions than the target has; we broadcast them
    room.note(number=number)

    def ours():
        to.ours[...] = number

    def theirs():
        to.theirs[...] = number

    room.check("assignment of a number", ours, theirs)


def _is_whole(value, size):
    """Strides and offsets count whole elements here, bytes in NumPy."""
    start = value.theirs.ctypes.data - value.memory.theirs.ctypes.data
    return start % size == 0 and all(s >= 0 and s % size == 0 for s in value.theirs.strides[:-1])


def _view(room):
    """The same bytes as another dtype."""
    source, target = room.pick(ALL), room.pick(ALL)
    if BOOL in (source, target) and source != target:
        target = source  # not every byte is a bool
    value = room.array(source, room.shape())
    if target.itemsize > source.itemsize and not _is_whole(value, target.itemsize):
        return
    room.note(dtype=target.name)
    room.check("view", lambda: value.ours.view(target), lambda: value.theirs.view(target))


def _parts(room):
    value = room.array(room.pick(NUMPYS), room.shape())
    name = room.pick(("real", "imag"))
    room.check(name, lambda: getattr(sw, name)(value.ours), lambda: getattr(np, name)(value.theirs))


def _like(room):
    """New arrays in the shape of another."""
    value = room.array(room.pick(ALL), room.shape())
    name, fill = room.pick((("zeros_like", ()), ("ones_like", ()), ("full_like", (3,))))
    if fill and value.dtype == BOOL:
        fill = (True,)
    room.check(
        name,
        lambda: getattr(sw, name)(value.ours, *fill),
        lambda: getattr(np, name)(value.theirs, *fill),
    )


def _array(room):
    """By way of the constructors, from NumPy's own view."""
    source, target, kind = _pair(room)
    value = room.array(source, room.shape(), kind)
    theirs = value.theirs
    room.note(dtype=target.name)
    room.check(
        "array",
        lambda: sw.array(theirs, target, device=room.device),
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
