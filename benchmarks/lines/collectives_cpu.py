# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""all_reduce by MPI between two processes, beside mpi4py and torch.distributed (Gloo)."""

import json
import pathlib
import subprocess
import sys

from addons.collectives.launch import environment, mpiexec, why_no_mpi
from harness import Contender, Result, Unavailable

RANKS = pathlib.Path(__file__).resolve().parents[1] / "collective_ranks.py"


def measure():
    if reason := why_no_mpi():
        raise Unavailable(reason)
    run = subprocess.run(
        [mpiexec(), "-n", "2", sys.executable, RANKS, "mpi"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    if run.returncode != 0:
        raise Unavailable(f"mpiexec failed: {run.stderr[-500:]}")
    for line in run.stdout.splitlines():
        timings = json.loads(line)
        yield Result(
            f"all_reduce of {timings['count']} float32, two ranks on the CPU",
            "all_reduce",
            {name: Contender(seconds) for name, seconds in timings["seconds"].items()},
            goal=("over", "mpi4py", 10e-6) if timings["count"] < 1000 else None,
        )
