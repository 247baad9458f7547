# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel cache under processes that are killed and files that are damaged.

    PYTHONPATH=tests python -m fuzz.kernel_cache --kills 200 --processes 8

Processes compile and run a few kernels from one cache, again and again. Meanwhile they are killed
(SIGKILL) at random moments and replaced, and files of the cache are truncated, replaced and removed. No
process may raise an error or run a wrong kernel, and no temporary files may remain.

Then folders and images are exchanged for forged ones (`cache_attacks`), as another user might, as far as
one user can act as both. No process may run a forged kernel.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fuzz import cache_attacks

# Every kernel writes a different number, so that a wrong kernel is detected. The limit of the cache is so
# small that entries are evicted all the time.
WORKER = r"""
import random, sys, time
import spanwise as sw

device, seed, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
chance = random.Random(seed)
end = time.monotonic() + seconds
count = 0
while time.monotonic() < end:
    number = chance.randrange(12)
    # Options differ, so that the module cache of this process has few of the modules.
    source = f"__global__ void k(int *x) {{ x[0] = {number}; }}"
    module = sw.SourceModule(source, options=[f"-DUNUSED={chance.randrange(4)}"], device=device)
    x = sw.full(1, -1, "int32", device=device)
    module.get_function("k")(x, block=1)
    assert x.tolist() == [number], (x.tolist(), number)
    count += 1
print(count)
"""
SECONDS = 3.0  # that a worker runs


def start(
    device: str, folder: Path, chance: random.Random, limit_mb: int = 1
) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "SPANWISE_CACHE_DIR": str(folder),
        "SPANWISE_CACHE_LIMIT_MB": str(limit_mb),
        "TMPDIR": str(temporary(folder)),
    }
    arguments = [sys.executable, "-c", WORKER, device, str(chance.randrange(10**6)), str(SECONDS)]
    return subprocess.Popen(
        arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def temporary(folder: Path) -> Path:
    """The folder of the temporary files of processes that use the cache `folder`."""
    return folder.with_name(folder.name + "-tmp")


def damage(folder: Path, chance: random.Random) -> None:
    """Truncates, empties, changes, exchanges or removes a random file of the cache."""
    files = sorted((folder / "kernels").glob("*"))
    if not files:
        return
    file = chance.choice(files)
    kind = chance.randrange(5)
    try:
        # Files are replaced, not overwritten: no cache can protect a process from changes of a file that
        # it has loaded.
        data = file.read_bytes()
        other = chance.choice(files).read_bytes()
        new = {
            0: data[: chance.randrange(len(data) + 1)],
            1: b"",
            2: bytes(chance.randrange(256) for _ in range(64)) + data[64:],
            3: other,
        }.get(kind)
        if new is None:
            file.unlink()
            return
        replacement = file.with_name(f"fuzz-{chance.randrange(10**9)}")
        replacement.write_bytes(new)
        replacement.chmod(0o600)
        replacement.replace(file)
    except FileNotFoundError:
        pass  # evicted meanwhile


def attack(device: str, kills: int, processes: int, seed: int, folder: Path) -> list[str]:
    """Kills processes while they use the cache; returns the errors of others and the remaining files."""
    chance = random.Random(seed)
    problems: list[str] = []
    temporary(folder).mkdir(mode=0o700)
    running = [start(device, folder, chance) for _ in range(processes)]
    killed = 0
    while killed < kills and not problems:
        time.sleep(chance.random() * 0.2)
        damage(folder, chance)
        index = chance.randrange(processes)
        victim = running[index]
        if victim.poll() is None:
            victim.send_signal(signal.SIGKILL)
            killed += 1
        problems += problems_of(victim)
        running[index] = start(device, folder, chance)
        for i, process in enumerate(running):
            if process.poll() is not None:
                problems += problems_of(process)
                running[i] = start(device, folder, chance)
    for process in running:
        problems += problems_of(process)
    # Afterwards a process finds the cache usable. The last one, without a cache, compiles, which removes
    # the temporary files of killed processes.
    for limit_mb in (1, 0):
        problems += problems_of(start(device, folder, chance, limit_mb))
    return problems + [f"left behind: {path}" for path in temporary(folder).iterdir()]


def attacks(device: str, rounds: int, folder: Path) -> list[str]:
    """Replaces folders and images by forged ones; returns the wrong results of the victims."""
    problems = []
    shared = folder / "shared"
    shared.mkdir(mode=0o700)
    cache, forged = shared / "cache", shared / "forged"
    cache_attacks.forge(device, cache, forged)
    right = list(range(cache_attacks.KERNELS))
    for attack in (cache_attacks.exchange_images, cache_attacks.exchange_folders):
        if attack is cache_attacks.exchange_folders:
            shared.chmod(0o770)  # other users may exchange folders only in such a folder
        with cache_attacks.during(attack, cache, forged):
            for _ in range(rounds):
                written = cache_attacks.victim(device, cache).written
                if written != right:
                    problems.append(f"{attack.__name__}: kernels wrote {written}")
    return problems


def problems_of(process: subprocess.Popen[str]) -> list[str]:
    """Waits for the process; its problem, if it ended by itself with one."""
    _, errors = process.communicate(timeout=120)
    is_right = process.returncode in (0, -signal.SIGKILL) and not errors
    return [] if is_right else [f"process ended with {process.returncode}: {errors}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--attacks", type=int, default=20, help="processes under each attack")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        problems = attack(
            options.device, options.kills, options.processes, options.seed, Path(folder) / "cache"
        )
        problems += attacks(options.device, options.attacks, Path(folder))
    print(
        f"seed {options.seed}: {options.kills} kills, {options.attacks} processes under each attack, "
        f"{len(problems)} problems"
    )
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
