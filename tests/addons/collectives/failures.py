# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The program of each of three ranks whose calls differ, come late, raise or end: writes the outcome of
each call. Arguments: folder, engine."""

import os
import signal
import sys
import time

from addons.collectives.launch import write_result

import spanwise as sw
from spanwise import collectives as C  # noqa: N812

TIMEOUT = 3.0  # seconds; longer than init() takes on a busy machine


def outcome(call):
    """[kind of error or "", its text, seconds]."""
    start = time.monotonic()
    try:
        call()
    except C.CollectiveError as error:
        assert len(error.calls) in (0, 2, 3) and isinstance(error.number, int)
        return ["CollectiveError", str(error), time.monotonic() - start]
    except Exception as error:
        return [type(error).__name__, str(error), time.monotonic() - start]
    return ["", "", time.monotonic() - start]


def disagreements(comm, result):
    """Calls that differ between the ranks. They move no data, so the communicator stays usable."""
    rank, x = comm.rank, sw.ones((3, 4))
    result["shapes"] = outcome(lambda: C.all_reduce(sw.ones(3 + (rank == 1)), comm))
    result["dtypes"] = outcome(
        lambda: C.all_reduce(sw.ones(3, dtype="float32" if rank == 2 else "float64"), comm)
    )
    result["ops"] = outcome(lambda: C.all_reduce(x, comm, "max" if rank == 0 else "sum"))
    result["order"] = outcome(lambda: C.all_gather(x, comm) if rank == 0 else C.broadcast(x, comm))
    result["roots"] = outcome(lambda: C.broadcast(x, comm, root=rank))
    result["messages"] = outcome(
        lambda: (
            C.send(x, 1, comm) if rank == 0 else C.recv(sw.ones(2), 0, comm) if rank == 1 else None
        )
    )
    result["afterwards"] = outcome(lambda: C.all_reduce(x, comm))


def late(engine, result, check, key):
    """Rank 1 calls after the time limit, when the others have raised."""
    comm = C.init(engine, timeout=TIMEOUT, check=check)
    if comm.rank == 1:
        time.sleep(1.5 * TIMEOUT)
    result[key] = outcome(lambda: C.all_reduce(sw.ones(5), comm))
    result[key + " again"] = outcome(lambda: C.all_reduce(sw.ones(5), comm))
    result[key + " failure"] = comm.failure
    comm.close()


def aborting(engine, result):
    """Rank 2 raises inside the block of the communicator, while the others wait."""
    comm = C.init(engine, timeout=30)

    def call():
        with comm:
            if comm.rank == 2:
                raise ValueError("the data of rank 2 are wrong")
            C.all_reduce(sw.ones(5), comm)

    result["raises"] = outcome(call)


def main():
    folder, engine = sys.argv[1:]
    result = {}
    comm = C.init(engine, timeout=30)
    disagreements(comm, result)
    comm.close()
    late(engine, result, 64, "late")
    late(engine, result, 0, "late unchecked")
    aborting(engine, result)
    world = C.init(engine, timeout=30, check=0)
    pair = world.split(0 if world.rank < 2 else None)
    write_result(folder, world.rank, result)
    C.all_reduce(sw.ones(2), world)
    if world.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    result["killed"] = outcome(lambda: C.all_reduce(sw.ones(5), world))
    write_result(folder, world.rank, result)
    if world.rank == 1:
        raise KeyError("an uncaught error")
    result["uncaught"] = outcome(lambda: C.all_reduce(sw.ones(5), pair))
    write_result(folder, world.rank, result)


if __name__ == "__main__":
    main()
