# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Starts programs of several ranks and reads what each rank has written."""

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from support.tree import ROOT

PROGRAMS = Path(__file__).parent


def why_no_mpi():
    """Why programs cannot be started by mpiexec; "" where they can."""
    if importlib.util.find_spec("mpi4py") is None or mpiexec() is None:
        return "needs the packages mpi4py and mpich (pip install mpi4py mpich)"
    return ""


def mpiexec():
    """The path of mpiexec: beside this interpreter (a wheel), else of the system, else None."""
    beside_python = Path(sys.executable).parent / "mpiexec"
    return str(beside_python) if beside_python.exists() else shutil.which("mpiexec")


def run_mpi(program, folder, *arguments, ranks=3, timeout=120):
    """The results of the ranks of `program`, None for one that has written none, and the output."""
    # Launchers end all ranks when one fails or is killed: the shell waits 4 s first, in which the
    # others can write their results, and then ends with status 0.
    unfailing = ["sh", "-c", '"$0" "$@" || sleep 4']
    command = [mpiexec(), "-n", str(ranks), *unfailing, *python_command(program, folder, arguments)]
    with open(folder / "output", "w+") as output:
        try:
            subprocess.run(
                command, stdout=output, stderr=output, timeout=timeout, env=environment()
            )
        except subprocess.TimeoutExpired:
            output.write("\nthe program did not end in time")
    return results(folder, ranks), (folder / "output").read_text()


def run_env(program, folder, *arguments, ranks=2, timeout=120):
    """The same as run_mpi(), without a launcher: by the environment variables that torchrun sets."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with open(folder / "output", "w+") as output:
        started = [
            subprocess.Popen(
                python_command(program, folder, arguments),
                stdout=output,
                stderr=output,
                env=environment()
                | {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank)}
                | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port},
            )
            for rank in range(ranks)
        ]
        for process in started:
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return results(folder, ranks), (folder / "output").read_text()


def python_command(program, folder, arguments):
    return [sys.executable, str(PROGRAMS / program), str(folder), *arguments]


def program_of_guide(folder):
    """The data-parallel program of docs/guides/cluster.md as a file."""
    page = (ROOT / "docs/guides/cluster.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (program,) = [block for block in blocks if "C.all_reduce" in block]
    path = folder / "lr.py"  # its name in the guide
    path.write_text(program)
    return path


def environment():
    """Environment variables of a rank. It gets one OpenMP thread, since the ranks share the processors of
    this machine. Open MPI starts nothing as root unless both of its variables are set, and not more ranks
    than processors, by the versions 4 and 5, without the others."""
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    allowed |= {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    allowed |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    paths = {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    return os.environ | allowed | paths


def results(folder, ranks):
    paths = [folder / f"rank{rank}.json" for rank in range(ranks)]
    return [json.loads(path.read_text()) if path.exists() else None for path in paths]


def write_result(folder, rank, result):
    path = Path(folder) / f"rank{rank}.json"
    path.with_suffix(".new").write_text(json.dumps(result))
    path.with_suffix(".new").rename(path)
