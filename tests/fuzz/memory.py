# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operands of random cases, and the check of all memory around them."""

import numpy as np

import spanwise as sw

from .compare import problem_of


class Wrong(Exception):
    """A result, error or write that differs from NumPy's."""


class Operand:
    """One array on both sides, each a view of its own guarded memory."""

    __slots__ = ("dtype", "memory", "ours", "theirs")

    def __init__(self, memory, ours, theirs):
        self.memory, self.ours, self.theirs = memory, ours, theirs
        self.dtype = theirs.dtype

    @property
    def shape(self):
        return self.theirs.shape

    def __str__(self):
        a = self.theirs
        start = (a.ctypes.data - self.memory.theirs.ctypes.data) // a.itemsize
        return f"{a.dtype}{a.shape} strides {a.strides} offset {start} of {self.memory.theirs.size}"


class Memory:
    """The same flat elements on both sides. After a call all of them have to agree."""

    def __init__(self, context, theirs):
        self.theirs = theirs
        self.written = []  # (operand, tolerance) of each operand that the call writes
        self._context = context
        if context.is_cpu:
            self.host = context.next_arena(theirs.nbytes).allocate(
                theirs.size, theirs.dtype, context.r.random() < 0.5
            )
            self.host[...] = theirs
            self._whole = None
        else:
            self._whole = sw.array(theirs, device=context.device)

    def operand(self, window, offset):
        theirs = window.of(self.theirs, offset)
        if self._whole is not None:
            ours = window.of(self._whole, offset)
        elif self._context.r.random() < 0.5:
            ours = sw.asarray(window.of(self.host, offset))
        else:
            ours = window.of(sw.asarray(self.host), offset)
        return Operand(self, ours, theirs)

    def check(self, name):
        """Raises Wrong if an element differs, inside or outside of the operands. `name` names the memory."""
        ours = self.host if self._whole is None else self._whole.numpy()
        if ours.tobytes() == self.theirs.tobytes():
            return
        for operand, tolerance in self.written:
            mine = operand.ours.numpy()
            problem = problem_of(mine, operand.theirs, tolerance)
            if problem:
                raise Wrong(f"{name}: {problem}")
            # Within the tolerance; the elements around it are compared below.
            operand.theirs[...] = mine
        if ours.tobytes() == self.theirs.tobytes():
            return
        differs = ours.view(np.uint8) != self.theirs.view(np.uint8)
        first = int(np.nonzero(differs)[0][0]) // ours.itemsize
        kind = "written outside of the array" if self.written else "an input was written"
        raise Wrong(
            f"{name}: {kind}: element {first} of {ours.size} of its memory is {ours[first]!r}, "
            f"expected {self.theirs[first]!r}"
        )
