# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pygpu.collectives`` (libgpuarray) over spanwise.collectives.

As in pygpu, one rank makes a GpuCommCliqueId, the program passes its ``comm_id`` to the others, and
each rank makes a GpuComm of it. Here the bytes contain an address at which rank 0 listens, so the id
must be made by rank 0 or by another process of its machine. Arrays of any library are accepted, and
the engine is the one that spanwise.collectives.init selects.

Results without `dest` have pygpu's shapes: arrays that are not C-contiguous are joined and divided
along their last axis. `dest` must have the shape that spanwise.collectives gives the result, joined
or divided along axis 0, whatever the layout.
"""

from __future__ import annotations

import secrets
import socket
from typing import Any

from .. import collectives
from .._core import Array, asarray
from ..collectives import own_address

__all__ = ["GpuComm", "GpuCommCliqueId"]

_ID_BYTES = 128  # GA_COMM_ID_BYTES of libgpuarray
_OPS = {
    "+": "sum", "sum": "sum", "add": "sum",
    "*": "prod", "prod": "prod", "product": "prod",
    "max": "max", "maximum": "max",
    "min": "min", "minimum": "min",
}  # fmt: skip


class GpuCommCliqueId:
    """Names a group of ranks. ``context`` is accepted and not used: GpuComm takes the device that
    init() gives the rank."""

    def __init__(self, context: Any = None, bytearr: bytes | None = None) -> None:
        self.context = context
        if bytearr is None:
            with socket.socket() as probe:  # finds a free port for rank 0
                probe.bind(("", 0))
                port = probe.getsockname()[1]
            text = f"tcp://{own_address()}:{port}/{secrets.token_hex(16)}"
            bytearr = text.encode().ljust(_ID_BYTES)
        self.comm_id = bytes(bytearr)
        if len(self.comm_id) < _ID_BYTES:
            raise ValueError(
                f"GpuCommCliqueId: expected at least {_ID_BYTES} bytes, got {len(self.comm_id)}"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GpuCommCliqueId) and other.comm_id == self.comm_id

    def __hash__(self) -> int:
        return hash(self.comm_id)

    def __reduce__(self) -> Any:
        raise RuntimeError("cannot pickle a GpuCommCliqueId: pass its comm_id")


class GpuComm:
    """Rank ``rank`` of the ``ndev`` ranks of the group ``cid``. Made by all ranks, which wait for each
    other."""

    def __init__(self, cid: GpuCommCliqueId, ndev: int, rank: int) -> None:
        store = cid.comm_id.decode().strip("\0 ")
        self._comm = collectives.init(store=store, rank=rank, size=ndev)

    def get_count(self) -> int:
        return self._comm.size

    def get_rank(self) -> int:
        return self._comm.rank

    count, rank = property(get_count), property(get_rank)

    def _root(self, root: int) -> int:
        return self.rank if root == -1 else root

    def reduce(self, src: Any, op: str, dest: Any = None, root: int = -1) -> Array | None:
        """The root gets the result, in `dest` or a new array; the others get None. root=-1 is this
        rank."""
        return collectives.reduce(src, self._comm, _op(op), self._root(root), out=dest)

    def all_reduce(self, src: Any, op: str, dest: Any = None) -> Array:
        return collectives.all_reduce(src, self._comm, _op(op), out=dest)

    def reduce_scatter(self, src: Any, op: str, dest: Any = None) -> Array:
        """Block `rank` of all_reduce(src, op). Without `dest`, a block of extent 1 loses the axis that
        was divided. Raises TypeError for an axis that cannot be divided."""
        source = asarray(src)
        axis = 0 if dest is not None or source.flags.c_contiguous else source.ndim - 1
        if source.ndim == 0 or source.shape[axis] % self.count:
            raise TypeError(
                f"reduce_scatter: expected axis {axis} to be a multiple of {self.count}, got shape "
                f"{source.shape}"
            )
        if dest is not None:
            return collectives.reduce_scatter(src, self._comm, _op(op), out=dest)
        by_rows = source if axis == 0 else source.T
        block = collectives.reduce_scatter(by_rows, self._comm, _op(op))
        block = block[0] if block.shape[0] == 1 else block
        return block if axis == 0 else block.T

    def broadcast(self, array: Any, root: int = -1) -> None:
        """Overwrites `array` with that of rank `root`; root=-1 is this rank."""
        collectives.broadcast(array, self._comm, self._root(root), out=array)

    def all_gather(self, src: Any, dest: Any = None, nd_up: int = 1) -> Array:
        """The arrays of all ranks, stacked along the first of `nd_up` new axes before those of `src`;
        the other new axes have extent 1. With nd_up=0 they are joined along the first axis. If `src`
        is not C-contiguous, the new axes come last, in reverse order, and nd_up=0 joins along the
        last axis. With `dest`, `nd_up` has no effect: the arrays are joined along axis 0."""
        if dest is not None:
            return collectives.all_gather(src, self._comm, out=dest)
        source = asarray(src)
        if source.ndim == 0:
            raise TypeError("all_gather: expected an array of at least one axis, got a scalar")
        is_c = source.flags.c_contiguous
        by_rows = source if is_c else source.T
        joined = collectives.all_gather(by_rows, self._comm)
        if nd_up:
            joined = joined.reshape((self.count, *(1,) * (nd_up - 1), *by_rows.shape))
        return joined if is_c else joined.T

    def close(self) -> None:
        """Ends the communicator. pygpu has no such method: there the garbage collector does it."""
        self._comm.close()

    def __reduce__(self) -> Any:
        raise RuntimeError("cannot pickle a GpuComm: make it in the process that uses it")


def _op(name: str) -> str:
    try:
        return _OPS[name.lower()]
    except (KeyError, AttributeError):
        raise ValueError(
            f"GpuComm: expected an operation of {', '.join(sorted(_OPS))}, got {name!r}"
        ) from None
