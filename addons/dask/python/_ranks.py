# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""run_ranks: calls a function on all workers at the same time, as mpiexec starts a program."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

#: Seconds between two reads of the list of workers.
_POLL_SECONDS = 0.2
#: (token of the call, rank) -> identifier of the thread that runs it, in this worker.
_running: dict[tuple[str, int], int] = {}
_lock = threading.Lock()


class RankError(RuntimeError):
    """A rank of run_ranks raised an exception, which is the `__cause__`, or lost its worker."""


class _RankCancelled(RuntimeError):
    """Raised inside a rank because another rank has failed."""


@dataclass(frozen=True)
class Rank:
    """The first argument of the function of run_ranks: its number among the ranks, and their number."""

    rank: int
    size: int
    #: The addresses of the workers, in the order of the ranks.
    workers: tuple[str, ...]
    #: Equal for the ranks of one call of run_ranks, and of no other.
    token: str

    def share(self, key: str, text: str) -> None:
        """Stores `text` in the scheduler, for the other ranks of this call. Inside a rank."""
        from distributed import get_client

        get_client().set_metadata(["spanwise", self.token, key], text)

    def shared(self, key: str, timeout: float) -> str:
        """The text that a rank of this call passes to share() with this key. Waits for it, at most
        `timeout` seconds, then raises TimeoutError."""
        from distributed import get_client

        client, end = get_client(), time.monotonic() + timeout
        while (text := client.get_metadata(["spanwise", self.token, key], default=None)) is None:
            if time.monotonic() > end:
                raise TimeoutError(f"run_ranks: no rank shared {key!r} within {timeout:g} s")
            time.sleep(0.02)
        return str(text)


def run_ranks(client: Any, fn: Callable[..., Any], *args: Any) -> list[Any]:
    """Runs ``fn(rank, *args)`` once on each worker of `client` and returns the results by rank.

    `client` is a synchronous distributed.Client and `rank` a Rank. Ranks are numbered by the sorted
    addresses of the workers and stay on them: no rank is moved or repeated. At the first exception,
    or when a worker is lost, the other ranks are cancelled and RankError is raised: what has not
    begun does not run, and an exception is raised in the threads of the others, which reaches Python
    code at its next instruction and a call that blocks outside Python when that returns. Raises
    ValueError without workers, TypeError for an asynchronous client. KeyboardInterrupt cancels all
    ranks too.
    """
    if getattr(client, "asynchronous", True):
        raise TypeError(
            f"run_ranks: expected a synchronous distributed.Client, got {client!r}; make one with "
            "Client(address), outside a coroutine"
        )
    workers = _workers_of(client)
    if not workers:
        raise ValueError(
            "run_ranks: expected a cluster with workers, got none; start some, then "
            "client.wait_for_workers(n)"
        )
    token, addresses = uuid4().hex, tuple(sorted(workers))
    # The high priority: ranks wait for each other, so other tasks must not keep one from starting.
    futures = [
        client.submit(
            _run_rank, token, Rank(number, len(addresses), addresses, token), fn, args,
            workers=[address], allow_other_workers=False, retries=0, pure=False, priority=1 << 20,
        )
        for number, address in enumerate(addresses)
    ]  # fmt: skip
    try:
        _wait(client, futures, addresses, workers)
        return client.gather(futures)
    except BaseException:
        with suppress(Exception):  # the first failure is the one to report
            _cancel(client, token, futures, addresses, workers)
        raise


def _workers_of(client: Any) -> dict[str, str]:
    """Address -> identity of each worker; a restarted worker has another identity."""
    return client.run_on_scheduler(_list_workers)


def _list_workers(dask_scheduler: Any) -> dict[str, str]:
    return {address: state.server_id for address, state in dask_scheduler.workers.items()}


def _wait(client: Any, futures: list[Any], addresses: tuple[str, ...], workers: Any) -> None:
    """Returns when all ranks are finished; raises RankError at the first failure."""
    while True:
        present = _workers_of(client)
        for number, (future, address) in enumerate(zip(futures, addresses, strict=True)):
            if future.status == "error":
                error = future.exception()
                raise RankError(
                    f"run_ranks: rank {number} of {len(futures)} on {address} raised "
                    f"{type(error).__name__}: {error}; the other ranks are cancelled"
                ) from error
            if future.status == "cancelled" or present.get(address) != workers[address]:
                raise RankError(
                    f"run_ranks: rank {number} of {len(futures)} lost its worker {address}; the "
                    "other ranks are cancelled. Remedy: see the log of that worker, and call again"
                )
        if all(future.status == "finished" for future in futures):
            return
        _pause(futures)


def _pause(futures: list[Any]) -> None:
    """Returns when a rank has finished, after _POLL_SECONDS at the latest."""
    from distributed import CancelledError, TimeoutError, wait

    pending = [future for future in futures if future.status == "pending"]
    with suppress(TimeoutError, CancelledError):
        wait(pending, timeout=_POLL_SECONDS, return_when="FIRST_COMPLETED")


def _cancel(
    client: Any, token: str, futures: list[Any], addresses: tuple[str, ...], workers: Any
) -> None:
    client.cancel(futures, force=True)
    present = _workers_of(client)
    alive = [address for address in addresses if present.get(address) == workers[address]]
    if alive:
        client.run(_interrupt, token, workers=alive, on_error="ignore")


# ---- On the workers ----


def _run_rank(token: str, rank: Rank, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    with _lock:
        _running[token, rank.rank] = threading.get_ident()
    try:
        return fn(rank, *args)
    finally:
        with _lock:
            del _running[token, rank.rank]


def _interrupt(token: str) -> None:
    """Raises _RankCancelled in the threads of this worker that run ranks of the call `token`."""
    with _lock:
        threads = [thread for (call, _), thread in _running.items() if call == token]
        for thread in threads:  # PyThreadState_SetAsyncExc has no counterpart in Python
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(_RankCancelled)
            )
