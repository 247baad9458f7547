# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""all_reduce by NCCL between two GPUs, beside torch.distributed."""

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
    if sum(device.kind == "cuda" for device in sw.devices()) < 2:
        raise Unavailable("needs two GPUs")
    rendezvous = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
    processes = [
        subprocess.Popen(
            [sys.executable, RANKS, "nccl"],
            env=environment() | rendezvous | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE if rank == 0 else None,
            text=True,
            cwd=os.getcwd(),
        )
        for rank in range(2)
    ]
    output = processes[0].communicate(timeout=300)[0]
    if any(process.wait(60) != 0 for process in processes):
        raise Unavailable("a rank has failed: see its output above")
    # NCCL prints its version among the figures where NCCL_DEBUG is set.
    for line in filter(lambda line: line.startswith("{"), output.splitlines()):
        timings = json.loads(line)
        fastest = min(timings["seconds"]["all_reduce"])
        yield Result(
            f"all_reduce of {timings['count']} float32 between two GPUs",
            "all_reduce",
            {name: Contender(seconds) for name, seconds in timings["seconds"].items()},
            # Between two ranks the bus carries each byte once in each direction.
            note=f"{4e-9 * timings['count'] / fastest:.0f} GB/s",
            goal=("ratio", "torch.distributed", 1.0),
        )
