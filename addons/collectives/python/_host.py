# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the engines of the CPU: reductions of dtypes that a library lacks, and waits with a time
limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import Array, CollectiveError, DTypeError

if TYPE_CHECKING:
    from ._monitor import Monitor

#: Calls of `test` without a pause between them, some 100 us: most small operations end within them.
_SPINS = 200
#: Seconds in which the thread only yields between calls of `test`; later it sleeps.
_YIELD_SECONDS = 0.02

#: bool as 0 and 1: the sum is "or" and the product "and", as in NumPy.
BOOL_OPS = {"sum": "max", "prod": "min", "min": "min", "max": "max"}


class Reduction:
    """A reduction over `size` ranks of `source` into `target` (None where this rank gets no result) in a
    dtype that the engine's library supports. `computed` maps the names of other dtypes to those of
    supported ones. The engine reduces the attribute `source` into the attribute `target` by the attribute
    `op`, then calls finish()."""

    def __init__(
        self,
        reduction: str,
        source: Array,
        target: Array | None,
        size: int,
        computed: dict[str, str],
    ) -> None:
        self._result, self._size = target, size
        self.op, self._is_mean = ("sum", True) if reduction == "mean" else (reduction, False)
        self.source, self.target = source, target
        name = source.dtype.name
        if name == "bool":
            self.op = BOOL_OPS[reduction]
            self.source = source.view("uint8")
            self.target = None if target is None else target.view("uint8")
        elif name in computed:
            in_place = target is not None and target.ptr == source.ptr
            self.source = source.astype(computed[name])
            if in_place:
                self.target = self.source
            elif target is not None:
                self.target = _core.empty(target.shape, computed[name], device="cpu")

    def finish(self) -> None:
        """Divides a mean by the number of ranks, and converts the result into the caller's array."""
        if self._result is None or self.target is None:
            return
        if self._is_mean:
            self.target /= self._size
        if self.target.dtype != self._result.dtype and self._result.dtype.name != "bool":
            self._result[...] = self.target.astype(self._result.dtype)


def unsupported_reduction(engine: str, op: str, dtype: Any, remedy: str) -> DTypeError:
    return DTypeError(f"{engine}: it does not compute op={op!r} of {dtype}; {remedy}")


class BoundedWait:
    """Waits of one communicator: bounded by its time limit, and ended where another rank is known
    to have ended or failed."""

    def __init__(self, monitor: Monitor | None, timeout: float) -> None:
        self._monitor, self.timeout = monitor, timeout

    def until(self, test: Callable[[], Any]) -> None:
        """Returns when `test` has returned something true. Raises CollectiveError."""
        for _ in range(_SPINS):
            if test():
                return
        # MPI moves large messages only during `test`, so there are no pauses at first.
        begin = time.monotonic()
        while not test():
            waited = time.monotonic() - begin
            if waited > _YIELD_SECONDS:
                self._check(waited)
                time.sleep(min(waited / 100, 1e-3))
            else:
                os.sched_yield()

    def _check(self, waited: float) -> None:
        if self._monitor is not None and (failure := self._monitor.failure()) is not None:
            raise CollectiveError(failure)
        if waited > self.timeout:
            if self._monitor is not None:
                # The reply updates the last calls of the ranks, which are appended to the error.
                self._monitor.link.send_heartbeat()
            raise CollectiveError(f"it did not end within {self.timeout:g} s")


class SelfEngine:
    """The engine of a communicator of one rank: copies."""

    name = "self"

    def run(self, calls: list[tuple[Any, ...]]) -> None:
        """Runs calls as MpiEngine.run() does."""
        for _, _, _, source, target in calls:
            if source is not None and target is not None and source.ptr != target.ptr:
                target[...] = source.reshape(target.shape)

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass
