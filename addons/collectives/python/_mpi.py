# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine "mpi": nonblocking operations of mpi4py, whose completion is tested until the time
limit, because a blocking one would wait for ever for a rank that has ended."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from .._core import Array, CollectiveError, dtype
from ._host import BoundedWait, Reduction, unsupported_reduction

_TEXT_BYTES = 1000  # more than an address and a token
#: The dtypes in which 16-bit floats are reduced: MPI need not support 16-bit floats.
_COMPUTED = {"float16": "float32", "bfloat16": "float32"}
#: The names in mpi4py.MPI of MPI's datatypes, by dtype.
_DATATYPES = {
    "uint8": "UINT8_T", "int8": "INT8_T", "int16": "INT16_T", "uint16": "UINT16_T",
    "int32": "INT32_T", "uint32": "UINT32_T", "int64": "INT64_T", "uint64": "UINT64_T",
    "float32": "FLOAT", "float64": "DOUBLE",
    "complex64": "C_FLOAT_COMPLEX", "complex128": "C_DOUBLE_COMPLEX",
}  # fmt: skip


def load_mpi() -> Any:
    """mpi4py.MPI. Where this is its first import, MPI is finalized at exit only if no operation was
    given up: MPI_Finalize would wait for those that a lost rank will not end."""
    if "mpi4py.MPI" in sys.modules:
        return sys.modules["mpi4py.MPI"]
    import mpi4py

    finalize = mpi4py.rc.finalize is not False
    mpi4py.rc.finalize = False
    from mpi4py import MPI

    if finalize:
        atexit.register(_finalize, MPI)
    return MPI


def _finalize(mpi: Any) -> None:
    if not MpiEngine.is_broken and not mpi.Is_finalized():
        mpi.Finalize()


class MpiEngine:
    """Calls of one communicator of MPI, which the engine owns."""

    name = "mpi"
    #: Whether an engine of this process was aborted or has given up operations.
    is_broken = False
    #: Requests that were given up, with their arrays: MPI may still write to these.
    _lost: list[Any] = []

    def __init__(self, comm: Any, waits: BoundedWait) -> None:
        self._mpi = mpi = load_mpi()
        self._comm, self._waits = comm, waits
        self._rank, self._size = comm.Get_rank(), comm.Get_size()
        self._datatypes = {
            dtype(name): getattr(mpi, attribute) for name, attribute in _DATATYPES.items()
        }
        self._buffer_at = mpi.buffer.fromaddress
        self._ops = {"sum": mpi.SUM, "prod": mpi.PROD, "min": mpi.MIN, "max": mpi.MAX}

    def run(self, calls: list[tuple[Any, ...]]) -> None:
        """Runs calls of one group: (op, reduction, peer, source, target), as CollectiveCall in
        spanwise/collectives/communicator.hpp, None for an array that this rank does not use. Returns when they are
        complete."""
        requests, finishers = [], []
        try:
            for op, reduction, peer, source, target in calls:
                request, finish = getattr(self, "_" + op)(reduction, peer, source, target)
                requests.append(request)
                if finish is not None:
                    finishers.append(finish)
            for request in requests:
                if not request.Test():
                    self._waits.until(request.Test)
        except BaseException:
            if requests:
                MpiEngine.is_broken = True
                self._lost.append((requests, calls, finishers))
            raise
        for finish in finishers:
            finish()

    def abort(self) -> None:
        """MPI cannot end operations: run() gives them up. MPI of load_mpi() is not finalized at exit."""
        MpiEngine.is_broken = True

    def close(self) -> None:
        """Leaves the communicator to MPI_Finalize: freeing it would wait for the other ranks."""

    # ---- Operations: (request, what to do when it is complete) ----

    def _bytes(self, array: Array) -> list[Any]:
        return [self._buffer_at(array.ptr, array.nbytes), self._mpi.BYTE]

    def _reduced(
        self, start: Callable[..., Any], reduction: str, source: Array, target: Array | None
    ) -> tuple[Any, Callable[[], None] | None]:
        """start(sent, received, op) starts the operation of MPI and returns its request."""
        datatype, finish = self._datatypes.get(source.dtype), None
        if datatype is None or reduction == "mean":
            converted = Reduction(reduction, source, target, self._size, _COMPUTED)
            source, target = converted.source, converted.target
            reduction, finish = converted.op, converted.finish
            datatype = self._datatypes.get(source.dtype)
        if datatype is None:
            raise unsupported_reduction("mpi", reduction, source.dtype, "convert the array first")
        sent, received = [self._buffer_at(source.ptr, source.nbytes), datatype], None
        if target is not None:
            received = [self._buffer_at(target.ptr, target.nbytes), datatype]
            if target.ptr == source.ptr:
                sent = self._mpi.IN_PLACE
        return start(sent, received, self._ops[reduction]), finish

    def _all_reduce(self, reduction: str, peer: int, source: Array, target: Array) -> Any:
        return self._reduced(self._comm.Iallreduce, reduction, source, target)

    def _reduce(self, reduction: str, peer: int, source: Array, target: Array | None) -> Any:
        return self._reduced(partial(self._comm.Ireduce, root=peer), reduction, source, target)

    def _reduce_scatter(self, reduction: str, peer: int, source: Array, target: Array) -> Any:
        return self._reduced(self._comm.Ireduce_scatter_block, reduction, source, target)

    def _broadcast(self, reduction: str, peer: int, source: Array | None, target: Array) -> Any:
        if source is not None and source.ptr != target.ptr:
            target[...] = source
        return self._comm.Ibcast(self._bytes(target), peer), None

    def _all_gather(self, reduction: str, peer: int, source: Array, target: Array) -> Any:
        return self._comm.Iallgather(self._bytes(source), self._bytes(target)), None

    def _all_to_all(self, reduction: str, peer: int, source: Array, target: Array) -> Any:
        return self._comm.Ialltoall(self._bytes(source), self._bytes(target)), None

    def _send(self, reduction: str, peer: int, source: Array, target: None) -> Any:
        return self._comm.Isend(self._bytes(source), peer), None

    def _recv(self, reduction: str, peer: int, source: None, target: Array) -> Any:
        return self._comm.Irecv(self._bytes(target), peer), None

    def _barrier(self, reduction: str, peer: int, source: None, target: None) -> Any:
        return self._comm.Ibarrier(), None


