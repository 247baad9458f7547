# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the Python tests for test.py and gpu_report.py, alike on every machine.

Of the pytest plug-ins that are installed only those named here are loaded. Others change what a
test run means: pytest-benchmark, for one, warns beside pytest-xdist, and warnings are errors here.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from places import ROOT
from tools import environment

# Modules that are loaded where they are installed.
PLUGINS = ("xdist", "_hypothesis_pytestplugin")
GIB = 1 << 30
# What a worker needs where it has imported every foreign library: libraries and compilers on the
# host, contexts, modules and the memory pools of four libraries on the GPU.
HOST_MEMORY_OF_A_WORKER = 3 * GIB
GPU_MEMORY_OF_A_WORKER = 4 * GIB
MOST_WORKERS = 16


def python_tests(preset: str, *options: str) -> bool:
    """Whether all tests passed. PYTEST_ARGS adds options, such as -k NAME or -n WORKERS."""
    command = [sys.executable, "-m", "pytest"]
    for plugin in installed_plugins():
        command += ["-p", plugin]
    if "xdist" in installed_plugins() and (count := workers()) > 1:
        command += ["-n", str(count)]
    command += [*options, *os.environ.get("PYTEST_ARGS", "").split()]
    env = {**environment(preset), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    print(f"\n== {' '.join(command)}", flush=True)
    return subprocess.run(command, cwd=ROOT, env=env).returncode == 0


def installed_plugins() -> list[str]:
    return [plugin for plugin in PLUGINS if importlib.util.find_spec(plugin)]


def workers() -> int:
    """How many processes share the tests: one a processor, while memory suffices for all."""
    bounds = [MOST_WORKERS, len(os.sched_getaffinity(0)), host_memory() // HOST_MEMORY_OF_A_WORKER]
    if (free := free_gpu_memory()) is not None:
        bounds.append(free // GPU_MEMORY_OF_A_WORKER)
    return max(1, min(bounds))


def host_memory() -> int:
    """Bytes of the host's memory, or what the memory limit of this container leaves of it."""
    bounds = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    folder = Path("/sys/fs/cgroup")
    for limit in (folder / "memory.max", folder / "memory" / "memory.limit_in_bytes"):
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            bounds.append(int(text))
    return min(bounds)


def free_gpu_memory() -> int | None:
    """Free bytes of the first GPU; None where there is none."""
    if not shutil.which("nvidia-smi"):
        return None
    command = ["nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, capture_output=True, text=True)
    first = done.stdout.partition("\n")[0].strip()
    return int(first) << 20 if done.returncode == 0 and first.isdigit() else None
