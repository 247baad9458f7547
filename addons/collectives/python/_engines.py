# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The engines of the CPU, which move the data by MPI, by PyTorch's Gloo or, for one rank, by copies; their
reductions of dtypes that a library lacks, and their waits with a time limit."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, TimeoutError as FutureTimeoutError
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import spanwise as sw
from spanwise import Array, CollectiveError, DTypeError, dtype

from ._monitor import BOARD_SILENT, Link, Monitor, exit_hooks, own_address

# ---- What the engines share ----


#: Calls of `test` without a pause between them, some 100 us: most small operations end within them.
_SPINS = 200
#: Seconds in which the thread only yields between calls of `test`; later it sleeps.
_YIELD_SECONDS = 0.02
#: Seconds between two calls of `test` from which on this process was stopped: not counted as waiting.
_STOPPED_SECONDS = 1.0

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
                self.target = sw.empty(target.shape, computed[name], device="cpu")

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
        begin = last = time.monotonic()
        while not test():
            now = time.monotonic()
            if now - last > _STOPPED_SECONDS:
                begin += now - last
            last, waited = now, now - begin
            if waited > _YIELD_SECONDS:
                self._check(waited)
                time.sleep(min(waited / 100, 1e-3))
            else:
                os.sched_yield()

    def _check(self, waited: float) -> None:
        if self._monitor is not None and (failure := self._monitor.failure()) is not None:
            raise CollectiveError(failure)
        if waited > self.timeout:
            reason = f"it did not end within {self.timeout:g} s"
            if self._monitor is not None:
                # The reply updates the last calls of the ranks, which are appended to the error.
                self._monitor.link.refresh()
                if self._monitor.link.is_silent():
                    reason += f"; {BOARD_SILENT}"
            raise CollectiveError(reason)


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


# ---- The engine "mpi": nonblocking operations of mpi4py ----


_TEXT_BYTES = 1000  # more than an address and a token
#: The dtypes in which others are reduced. MPI need not support 16-bit floats. Open MPI adds small integers
#: with saturation; unsigned 32-bit sums and products wrap when converted back.
_COMPUTED_BY_MPI = {
    "float16": "float32", "bfloat16": "float32",
    "int8": "uint32", "uint8": "uint32", "int16": "uint32", "uint16": "uint32",
}  # fmt: skip
#: The names in mpi4py.MPI of MPI's datatypes, by dtype.
_DATATYPES = {
    "uint8": "UINT8_T", "int8": "INT8_T", "int16": "INT16_T", "uint16": "UINT16_T",
    "int32": "INT32_T", "uint32": "UINT32_T", "int64": "INT64_T", "uint64": "UINT64_T",
    "float32": "FLOAT", "float64": "DOUBLE",
    "complex64": "C_FLOAT_COMPLEX", "complex128": "C_DOUBLE_COMPLEX",
}  # fmt: skip


class _MpiLifetime:
    """Calls MPI_Init_thread and, at exit, MPI_Finalize on a thread of its own. Both wait for the other ranks
    without a time limit, and those of mpi4py hold the GIL meanwhile."""

    def __init__(self, mpi: Any) -> None:
        self._library = ctypes.CDLL(mpi.__file__)  # finds the functions of the MPI that it needs
        self._level, self._ends = mpi.THREAD_MULTIPLE, threading.Event()
        self.started: Future[int] = Future()
        self.ended: Future[int] = Future()
        # Python 3.12 and later start no threads at exit.
        threading.Thread(target=self._run, name="spanwise-mpi", daemon=True).start()

    def _run(self) -> None:
        provided = ctypes.c_int()
        level = ctypes.c_int(self._level)
        code = self._library.MPI_Init_thread(None, None, level, ctypes.byref(provided))
        self.started.set_result(code)
        self._ends.wait()
        self.ended.set_result(self._library.MPI_Finalize())

    def finalize(self, links: list[Link]) -> bool:
        """Whether MPI_Finalize has ended: given up where another rank has failed or is stopped."""
        self._ends.set()
        while not self.ended.done() and not any(link.is_abandoned() for link in links):
            with suppress(FutureTimeoutError):
                self.ended.exception(0.01)
        return self.ended.done()


def _finalize(mpi: Any, links: list[Link]) -> str | None:
    """The exit hook."""
    if MpiEngine.is_broken or not mpi.Is_initialized():
        return "it has ended without MPI_Finalize, after an error"
    if mpi.Is_finalized():
        return None
    if _lifetime is None:
        mpi.Finalize()
    elif not _lifetime.finalize(links):
        return "it has given up MPI_Finalize"
    return None