def duplicate(comm: Any, waits: BoundedWait) -> Any:
    """A communicator of MPI with the same ranks. All ranks call it."""
    duplicated, request = comm.Idup()
    _wait("init: MPI_Comm_idup", request.Test, waits, request)
    return duplicated


def split(parent: Any, color: int | None, key: int, waits: BoundedWait) -> Any:
    """A communicator of MPI of the ranks of the Communicator `parent` that pass the same `color`. All
    ranks call it. An error ends `parent`, whose ranks may have different calls pending then."""
    number = load_mpi().UNDEFINED if color is None else color
    call = partial(parent._engine._comm.Split, number, key)
    try:
        return call_bounded("split: MPI_Comm_split", call, waits)
    except CollectiveError as error:
        parent.abort(str(error))
        raise


def call_bounded(name: str, call: Callable[[], Any], waits: BoundedWait) -> Any:
    """The result of call(), which MPI has only in a blocking form: a thread makes it, so that the wait is
    bounded. Where MPI does not support calls of several threads this thread makes it, without a limit."""
    mpi = load_mpi()
    result: Future[Any] = Future()
    if mpi.Query_thread() < mpi.THREAD_MULTIPLE:
        return call()

    def run() -> None:
        try:
            result.set_result(call())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name="spanwise-mpi-call", daemon=True).start()
    _wait(name, result.done, waits, result)
    return result.result()


def _wait(name: str, test: Callable[[], Any], waits: BoundedWait, *kept: Any) -> None:
    """waits.until(test). Gives up the call where that raises; MPI may still write to `kept` then. `name`
    is the public function and the call of MPI, for errors."""
    try:
        waits.until(test)
    except BaseException as error:
        MpiEngine.is_broken = True
        MpiEngine._lost.append(kept)
        if not isinstance(error, CollectiveError):
            raise
        caller = name.partition(":")[0]
        raise CollectiveError(
            f"{name}: {error}; call {caller}() on every rank, or pass init() a larger timeout="
        ) from None


def share_text(comm: Any, text: str, waits: BoundedWait) -> str:
    """Rank 0's `text`, at most _TEXT_BYTES, on every rank."""
    data = bytearray(text.encode().ljust(_TEXT_BYTES))
    if len(data) != _TEXT_BYTES:
        raise CollectiveError(
            f"mpi: rank 0's text has {len(data)} bytes; expected at most {_TEXT_BYTES}"
        )
    request = comm.Ibcast([data, load_mpi().BYTE], 0)
    _wait("init: MPI_Ibcast", request.Test, waits, request, data)
    return data.decode().rstrip()
