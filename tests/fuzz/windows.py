# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random shapes, and random windows of a shape onto flat memory."""

import numpy as np

_RANKS = (0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 7)
_STEPS = (1, 1, 1, 1, 1, 2, 3, -1, -1, -1, -2)
_MAX_ELEMENTS = 1 << 18  # of the memory of one window


def random_shape(r, max_size=None, min_rank=0, varied=None):
    """A shape of at most a few hundred elements, rarely of enough for tiles and threads.

    `r` and `varied` are random.Random. Extents are drawn by `varied`, if given, so that other extents are
    possible for the same draws by `r`.
    """
    varied = varied or r
    if max_size is None:
        u = r.random()
        max_size = 60 if u < 0.6 else 500 if u < 0.985 else 120_000
    rank = r.choice(_RANKS)
    rank = max(rank, min_rank)
    extents = []
    for left in range(rank, 0, -1):
        u = r.random()
        if u < 0.025:
            extents.append(0)
        elif u < 0.15 or max_size < 2:
            extents.append(1)
        else:
            # Somewhat more than the `left`-th root.
            top = max_size if left == 1 else max(2, int(max_size ** (1.6 / (left + 0.6))))
            if max_size > 1000:
                n = max(2, int(top * (0.3 + 0.7 * varied.random())))
            else:
                n = 2 + int((top - 1) * varied.random())
            n = min(n, max_size)
            extents.append(n)
            max_size //= n
    r.shuffle(extents)
    return tuple(extents)


def size_of(shape):
    size = 1
    for n in shape:
        size *= n
    return size


class Window:
    """A view as data: the steps that select it from flat memory.

    of() applies the steps to arrays of NumPy and of Spanwise.
    """

    __slots__ = ("broadcast", "extents", "keys", "order", "shape", "size")

    def __init__(self, shape, extents, order=None, keys=None, broadcast=False):
        self.shape, self.extents, self.order = shape, extents, order
        self.keys, self.broadcast = keys, broadcast
        self.size = size_of(extents)

    def of(self, flat, offset):
        view = flat[offset : offset + self.size].reshape(self.extents)
        if self.order is not None:
            view = view.transpose(self.order)
        if self.keys is not None:
            view = view[self.keys]
        if self.broadcast:
            if isinstance(view, np.ndarray):
                return np.broadcast_to(view, self.shape)
            return view.broadcast_to(self.shape)
        return view


def random_window(r, shape, repeats=False):
    """A window of `shape`; with `repeats` axes may have stride 0, which only reading allows."""
    rank = len(shape)
    u = r.random()
    if u < 0.3 or rank == 0:
        return Window(shape, shape)
    if u < 0.4:
        return Window(shape, shape[::-1], tuple(range(rank))[::-1])
    growth = _MAX_ELEMENTS // max(size_of(shape), 1)  # permitted ratio of memory and shape
    order = list(range(rank))
    if rank > 1 and r.random() < 0.6:
        r.shuffle(order)
    extents, keys, is_cut = [0] * rank, [], False
    may_broadcast = repeats and r.random() < 0.35
    broadcast = False
    for axis, n in enumerate(shape):
        if may_broadcast and r.random() < 0.4:
            extents[axis] = 1
            keys.append(slice(None))
            broadcast = True
            continue
        step = r.choice(_STEPS) if growth > 8 else r.choice((1, -1))
        stride = abs(step)
        front, back = (r.choice((0, 0, 1, 2)), r.choice((0, 0, 1, 3))) if growth > 8 else (0, 0)
        extents[axis] = n * stride + front + back
        growth = growth * max(n, 1) // max(extents[axis], 1)
        if n == 0:
            keys.append(slice(front, front, step))
        elif step > 0:
            keys.append(slice(front, front + (n - 1) * stride + 1, step))
        else:
            first = front + (n - 1) * stride
            keys.append(slice(first, front - 1 if front else None, step))
        is_cut = is_cut or step != 1 or front + back > 0
    if size_of(extents) > _MAX_ELEMENTS:
        return Window(shape, shape)
    inverse = None
    if order != list(range(rank)):
        inverse = [0] * rank
        for position, axis in enumerate(order):
            inverse[axis] = position
        inverse = tuple(inverse)
        extents = [extents[axis] for axis in order]
    return Window(shape, tuple(extents), inverse, tuple(keys) if is_cut else None, broadcast)