_lifetime: _MpiLifetime | None = None


def load_mpi(timeout: float = 300) -> Any:
    """mpi4py.MPI. Where this is its first import, MPI is initialized within `timeout` seconds, and finalized
    at exit only if no operation was given up: MPI_Finalize would wait for those that a lost rank will not
    end. Raises TimeoutError."""
    global _lifetime
    if "mpi4py.MPI" not in sys.modules:
        from mpi4py import rc

        finalizes = rc.finalize is not False
        # Of fewer threads MPI accepts calls of the one that initializes it only.
        bounds = finalizes and rc.initialize and rc.threads and rc.thread_level == "multiple"
        rc.finalize, rc.initialize = False, rc.initialize and not bounds
        from mpi4py import MPI

        if bounds and not MPI.Is_initialized():
            _lifetime = _MpiLifetime(MPI)
        if finalizes:
            exit_hooks.append(partial(_finalize, MPI))
    mpi = sys.modules["mpi4py.MPI"]
    if _lifetime is not None and not mpi.Is_initialized():
        try:
            _lifetime.started.result(timeout)
        except FutureTimeoutError:
            raise TimeoutError(
                f"init: MPI_Init_thread did not end within {timeout:g} s; call init() on every rank that "
                "mpiexec has started, or pass it a larger timeout="
            ) from None
        for comm in (mpi.COMM_WORLD, mpi.COMM_SELF):  # as mpi4py does after its own call
            comm.Set_errhandler(mpi.ERRORS_RETURN)
    return mpi


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
        types = {dtype(name): getattr(mpi, attribute) for name, attribute in _DATATYPES.items()}
        sums = {each: types[each] for each in types if each.name not in _COMPUTED_BY_MPI}
        # By reduction: the dtypes that MPI reduces as they are.
        self._datatypes = {"sum": sums, "prod": sums, "mean": {}, "min": types, "max": types}
        self._buffer_at = mpi.buffer.fromaddress
        self._ops = {"sum": mpi.SUM, "prod": mpi.PROD, "min": mpi.MIN, "max": mpi.MAX}

    def run(self, calls: list[tuple[Any, ...]]) -> None:
        """Runs calls of one group: (op, reduction, peer, source, target), as CollectiveCall in
        spanwise/collectives/communicator.hpp, None for an array that this rank does not use; messages
        have their tag in place of the reduction. Returns when they are complete."""
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
        datatype, finish = self._datatypes[reduction].get(source.dtype), None
        if datatype is None:
            converted = Reduction(reduction, source, target, self._size, _COMPUTED_BY_MPI)
            source, target = converted.source, converted.target
            reduction, finish = converted.op, converted.finish
            datatype = self._datatypes[reduction].get(source.dtype)
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

    def _send(self, tag: int, peer: int, source: Array, target: None) -> Any:
        return self._comm.Isend(self._bytes(source), peer, tag), None

    def _recv(self, tag: int, peer: int, source: None, target: Array) -> Any:
        return self._comm.Irecv(self._bytes(target), peer, tag), None

    def _barrier(self, reduction: str, peer: int, source: None, target: None) -> Any:
        return self._comm.Ibarrier(), None


def duplicate_mpi(comm: Any, waits: BoundedWait) -> Any:
    """A communicator of MPI with the same ranks. All ranks call it."""
    duplicated, request = comm.Idup()
    _wait("init: MPI_Comm_idup", request.Test, waits, request)
    return duplicated


def split_mpi(parent: Any, color: int | None, key: int, waits: BoundedWait) -> Any:
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


# ---- The engine "torch": a ProcessGroupGloo of PyTorch ----


#: The dtypes in which others are reduced: 16-bit floats for accuracy, integers that Gloo lacks. They hold
#: all values, so "min" and "max" are right; sums and products of integers wrap when converted back.
_COMPUTED_BY_GLOO = {
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
        converted = Reduction(reduction, source, None, self._size, _COMPUTED_BY_GLOO)
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

    def _send(self, tag: int, peer: int, source: Array, target: None) -> Any:
        return self._group.send([self._bytes(source)], peer, tag), None

    def _recv(self, tag: int, peer: int, source: None, target: Array) -> Any:
        return self._group.recv([self._bytes(target)], peer, tag), None

    def _barrier(self, reduction: str, peer: int, source: None, target: None) -> Any:
        return self._group.barrier(), None
