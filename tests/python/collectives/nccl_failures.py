# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A rank of two on two GPUs: queued work that the other rank does not do. Arguments: folder."""

import os
import signal
import sys
import time
from pathlib import Path

from python.collectives.launch import results, write_result

import spanwise as sw
from spanwise import collectives as C  # noqa: N812

TIMEOUT = 3.0


def outcome(comm):
    """[error of the wait, its text, seconds, error of the next call]."""
    start = time.monotonic()
    found = ["", "", 0.0, ""]
    try:
        C.all_reduce(sw.ones(1000, device=comm.device), comm)
        sw.synchronize()
    except C.CollectiveError as error:
        found[:2] = ["CollectiveError", str(error)]
    found[2] = time.monotonic() - start
    try:
        C.all_reduce(sw.ones(3, device=comm.device), comm)
    except C.CollectiveError:
        found[3] = "CollectiveError"
    return found


def connected():
    comm = C.init("nccl", timeout=TIMEOUT, check=0)
    C.all_reduce(sw.ones(3, device=comm.device), comm)
    sw.synchronize()
    return comm


def main():
    (folder,) = sys.argv[1:]
    comm, result = connected(), {}
    if comm.rank == 1:
        time.sleep(3 * TIMEOUT)
    result["late"] = outcome(comm)
    comm.close()
    write_result(folder, comm.rank, result)
    while None in results(Path(folder), 2):  # the late rank ends its call long after the other one
        time.sleep(0.1)
    comm = connected()
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    result["killed"] = outcome(comm)
    write_result(folder, comm.rank, result)


if __name__ == "__main__":
    main()
