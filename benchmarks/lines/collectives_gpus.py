# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives by NCCL between 2, 4 and 8 GPUs, as many as there are, beside torch.distributed."""

import json
import os
import pathlib
import subprocess
import sys

from addons.collectives.launch import environment
from harness import Contender, Result, Unavailable

import spanwise as sw

RANKS = pathlib.Path(__file__).resolve().parents[1] / "collective_ranks.py"


def measure():
    gpus = sum(device.kind == "cuda" for device in sw.devices())
    if gpus < 2:
        raise Unavailable("needs two GPUs")
    for ranks in (2, 4, 8):
        if ranks <= gpus:
            yield from measure_between(ranks)


def measure_between(ranks):
    rendezvous = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1"}
    rendezvous["MASTER_PORT"] = str(29510 + ranks)
    processes = [
        subprocess.Popen(
            [sys.executable, RANKS, "nccl"],
            env=environment() | rendezvous | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE if rank == 0 else None,
            text=True,
            cwd=os.getcwd(),
        )
        for rank in range(ranks)
    ]
    output = processes[0].communicate(timeout=300)[0]
    if any(process.wait(60) != 0 for process in processes):
        raise Unavailable("a rank has failed: see its output above")
    # NCCL prints its version among the figures where NCCL_DEBUG is set.
    for line in filter(lambda line: line.startswith("{"), output.splitlines()):
        timings = json.loads(line)
        operation, count = timings["operation"], timings["count"]
        fastest = min(timings["seconds"][operation])
        # How often the bus of each GPU carries a byte in each direction.
        crossings = (2 if operation == "all_reduce" else 1) * (ranks - 1) / ranks
        yield Result(
            f"{operation} of {count} float32 between {ranks} GPUs",
            operation,
            {name: Contender(seconds) for name, seconds in timings["seconds"].items()},
            note=f"{4e-9 * count * crossings / fastest:.0f} GB/s",
            goal=("ratio", "torch.distributed", 1.0),
        )
