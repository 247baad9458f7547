# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of the lines collectives_cpu and collectives_gpus. Argument: the engine, "mpi" or "nccl".
Prints, on rank 0, the seconds of each round of each contender as JSON. All ranks repeat each call
equally often."""

import importlib.util
import itertools
import json
import sys
import time

import numpy as np

import spanwise as sw
from spanwise import collectives

ROUNDS = 25
#: Numbers of float32 in the larger of input and result, and calls in a round.
SIZES = {
    "mpi": ((256, 100), (1 << 20, 3)),
    "nccl": ((256, 200), (1 << 14, 200), (1 << 18, 100), (1 << 24, 20), (1 << 28, 5)),
}
OPERATIONS = {
    "mpi": ("all_reduce",),
    "nccl": ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"),
}


def extents(operation, comm, count):
    """Numbers of the input and of the result."""
    part = count // comm.size
    return {"all_gather": (part, count), "reduce_scatter": (count, part)}.get(
        operation, (count, count)
    )


def torch_contender(comm, operation, count):
    """The operation of torch.distributed by Gloo or NCCL, by name; empty without PyTorch."""
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
    device = "cuda" if on_gpu else "cpu"
    x, y = (torch.ones(n, device=device) for n in extents(operation, comm, count))
    call = {
        "all_reduce": lambda: dist.all_reduce(x),
        "all_gather": lambda: dist.all_gather_into_tensor(y, x),
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(y, x),
        "all_to_all": lambda: dist.all_to_all_single(y, x),
    }[operation]
    return {"torch.distributed": call}


def contenders(comm, operation, count):
    x, y = (
        sw.ones(n, dtype="float32", device=comm.device) for n in extents(operation, comm, count)
    )
    out = x if operation == "all_reduce" else y
    function = getattr(collectives, operation)
    calls = {operation: lambda: function(x, comm, out=out)}
    if comm.engine == "mpi":
        from mpi4py import MPI

        values, total = np.ones(count, "float32"), np.empty(count, "float32")
        y = sw.empty(count, dtype="float32", device="cpu")
        calls = {
            "all_reduce": lambda: collectives.all_reduce(x, comm, out=y),
            "mpi4py": lambda: MPI.COMM_WORLD.Allreduce(values, total),
        }
    return calls | torch_contender(comm, operation, count)


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
    for operation, (count, repeats) in itertools.product(OPERATIONS[engine], SIZES[engine]):
        calls = contenders(comm, operation, count)
        for call in calls.values():
            timed(comm, call, 2)
        seconds = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                seconds[name].append(timed(comm, call, repeats))
        if comm.rank == 0:
            print(
                json.dumps({"operation": operation, "count": count, "seconds": seconds}), flush=True
            )
    comm.close()


if __name__ == "__main__":
    sys.exit(main())
