# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The operations, on arrays of any library and on variables of a graph."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Array, Variable
from .._graph.op import apply_registered
from ._communicator import Communicator, default

_collective = _core._collective


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
        return _collective(comm, name, x, op, peer, out, overlap)
    if out is not None:
        raise _core.ArgumentError(f"{name}: out= is for arrays; a graph places its results itself")
    return apply_registered(
        "collective", x, kind=name, communicator=comm.name, reduction=op, peer=peer,
        number=_core._next_collective_node(comm.name),
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
