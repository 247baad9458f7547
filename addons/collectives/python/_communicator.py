# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Communicator, init() that makes one of all ranks, and the operations, on arrays of any library and on
variables of a graph."""

from __future__ import annotations

import atexit
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import spanwise as sw
from spanwise import ArgumentError, Array, CollectiveError, Variable
from spanwise.graph import apply_registered

from ._engines import (
    BoundedWait,
    MpiEngine,
    SelfEngine,
    duplicate_mpi,
    load_mpi,
    split_mpi,
    start_torch,
)
from ._monitor import Link, Monitor, close_idle_links
from ._native import (
    Communicator as NativeCommunicator,
    collective,
    engine_id,
    next_node,
    why_no_engine,
)
from ._stores import connect, launched_by_mpi, local_rank

_ENGINES = ("nccl", "mpi", "torch")
#: The communicator of calls without one.
_default: Communicator | None = None
_unnamed_count = 0  # calls of init() without a name


class Communicator(NativeCommunicator):
    """A group of ranks that call the same operations in the same order. Made by init() and split().

    Attributes: ``name``, ``rank``, ``size``, ``device`` (the one that this rank should compute on),
    ``engine``, ``timeout`` in seconds and ``failure``, the reason why it is not usable any more, or
    "". As a context manager it is closed at the end of the block. Pickled by its name: the receiver
    must have an open communicator of that name.
    """

    def __init__(
        self,
        name: str,
        ranks: list[int],
        rank: int,
        device: Any,
        timeout: float,
        check: int,
        engine: Any,
        monitor: Monitor | None,
    ) -> None:
        # `ranks` are the members by their ranks in init(), `rank` is the index of this process there.
        # `engine` is an object such as MpiEngine, or the pair that _nccl_id() returns.
        super().__init__(name, rank, len(ranks), device, timeout, check, engine, monitor)
        self._ranks, self._check, self._engine, self._monitor = ranks, check, engine, monitor
        self._split_count = 0
        _open[name] = self
        if monitor is not None:
            monitor.attach(self)

    def split(self, color: int | None, key: int = 0) -> Communicator | None:
        """One communicator for the ranks that pass the same `color`, ordered by `key`, then by rank.
        All ranks call it. None for a rank that passes color=None."""
        self._split_count += 1
        name = f"{self.name}/{self._split_count}"
        requests = [[color, key]]
        if self._monitor is not None:
            requests = self._monitor.exchange("split", name, [color, key])
        members = sorted((k, r) for r, (c, k) in enumerate(requests) if c == color)
        split_ranks = [self._ranks[rank] for _, rank in members]
        start = _split_starter(self, color, key)
        if color is None:
            return None
        return _create(
            f"{name}.{color}", split_ranks, self._monitor and self._monitor.link, self.engine,
            self.device, self.timeout, self._check, "split", start,
        )  # fmt: skip

    def barrier(self) -> None:
        """Returns when all ranks have called it. On a GPU it also waits for the current stream."""
        self._barrier()

    def abort(self, reason: str = "a rank has called abort()") -> None:
        """Ends the calls of all ranks: each raises CollectiveError with `reason`, here and on the
        other ranks, and so do later calls. The processes go on."""
        if self._monitor is not None:
            self._monitor.report(f"rank {self.rank}: {reason}")
        self._abort(reason)

    def close(self) -> None:
        """Waits for queued work, at most `timeout` seconds, and ends the communicator. Each rank
        calls it when it has made its last call; done at exit too. Raises CollectiveError where another
        rank is known to have made other calls."""
        global _default
        difference = None
        if self._monitor is not None and not self.failure:
            self._monitor.link.refresh()
            difference = self._monitor.difference()
        self._close()
        if _open.get(self.name) is self:
            del _open[self.name]
        if _default is self:
            _default = None
        if self._monitor is not None:
            self._monitor.close()
        if difference is not None:
            raise CollectiveError(f"communicator {self.name}: {difference}")

    def __enter__(self) -> Communicator:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None and not isinstance(error, CollectiveError):
            self.abort(f"it raised {type(error).__name__}: {error}")
        self.close()

    def __reduce__(self) -> tuple[Callable[[str], Communicator], tuple[str]]:
        return named, (self.name,)

    def __repr__(self) -> str:
        return (
            f"<Communicator {self.name!r}: rank {self.rank} of {self.size} by {self.engine}, "
            f"{self.device}>"
        )


_open: dict[str, Communicator] = {}


@atexit.register
def _close_all() -> None:
    with ExitStack() as each:
        for communicator in _open.values():
            each.callback(communicator.close)


def named(name: str) -> Communicator:
    """The open communicator of that name. Raises ArgumentError where there is none."""
    if name not in _open:
        raise ArgumentError(
            f"collectives: there is no open communicator {name!r} in this process; it has "
            f"{sorted(_open)}; call spanwise.collectives.init(name={name!r}) first"
        )
    return _open[name]


def default() -> Communicator:
    """The communicator of the last init(). Raises ArgumentError before."""
    if _default is None:
        raise ArgumentError(
            "collectives: expected a communicator; call spanwise.collectives.init() first, or pass "
            "one"
        )
    return _default


def init(
    engine: str = "auto",
    store: Any = None,
    device: Any = None,
    timeout: float = 300,
    *,
    rank: int | None = None,
    size: int | None = None,
    check: int = 64,
    name: str | None = None,
) -> Communicator:
    """Connects this process with the others of the program; all of them call it.

    `store` says how they find each other: "env" (RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as
    torchrun sets them), "mpi" or a communicator of mpi4py, "tcp://host:port" of rank 0 or
    "tcp://host:port/token" (each further init() takes the next port), "file:///path" on a shared file
    system, or the rank that spanwise.dask.run_ranks passes. By default it is the one that the launcher
    provides; without a launcher the process is the only rank. `rank` and `size` are for "tcp:" and
    "file:" without a launcher.

    `engine` moves the data: "nccl" (GPUs, one for each rank), "mpi" or "torch" (Gloo) on the CPU;
    arrays of a GPU then pass through host memory. "auto" takes NCCL where each rank has a GPU of its
    own, else MPI under mpiexec, else PyTorch. `device` is the one that the rank should compute on, by
    default GPU number LOCAL_RANK, else the CPU.

    No wait takes longer than `timeout` seconds. The first `check` calls (-1: all) are compared
    before they start; of later ones a hash is compared some 0.1 s afterwards, when results of calls that
    differ may have been used. Raises ArgumentError, CollectiveError or TimeoutError; TypeError or ValueError
    for a wrong `store`; ImportError for a missing package.
    """
    global _default, _unnamed_count
    if engine not in ("auto", *_ENGINES):
        raise ArgumentError(
            f"init: expected engine= of 'auto', {', '.join(map(repr, _ENGINES))}, got {engine!r}"
        )
    if not timeout > 0:
        raise ArgumentError(f"init: expected timeout= of more than 0 seconds, got {timeout!r}")
    try:
        link = connect(store, rank, size, timeout)
        if name is None:
            name = f"world-{_unnamed_count}" if _unnamed_count else "world"
            _unnamed_count += 1
        device = sw.device(device) if device is not None else _default_device()
        ranks = list(range(link.size)) if link else [0]
        engine = _choose_engine(engine, link, name, device)
        _default = _create(name, ranks, link, engine, device, timeout, check, "init", None)
    except (CollectiveError, OSError, KeyboardInterrupt):
        MpiEngine.is_broken = True  # MPI_Finalize would wait for a rank that is late or stopped
        raise
    close_idle_links()
    return _default


def _default_device() -> Any:
    default = sw.device()
    if default.kind != "cuda":
        return default
    gpus = [device for device in sw.devices() if device.kind == "cuda"]
    return gpus[local_rank() % len(gpus)]


def _choose_engine(engine: str, link: Link | None, name: str, device: Any) -> str:
    if engine != "auto":
        return engine
    has_nccl = device.kind == "cuda" and not why_no_engine("nccl")
    if link is None:
        return "nccl" if has_nccl else "self"
    # Ranks whose lists are equal use the same GPU; NCCL needs a GPU for each rank.
    gpu = [socket.gethostname(), os.environ.get("CUDA_VISIBLE_DEVICES", ""), str(device)]
    monitor = Monitor(link, name, list(range(link.size)), link.timeout)
    try:
        gpus = monitor.exchange("init", "gpu", gpu if has_nccl else None)
    finally:
        monitor.disconnect()
    if None not in gpus and len({tuple(each) for each in gpus}) == link.size:
        return "nccl"
    if launched_by_mpi():
        return "mpi"
    return "torch" if link.size > 1 else "self"


def _create(
    name: str,
    ranks: list[int],
    link: Link | None,
    engine_name: str,
    device: Any,
    timeout: float,
    check: int,
    caller: str,
    start: Callable[[BoundedWait], Any] | None,
) -> Communicator:
    """The communicator of this rank, among the `ranks` of `link`, for `caller`: init or split. `start`
    makes the engine where it is not started by its name: see _split_starter."""
    rank = ranks.index(link.rank) if link else 0
    monitor = Monitor(link, name, ranks, timeout) if link else None
    waits = BoundedWait(monitor, timeout)
    with ExitStack() as on_error:
        if monitor is not None:
            on_error.callback(monitor.disconnect)
            options = f"engine={engine_name!r}, timeout={timeout:g}, check={check}"
            monitor.agree([("options", [], f"{caller}({options}) named {name!r}")], -1, caller)
        engine = start(waits) if start else _start_engine(engine_name, monitor, waits, caller)
        on_error.pop_all()
    return Communicator(name, ranks, rank, device, timeout, check, engine, monitor)


def _start_engine(name: str, monitor: Monitor | None, waits: BoundedWait, caller: str) -> Any:
    """The engine of that name, or for NCCL the pair of _nccl_id(). A process without a launcher gets
    SelfEngine instead of MPI and PyTorch."""
    if name == "nccl":
        return _nccl_id(monitor, caller)
    if name == "self" or monitor is None:
        return SelfEngine()
    if name == "mpi":
        mpi = load_mpi(waits.timeout)
        monitor.link.stays = True
        if mpi.COMM_WORLD.Get_size() != len(monitor.ranks):
            raise ArgumentError(
                f"init: engine='mpi' needs the {len(monitor.ranks)} ranks to be those of mpiexec, "
                f"which has started {mpi.COMM_WORLD.Get_size()}"
            )
        return MpiEngine(duplicate_mpi(mpi.COMM_WORLD, waits), waits)
    return start_torch(monitor, waits, caller)


def _nccl_id(monitor: Monitor | None, caller: str) -> tuple[str, bytes]:
    """("nccl", NCCL's id of the communicator), by which the extension module starts the engine."""
    if monitor is None or len(monitor.ranks) == 1:
        return "nccl", engine_id("nccl")
    own = engine_id("nccl").hex() if monitor.rank == 0 else None
    return "nccl", bytes.fromhex(monitor.exchange(caller, "nccl", own)[0])


def _split_starter(
    parent: Communicator, color: int | None, key: int
) -> Callable[[BoundedWait], Any] | None:
    """A function that makes the engine of a split of `parent`; None where _start_engine does it.
    MPI splits its own communicator, a call of all ranks, also of those without a color. It has no time
    limit where MPI does not support calls of several threads: see call_bounded()."""
    if parent.engine != "mpi":
        return None
    comm = split_mpi(parent, color, key, BoundedWait(parent._monitor, parent.timeout))
    return lambda waits: MpiEngine(comm, waits)


@contextmanager
def group(comm: Communicator | None = None) -> Iterator[None]:
    """Calls inside the block are recorded and run together at its end, so that ranks can send to and
    receive from each other without an order. Results are filled then; arrays that are passed must
    not change before. Nothing runs where the block raises."""
    comm = comm or default()
    comm._begin_group()
    try:
        yield
    except BaseException:
        comm._cancel_group()
        raise
    comm._end_group()


# ---- Operations ----


def _call(
    name: str,
    x: Any,
    comm: Communicator | None,
    overlap: bool,
    out: Any = None,
    op: str = "sum",
    peer: int = 0,
) -> Any:
    """Runs operation `name` on an array, or makes its node on a variable. `op` is the reduction, `peer`
    the root, the receiver of send or the sender of recv; operations without them ignore both."""
    if comm is None:
        comm = default()
    if type(x) is Array or not isinstance(x, Variable):  # the first test is the faster one
        return collective(comm, name, x, op, peer, out, overlap)
    if out is not None:
        raise sw.ArgumentError(f"{name}: out= is for arrays; a graph places its results itself")
    return apply_registered(
        "collective", x, kind=name, communicator=comm.name, reduction=op, peer=peer,
        number=next_node(comm.name),
    )  # fmt: skip


def all_reduce(
    x: Any,
    comm: Communicator | None = None,
    op: str = "sum",
    *,
    out: Any = None,
    overlap: bool = False,
) -> Any:
    """The elementwise sum (or "prod", "min", "max", "mean") of the ranks' arrays, on every rank.

    `x` has the same shape and dtype on all ranks; any layout, device and library. For bool, "sum"
    is "or" and "prod" is "and"; "min" and "max" are not defined for complex numbers nor "mean" for
    integers (DTypeError). `out` takes the result and may be `x` itself. On a GPU the work is queued
    on the current stream; with overlap=True on the communicator's own, beside work that does not
    use `x` or the result. The sum of 16-bit floats is accumulated as the engine does it: float32 on
    the CPU. A variable gives a variable. Raises CollectiveError.
    """
    return _call("all_reduce", x, comm, overlap, out, op)


def reduce(
    x: Any,
    comm: Communicator | None = None,
    op: str = "sum",
    root: int = 0,
    *,
    out: Any = None,
    overlap: bool = False,
) -> Any:
    """As all_reduce, with the result on rank `root`. The others get None, or `out` unchanged if they
    pass it; in a graph zeros."""
    return _call("reduce", x, comm, overlap, out, op, root)


def broadcast(
    x: Any,
    comm: Communicator | None = None,
    root: int = 0,
    *,
    out: Any = None,
    overlap: bool = False,
) -> Any:
    """The array of rank `root`, on every rank. `x` gives shape and dtype on the others."""
    return _call("broadcast", x, comm, overlap, out, peer=root)


def all_gather(
    x: Any, comm: Communicator | None = None, *, out: Any = None, overlap: bool = False
) -> Any:
    """The arrays of all ranks, joined along axis 0, on every rank. A scalar counts as one row."""
    return _call("all_gather", x, comm, overlap, out)


def reduce_scatter(
    x: Any,
    comm: Communicator | None = None,
    op: str = "sum",
    *,
    out: Any = None,
    overlap: bool = False,
) -> Any:
    """Block `rank` of all_reduce(x, op): axis 0 is divided into `size` equal blocks."""
    return _call("reduce_scatter", x, comm, overlap, out, op)


def all_to_all(
    x: Any, comm: Communicator | None = None, *, out: Any = None, overlap: bool = False
) -> Any:
    """Block `rank` of each rank's array, joined along axis 0, which is divided into `size` equal
    blocks."""
    return _call("all_to_all", x, comm, overlap, out)


def send(x: Any, to: int, comm: Communicator | None = None, *, overlap: bool = False) -> Any:
    """Sends `x` to rank `to`, which calls recv(). May wait until it does: use group() where ranks
    send to each other. A variable gives a variable with the value of `x`, which is sent when that is
    computed: make it an output of the function."""
    return _call("send", x, comm, overlap, peer=to)


def recv(
    like: Any,
    source: int,
    comm: Communicator | None = None,
    *,
    out: Any = None,
    overlap: bool = False,
) -> Any:
    """The array that rank `source` sends: of the shape and dtype of `like`, received into `out` or
    a new array."""
    return _call("recv", like, comm, overlap, out, peer=source)


def barrier(comm: Communicator | None = None) -> None:
    """Returns when all ranks have called it."""
    (comm or default()).barrier()
