# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of the line collectives_cpu, started by mpiexec: prints, on rank 0, the seconds of each
round of each contender as JSON. All ranks repeat each call equally often."""

import json
import os
import sys
import time

import numpy as np
from mpi4py import MPI

import spanwise as sw
from spanwise import collectives

ROUNDS = 25


def contenders(comm, count):
    x = np.ones(count, "float32")
    y, ours = np.empty_like(x), sw.empty(count, dtype="float32", device="cpu")
    own, world = sw.asarray(x), MPI.COMM_WORLD
    found = {
        "all_reduce": lambda: collectives.all_reduce(own, comm, out=ours),
        "mpi4py": lambda: world.Allreduce(x, y),
    }
    try:
        import torch
        import torch.distributed as dist
    except ImportError:
        return found
    if not dist.is_initialized():
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29544")
        dist.init_process_group("gloo", rank=comm.rank, world_size=comm.size)
    tensor = torch.ones(count)
    return found | {"torch.distributed": lambda: dist.all_reduce(tensor)}


def timed(world, call, repeats):
    world.Barrier()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def main():
    comm, world = collectives.init("mpi", timeout=60), MPI.COMM_WORLD
    for count, repeats in ((256, 100), (1 << 20, 3)):
        calls = contenders(comm, count)
        seconds = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                seconds[name].append(timed(world, call, repeats))
        if comm.rank == 0:
            print(json.dumps({"count": count, "seconds": seconds}), flush=True)
    comm.close()


if __name__ == "__main__":
    sys.exit(main())
