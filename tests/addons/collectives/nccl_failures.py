# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The program of each of two ranks on two GPUs: rank 1 makes its calls after the time limit, or never.
Arguments: folder, and what happens: "late" (queued work waits), "unconnected" (the host waits for the
connection that a message needs), "behind" (the host waits for room in a full queue of work) or "killed"
(rank 1 ends)."""

import os
import signal
import sys
import time

from addons.collectives.launch import write_result

import spanwise as sw
from spanwise import collectives as C  # noqa: N812

TIMEOUT = 3.0  # seconds
#: More calls than the queue of a GPU holds, so that the host waits for room in it.
CALLS_BEYOND_QUEUE = 5000


def calls(comm, failure):
    x = sw.ones(1000, device=comm.device)
    if failure == "unconnected":
        C.send(x, 0, comm) if comm.rank == 1 else C.recv(x, 1, comm)
    for _ in range(CALLS_BEYOND_QUEUE if failure == "behind" else 1):
        C.all_reduce(x, comm, out=x)
    sw.synchronize()


def outcome(comm, failure):
    """[error of the calls, its text, seconds, error of the next call]."""
    start = time.monotonic()
    result = ["", "", 0.0, ""]
    try:
        calls(comm, failure)
    except C.CollectiveError as error:
        result[:2] = ["CollectiveError", str(error)]
    result[2] = time.monotonic() - start
    try:
        C.all_reduce(sw.ones(3, device=comm.device), comm)
    except C.CollectiveError:
        result[3] = "CollectiveError"
    return result


def main():
    folder, failure = sys.argv[1:]
    comm = C.init("nccl", timeout=TIMEOUT, check=0)
    C.all_reduce(sw.ones(3, device=comm.device), comm)
    sw.synchronize()
    if comm.rank == 1 and failure == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if comm.rank == 1:
        time.sleep(2.5 * TIMEOUT)
    write_result(folder, comm.rank, outcome(comm, failure))
    comm.close()


if __name__ == "__main__":
    main()
