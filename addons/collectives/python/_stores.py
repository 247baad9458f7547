# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Stores: each passes the address of rank 0's board to the other ranks.

A launcher (torchrun, mpiexec, Slurm, Dask) numbers the processes, or rank= and size= of init()."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ._engines import BoundedWait, call_bounded, load_mpi, share_text
from ._monitor import BoardServer, Link, own_address

#: Variables of launchers: rank, number of ranks, rank on this machine.
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),  # torchrun
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),  # MPICH, Intel MPI
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
)
#: The index of the last init() call of this process, by address; each uses another port or key.
_used: dict[str, int] = {}


def launched_by_mpi() -> bool:
    names = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MPI_LOCALRANKID")
    return any(name in os.environ for name in names)


def numbers_from_launcher() -> tuple[int, int] | None:
    """(rank, number of ranks); None if no launcher has set them."""
    for rank, size, _ in _LAUNCHERS:
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return None


def local_rank() -> int:
    """The rank among those of this machine; 0 if the launcher sets no variable for it."""
    return next((int(os.environ[name]) for *_, name in _LAUNCHERS if name in os.environ), 0)


def connect(store: Any, rank: int | None, size: int | None, timeout: float) -> Link | None:
    """The link of this process through `store`. None if `store` is None and no launcher provides one:
    the process is then the only rank, and `rank` and `size` are not used."""
    if store is None:
        store = _store_of_launcher()
        if store is None:
            return None
    if hasattr(store, "workers") and hasattr(store, "shared"):  # spanwise.dask's Rank
        return _by_dask(store, timeout)
    if store == "mpi" or hasattr(store, "Get_rank"):  # a communicator of mpi4py
        return _by_mpi(store, timeout)
    if not isinstance(store, str):
        raise TypeError(
            f"init: expected store= of 'env', 'mpi', 'tcp://host:port', 'file:///path', a "
            f"communicator of mpi4py or the rank of run_ranks, got {store!r}"
        )
    rank, size = _rank_and_size(store, rank, size)
    if store == "env":
        return _by_environment(rank, size, timeout)
    parts = urlsplit(store)
    if parts.scheme == "tcp" and parts.hostname and parts.port:
        return _by_port(parts.hostname, parts.port, parts.path[1:], rank, size, timeout)
    if parts.scheme == "file" and parts.path:
        return _by_file(parts.path, rank, size, timeout)
    raise ValueError(
        f"init: expected store= of 'env', 'mpi', 'tcp://host:port' or 'file:///path', got {store!r}"
    )


def _store_of_launcher() -> str | None:
    if "MASTER_ADDR" in os.environ and "RANK" in os.environ:
        return "env"
    return "mpi" if launched_by_mpi() else None


def _rank_and_size(store: str, rank: int | None, size: int | None) -> tuple[int, int]:
    if rank is not None and size is not None:
        return rank, size
    numbers = numbers_from_launcher()
    if numbers is None:
        raise ValueError(
            f"init: store={store!r} needs the number of this process and of all: pass rank= and "
            "size=, or set RANK and WORLD_SIZE, as torchrun does"
        )
    return numbers


def _next_use(address: str) -> int:
    """How many calls of init() have used this address before."""
    _used[address] = _used.get(address, -1) + 1
    return _used[address]


def _link(
    rank: int,
    size: int,
    timeout: float,
    share: Callable[[str], Any],
    shared: Callable[[], str],
    is_local: bool,
) -> Link:
    """The link to a board that rank 0 starts: rank 0 passes the address and the token of the board as
    text to share(), the others get them from shared(). With `is_local`, for ranks that are all on this
    machine, other machines cannot reach the board."""
    server = None
    if rank == 0:
        host, token = "127.0.0.1" if is_local else own_address(), secrets.token_hex(16)
        server = BoardServer(host, 0, size, token)
        port = server.port
        share(json.dumps([host, port, token]))
    else:
        host, port, token = json.loads(shared())
    return Link((host, port), token, rank, size, timeout, server)


def _by_mpi(store: Any, timeout: float) -> Link:
    mpi = load_mpi(timeout)
    world = mpi.COMM_WORLD if store == "mpi" else store
    rank, size = world.Get_rank(), world.Get_size()
    waits = BoundedWait(None, timeout)
    split_type = partial(world.Split_type, mpi.COMM_TYPE_SHARED)
    here = call_bounded("init: MPI_Comm_split_type", split_type, waits)
    is_local = here.Get_size() == size
    call_bounded("init: MPI_Comm_free", here.Free, waits)
    share = partial(share_text, world, waits=waits)
    link = _link(rank, size, timeout, share, lambda: share(""), is_local)
    link.stays = True
    return link


def _by_environment(rank: int, size: int, timeout: float) -> Link:
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        token = os.environ.get("SPANWISE_COLLECTIVES_TOKEN", "")
        return _by_port(host, port, token, rank, size, timeout)
    # torchrun's agent listens at that port: its store passes the address of the board.
    from torch.distributed import TCPStore

    agent = TCPStore(host, port, is_master=False, timeout=timedelta(seconds=timeout))
    restarts = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    key = f"spanwise/collectives/{restarts}/{_next_use(f'agent {host}:{port}')}"
    is_local = os.environ.get("LOCAL_WORLD_SIZE") == str(size)
    share, shared = partial(agent.set, key), lambda: agent.get(key).decode()
    return _link(rank, size, timeout, share, shared, is_local)


def _by_port(host: str, port: int, token: str, rank: int, size: int, timeout: float) -> Link:
    port += _next_use(f"{host}:{port}")
    server = BoardServer(host, port, size, token) if rank == 0 else None
    return _retried(
        lambda: Link((host, port), token, rank, size, timeout, server),
        f"found no rank 0 at {host}:{port}",
        timeout,
    )


def _by_file(path: str, rank: int, size: int, timeout: float) -> Link:
    if use := _next_use(path):
        path += f".{use}"

    def write(text: str) -> None:
        with open(f"{path}.new", "w", opener=_open_private) as file:
            file.write(text)
        os.replace(f"{path}.new", path)

    link = partial(_link, rank, size, timeout, write, Path(path).read_text, is_local=False)
    # A file of an earlier run has the address of a board that does not exist any more: _link() fails
    # and is repeated.
    return link() if rank == 0 else _retried(link, f"rank 0 did not write {path}", timeout)


def _open_private(path: str, flags: int) -> int:
    """For open(opener=): only the user can read and write the file, which has the token."""
    return os.open(path, flags, 0o600)


def _retried(make_link: Callable[[], Link], problem: str, timeout: float) -> Link:
    """`make_link()`, repeated until it succeeds. Raises TimeoutError after `timeout` seconds."""
    end = time.monotonic() + timeout
    while True:
        try:
            return make_link()
        except (OSError, ValueError) as error:
            if time.monotonic() > end:
                raise TimeoutError(f"init: {problem} within {timeout:g} s ({error})") from error
            time.sleep(0.02)


def _by_dask(store: Any, timeout: float) -> Link:
    """`store` is the Rank that spanwise.dask.run_ranks passes."""
    size = len(store.workers)
    key = f"collectives/{_next_use(f'dask {store.token}')}"
    is_local = len({urlsplit(address).hostname for address in store.workers}) == 1
    share, shared = partial(store.share, key), partial(store.shared, key, timeout)
    return _link(store.rank, size, timeout, share, shared, is_local)
