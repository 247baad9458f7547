# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of the lines collectives_cpu and collectives_gpus. Argument: the engine, "mpi" or "nccl".
Prints, on rank 0, the seconds of each round of each contender as JSON. All ranks repeat each call
equally often."""

import importlib.util
import json
import sys
import time

import numpy as np

import spanwise as sw
from spanwise import collectives

ROUNDS = 25
#: Numbers of float32, and calls in a round.
SIZES = {"mpi": ((256, 100), (1 << 20, 3)), "nccl": ((256, 200), (1 << 24, 20), (1 << 28, 5))}


def torch_contender(comm, count):
    """all_reduce of torch.distributed by Gloo or NCCL, by name; empty without PyTorch."""
    if importlib.util.find_spec("torch") is None:
        return {}
    import torch
    import torch.distributed as dist

    on_gpu = comm.device.kind == "cuda"
    if not dist.is_initialized():
        if on_gpu:
            torch.cuda.set_device(comm.device.ordinal)
        backend = "nccl" if on_gpu else "gloo"
        ranks = {"rank": comm.rank, "world_size": comm.size}
        dist.init_process_group(backend, init_method="tcp://127.0.0.1:29544", **ranks)
    tensor = torch.ones(count, device="cuda" if on_gpu else "cpu")
    return {"torch.distributed": lambda: dist.all_reduce(tensor)}


def contenders(comm, count):
    x = sw.ones(count, dtype="float32", device=comm.device)
    calls = {"all_reduce": lambda: collectives.all_reduce(x, comm, out=x)}
    if comm.engine == "mpi":
        from mpi4py import MPI

        values, total = np.ones(count, "float32"), np.empty(count, "float32")
        y = sw.empty(count, dtype="float32", device="cpu")
        calls = {
            "all_reduce": lambda: collectives.all_reduce(x, comm, out=y),
            "mpi4py": lambda: MPI.COMM_WORLD.Allreduce(values, total),
        }
    return calls | torch_contender(comm, count)


def finish(comm):
    if comm.device.kind == "cuda":
        sw.synchronize()
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.cuda.synchronize()


def timed(comm, call, repeats):
    comm.barrier()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    finish(comm)
    return (time.perf_counter() - start) / repeats


def main():
    (engine,) = sys.argv[1:]
    comm = collectives.init(engine, timeout=60, device="cpu" if engine == "mpi" else None)
    for count, repeats in SIZES[engine]:
        calls = contenders(comm, count)
        for call in calls.values():
            timed(comm, call, 2)
        seconds = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                seconds[name].append(timed(comm, call, repeats))
        if comm.rank == 0:
            print(json.dumps({"count": count, "seconds": seconds}), flush=True)
    comm.close()


if __name__ == "__main__":
    sys.exit(main())
