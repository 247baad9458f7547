# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine "torch": a ProcessGroupGloo of PyTorch on the CPU, independent of the default group of
torch.distributed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from .._core import Array, CollectiveError
from ._host import BoundedWait, Reduction, unsupported_reduction
from ._monitor import Monitor
from ._stores import own_address

#: The dtypes in which others are reduced: 16-bit floats for accuracy, integers that Gloo lacks. They hold
#: all values, so "min" and "max" are right; sums and products of integers wrap when converted back.
_COMPUTED = {
    "float16": "float32", "bfloat16": "float32",
    "int16": "int32", "uint16": "int32", "uint32": "int64",
}  # fmt: skip
#: Complex numbers are added as pairs of real ones.
_REAL = {"complex64": "float32", "complex128": "float64"}


def start_torch(monitor: Monitor, waits: BoundedWait, caller: str) -> TorchEngine:
    """All ranks of `monitor` call it, for `caller`: init or split. Raises ImportError without PyTorch."""
    try:
        import torch
        from torch.distributed import ProcessGroupGloo, TCPStore
    except ImportError as error:
        raise ImportError(
            f"spanwise.collectives: engine='torch' needs PyTorch with Gloo, got {error}. Remedy: "
            "pip install torch, or start the program by mpiexec with 'spanwise[mpi]'"
        ) from error
    timeout = timedelta(seconds=monitor.timeout)
    size, store, text = len(monitor.ranks), None, None
    if monitor.rank == 0:
        is_local = monitor.link._address[0] == "127.0.0.1"
        host = "127.0.0.1" if is_local else own_address()
        store = TCPStore(host, 0, size, is_master=True, timeout=timeout, wait_for_workers=False)
        text = json.dumps([host, store.port])
    host, port = json.loads(monitor.exchange(caller, "torch", text)[0])
    if store is None:
        store = TCPStore(host, port, size, is_master=False, timeout=timeout, wait_for_workers=False)
    group = ProcessGroupGloo(store, monitor.rank, size, timeout)
    return TorchEngine(torch, group, store, monitor.rank, size, waits)


class TorchEngine:
    """Calls of one process group, which the engine owns with the store that connects it."""

    name = "torch"

    def __init__(
        self, torch: Any, group: Any, store: Any, rank: int, size: int, waits: BoundedWait
    ) -> None:
        self._torch, self._group, self._store = torch, group, store
        self._rank, self._size, self._waits = rank, size, waits
        ops = torch.distributed.ReduceOp
        self._ops = {"sum": ops.SUM, "prod": ops.PRODUCT, "min": ops.MIN, "max": ops.MAX}

    def run(self, calls: list[tuple[Any, ...]]) -> None:
        """Runs calls as MpiEngine.run() does."""
        started = []
        for op, reduction, peer, source, target in calls:
            work, finish = getattr(self, "_" + op)(reduction, peer, source, target)
            started.append((op, work, finish))
        for op, work, _ in started:
            self._wait(op, work)
        for _, _, finish in started:
            if finish is not None:
                finish()

    def _wait(self, op: str, work: Any) -> None:
        # is_completed() of a send or recv is false until wait(), which raises RuntimeError when the
        # other rank closes the connection.
        if op not in ("send", "recv"):
            self._waits.until(work.is_completed)
        try:
            work.wait(timedelta(seconds=self._waits.timeout))
        except RuntimeError as error:
            raise CollectiveError(f"Gloo: {error}") from error

    def abort(self) -> None:
        with suppress(Exception):  # versions before 2.6 have no abort()
            self._group.abort()

    def close(self) -> None:
        self._group = None

    # ---- Operations: (work, what to do when it is complete) ----

    def _tensor(self, array: Array) -> Any:
        return self._torch.from_dlpack(array)

    def _bytes(self, array: Array) -> Any:
        return self._tensor(array.reshape(-1).view("uint8"))

    def _reduced(
        self,
        start: Callable[[Any, Any], Any],
        reduction: str,
        source: Array,
        target: Array | None,
    ) -> tuple[Any, Callable[[], None]]:
        """start(tensor, op) reduces `tensor` in place; the result is copied to `target`."""
        name = source.dtype.name
        if reduction == "prod" and name in _REAL:
            remedy = "use engine='mpi', or all_gather and multiply"
            raise unsupported_reduction("torch", reduction, source.dtype, remedy)
        if name == "uint64" and reduction in ("min", "max"):
            raise unsupported_reduction("torch", reduction, source.dtype, "use engine='mpi'")
        converted = Reduction(reduction, source, None, self._size, _COMPUTED)
        is_shared = converted.source.ptr == source.ptr
        values = converted.source.copy() if is_shared else converted.source
        flat = values.reshape(-1)
        if name in _REAL:
            flat = flat.view(_REAL[name])
        if name == "uint64":  # sums and products have the same bits as those of int64
            flat = flat.view("int64")

        def finish() -> None:
            if target is None:
                return
            part = values
            if target.shape != values.shape:  # reduce_scatter keeps the block of this rank
                rows = values.shape[0] // self._size
                part = values[self._rank * rows : (self._rank + 1) * rows]
            if reduction == "mean":
                part /= self._size
            target[...] = part.view("bool") if name == "bool" else part.astype(target.dtype)

        return start(self._tensor(flat), self._ops[converted.op]), finish

    def _all_reduce(self, reduction: str, peer: int, source: Array, target: Array) -> Any:
        return self._reduced(
            lambda x, op: self._group.allreduce([x], op), reduction, source, target
        )

    #: Gloo has none, or one that is an all_reduce: all blocks are reduced, and one is kept.
    _reduce_scatter = _all_reduce

    def _reduce(self, reduction: str, peer: int, source: Array, target: Array | None) -> Any:
        return self._reduced(
            lambda x, op: self._group.reduce(x, peer, op), reduction, source, target
        )

    def _broadcast(self, reduction: str, peer: int, source: Array | None, target: Array) -> Any:
        if source is not None and source.ptr != target.ptr:
            target[...] = source
        return self._group.broadcast(self._bytes(target), peer), None

    def _all_gather(self, reduction: str, peer: int, source: Array, target: Array) -> Any:
        own = self._bytes(source)
        parts = list(self._bytes(target).reshape(self._size, -1))
        return self._group.allgather([parts], [own]), None

    def _all_to_all(self, reduction: str, peer: int, source: Array, target: Array) -> Any:
        return self._group.alltoall_base(self._bytes(target), self._bytes(source), [], []), None

    def _send(self, reduction: str, peer: int, source: Array, target: None) -> Any:
        return self._group.send([self._bytes(source)], peer, 0), None

    def _recv(self, reduction: str, peer: int, source: None, target: Array) -> Any:
        return self._group.recv([self._bytes(target)], peer, 0), None

    def _barrier(self, reduction: str, peer: int, source: None, target: None) -> Any:
        return self._group.barrier(), None
