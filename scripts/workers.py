# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The number of parallel test processes: one per core, limited by memory."""

import os
import shutil
import subprocess
from pathlib import Path

GIB = 1 << 30
MAX_WORKERS = 16


def workers(host_bytes: int, gpu_bytes: int) -> int:
    """The number of processes if each needs `host_bytes` of the host and `gpu_bytes` of the first GPU."""
    bounds = [MAX_WORKERS, len(os.sched_getaffinity(0)), host_memory() // host_bytes]
    if (free := free_gpu_memory()) is not None:
        bounds.append(free // gpu_bytes)
    return max(1, min(bounds))


def host_memory() -> int:
    """Memory of the host in bytes, or the memory limit of the container if that is less."""
    bounds = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    folder = Path("/sys/fs/cgroup")
    for limit in (folder / "memory.max", folder / "memory" / "memory.limit_in_bytes"):
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            bounds.append(int(text))
    return min(bounds)


def free_gpu_memory() -> int | None:
    """Free memory of the first GPU in bytes; None without a GPU."""
    if not shutil.which("nvidia-smi"):
        return None
    command = ["nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    process = subprocess.run(command, capture_output=True, text=True)
    mebibytes = process.stdout.partition("\n")[0].strip()  # the first line: the first GPU
    return int(mebibytes) << 20 if process.returncode == 0 and mebibytes.isdigit() else None
