# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The context of a case: random draws, equal arrays in NumPy and Spanwise, and the check of a
call."""

import random

import numpy as np
from numpy.lib.stride_tricks import as_strided

import spanwise as sw

from .arena import Arena
from .compare import EXACT, problem_of
from .memory import Memory, Operand, Wrong
from .values import poison, take
from .windows import random_shape, random_window

# An error of ours has to be of the same of these classes as NumPy's.
_KINDS = (IndexError, TypeError, OverflowError, ValueError, MemoryError)

_CAPACITY = 8 << 20  # of an arena, in bytes; larger arrays get larger ones


class Context:
    """Draws and runs the cases of one device, one after the other. The seed and the number of a case
    determine it."""

    def __init__(self, device, seed, is_shared=None, variations=1):
        """With `is_shared` (default: on the CPU) arrays share memory with NumPy's; without it they are
        copied to the device, as a GPU requires.

        `variations` consecutive cases have the same operations, dtypes, ranks and steps, hence mostly
        the same kernels, and differ in extents, offsets and values.
        """
        self.device = sw.device(device)
        self.is_cpu = self.device == sw.device("cpu") if is_shared is None else is_shared
        self.seed = seed
        self.variations = variations
        self.r = random.Random()
        self.varied = random.Random() if variations > 1 else self.r  # extents, offsets, values
        self._arenas = [Arena(_CAPACITY) for _ in range(10)] if self.is_cpu else []
        self.begin(0)

    def begin(self, number):
        self.r.seed(self.seed * (1 << 44) + number // self.variations)
        if self.varied is not self.r:
            self.varied.seed(self.seed * (1 << 44) + number)
        self.clear()

    def clear(self):
        self.outcome = None  # of the check: "result", "error", or None before it
        self.memories = []
        self.operands = []
        self.notes = []
        self.name = "?"

    def next_arena(self, size):
        """The arena of the next operand, which has at least `size` bytes."""
        number = len(self.memories)
        if self._arenas[number].capacity < size:
            self._arenas[number] = Arena(size)
        return self._arenas[number]

    # ---- Draws ----

    def chance(self, probability):
        return self.r.random() < probability

    def pick(self, choices):
        return choices[int(self.r.random() * len(choices))]

    def shape(self, max_size=None, min_rank=0):
        return random_shape(self.r, max_size, min_rank, self.varied)

    def broadcastable(self, shape):
        """A shape that broadcasts to `shape`."""
        u = self.r.random()
        if u < 0.6:
            return shape
        last_axes = shape[int(self.r.random() * (len(shape) + 1)) :]
        return tuple(1 if self.r.random() < 0.35 else n for n in last_axes)

    def axis(self, rank, wrong=0.004):
        """An axis counted from the front or the back; rarely an out-of-range one."""
        if rank == 0 or self.r.random() < wrong:
            return self.r.choice((rank, -rank - 1, rank + 3)) if rank else self.r.choice((0, -1, 1))
        return int(self.r.random() * 2 * rank) - rank

    # ---- Arrays ----

    def memory(self, dtype, size, kind="any"):
        """(Memory of `size` values of a kind, mostly between spare elements; index of the first)."""
        r = self.varied
        before = int(r.random() * 19) if r.random() < 0.7 else 0
        after = int(r.random() * 19) if r.random() < 0.7 else 0
        values = take(r, kind, dtype, before + size + after)
        memory = Memory(self, values.copy())
        self.memories.append(memory)
        return memory, before

    def array(self, dtype, shape, kind="any", repeats=True, values=None):
        """An array to read. `values`, if given, are its elements."""
        r = self.r
        if self.is_cpu and repeats and values is None and shape and r.random() < 0.04:
            return self._sliding(dtype, shape, kind)
        window = random_window(r, shape, repeats and values is None)
        varied = self.varied
        before = int(varied.random() * 19) if varied.random() < 0.7 else 0
        after = int(varied.random() * 19) if varied.random() < 0.7 else 0
        total = before + window.size + after
        flat = take(varied, kind, dtype, total)
        if values is None and r.random() < 0.5:
            flat = flat.copy()
        else:
            inner = flat[before : before + window.size]
            flat = np.empty(total, dtype)
            flat.fill(poison(dtype))
            view = window.of(flat, before)
            if window.broadcast:
                flat[before : before + window.size] = inner
            elif values is not None:
                view[...] = values
            else:
                view[...] = inner[: view.size].reshape(shape)
        memory = Memory(self, flat)
        operand = memory.operand(window, before)
        self.memories.append(memory)
        self.operands.append(operand)
        return operand

    def _sliding(self, dtype, shape, kind):
        """An array with any strides, whose elements may overlap, as those of a sliding window."""
        strides = [self.pick((-3, -2, -1, 0, 1, 1, 2, 3, 5)) for _ in shape]
        spans = [s * max(n - 1, 0) for s, n in zip(strides, shape, strict=True)]
        first = -sum(s for s in spans if s < 0) + int(self.r.random() * 19)
        size = first + sum(s for s in spans if s > 0) + 1 + int(self.r.random() * 19)
        memory = Memory(self, take(self.r, kind, dtype, size).copy())
        steps = [s * dtype.itemsize for s in strides]
        theirs, mine = (
            as_strided(m[first:], shape, steps, writeable=False)
            for m in (memory.theirs, memory.host)
        )
        operand = Operand(memory, sw.asarray(mine), theirs)
        self.memories.append(memory)
        self.operands.append(operand)
        return operand

    def target(self, dtype, shape, tolerance=EXACT, kind="any"):
        """An output array: its elements and the memory around it are poisoned."""
        operand = self.array(dtype, shape, kind, repeats=False)
        operand.memory.written.append((operand, tolerance))
        return operand

    def overlapping(self, dtype, shape, tolerance=EXACT, kind="any"):
        """(array to read, array to write), random windows of one memory, which mostly overlap."""
        read, write = (random_window(self.r, shape) for _ in "rw")
        size = max(read.size, write.size)
        near = self.chance(0.6)
        more = int(self.r.random() * (4 if near else min(size + 1, 1 << 17)))
        memory, before = self.memory(dtype, size + more, kind)
        offsets = [
            before + int(self.r.random() * (size + more - w.size + 1)) for w in (read, write)
        ]
        source, target = memory.operand(read, offsets[0]), memory.operand(write, offsets[1])
        memory.written.append((target, tolerance))
        self.operands += [source, target]
        return source, target

    def writes(self, operand, tolerance=EXACT):
        operand.memory.written.append((operand, tolerance))

    # ---- The call ----

    def note(self, **kwargs):
        self.notes.append(kwargs)

    def check(self, name, ours, theirs, tolerance=EXACT, out=None):
        """Runs both sides and compares results, errors and all memory.

        `out` is the operand that the result has to be. Returns whether there is a result, not an error.
        """
        self.name, self.outcome = name, "result"
        try:
            expected, error = theirs(), None
        except Exception as raised:
            expected, error = None, raised
        try:
            result = ours()
        except Exception as raised:
            if error is None:
                raise Wrong(f"raised {type(raised).__name__}: {raised}; NumPy does not") from raised
            self.outcome = "error"
            self._check_kinds(error, raised)
            for i, memory in enumerate(self.memories):
                if not memory.written:
                    memory.check(f"after the error, memory {i}")
            return False
        if error is not None:
            raise Wrong(f"did not raise; NumPy: {type(error).__name__}: {error}")
        if out is not None:
            if result is not out.ours:
                raise Wrong("the result is not out")
        else:
            self._check_result(result, expected, tolerance)
        for i, memory in enumerate(self.memories):
            memory.check(f"memory {i}")
        return True

    @staticmethod
    def _check_kinds(theirs, ours):
        if "boolean array indexing assignment" in str(theirs):
            theirs = ValueError(str(theirs))  # NumPy raises TypeError for a wrong rank
        if not any(isinstance(theirs, kind) and isinstance(ours, kind) for kind in _KINDS):
            raise Wrong(
                f"raised {type(ours).__name__}: {ours}; NumPy: {type(theirs).__name__}: {theirs}"
            )

    def _check_result(self, ours, theirs, tolerance):
        if isinstance(theirs, (tuple, list)):
            if not isinstance(ours, (tuple, list)) or len(ours) != len(theirs):
                raise Wrong(f"{len(theirs)} results expected, got {ours!r:.200}")
            for i, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
                self._check_result(
                    mine, other, tolerance[i] if isinstance(tolerance, list) else tolerance
                )
            return
        if theirs is None:
            if ours is not None:
                raise Wrong(f"None expected, got {ours!r:.200}")
            return
        theirs = np.asarray(theirs)
        if isinstance(ours, sw.Array):
            if ours.device != self.device:
                raise Wrong(f"the result is on {ours.device}")
            ours = ours.numpy()
        elif not isinstance(ours, (int, float, complex)):
            raise Wrong(f"expected an array or a number, got {ours!r:.200}")
        else:
            ours = np.asarray(ours)
        problem = problem_of(ours, theirs, tolerance)
        if problem:
            raise Wrong(problem)

    def description(self):
        parts = [self.name, *(f"[{i}] {operand}" for i, operand in enumerate(self.operands))]
        parts += [", ".join(f"{k}={v!r:.300}" for k, v in kwargs.items()) for kwargs in self.notes]
        return "; ".join(parts)
