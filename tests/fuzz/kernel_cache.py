# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel cache under processes that are killed and files that are damaged.

    PYTHONPATH=tests python -m fuzz.kernel_cache --kills 200 --processes 8

Processes compile and run a handful of kernels from one cache, again and again. Meanwhile they are
killed (SIGKILL) at random moments and replaced, and files of the cache are cut off, overwritten, swapped
and removed. No process may ever see an error or a wrong kernel, and nothing temporary may be left.

Then another user's attacks, as far as one user can play both: folders and images are exchanged for forged
ones (`cache_attacks`), which no process may ever run.
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

# Every kernel writes a different number, so that a mix-up is detected. The cache's bound is
# small enough that entries are thrown out all the time.
WORKER = r"""
import random, sys, time
import spanwise as sw

device, seed, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
chance = random.Random(seed)
end = time.monotonic() + seconds
count = 0
while time.monotonic() < end:
    number = chance.randrange(12)
    # Words that the process has not used yet: the module cache of this process must not answer.
    source = f"__global__ void k(int *x) {{ x[0] = {number}; }}"
    module = sw.SourceModule(source, options=[f"-DUNUSED={chance.randrange(4)}"], device=device)
    x = sw.full(1, -1, "int32", device=device)
    module.get_function("k")(x, block=1)
    assert x.tolist() == [number], (x.tolist(), number)
    count += 1
print(count)
"""
SECONDS = 3.0


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
    """The place of the temporary files of processes that use the cache `folder`."""
    return folder.with_name(folder.name + "-tmp")


def damage(folder: Path, chance: random.Random) -> None:
    """Something that happens to files: some of it while they are read."""
    files = sorted((folder / "kernels").glob("*"))
    if not files:
        return
    file = chance.choice(files)
    how = chance.randrange(5)
    try:
        # A file that a process has loaded must not change under it, as nothing could help then: files
        # are replaced, as by a copy of a folder, not overwritten.
        data = file.read_bytes()
        other = chance.choice(files).read_bytes()
        new = {
            0: data[: chance.randrange(len(data) + 1)],
            1: b"",
            2: bytes(chance.randrange(256) for _ in range(64)) + data[64:],
            3: other,
        }.get(how)
        if new is None:
            file.unlink()
            return
        replacement = file.with_name(f"fuzz-{chance.randrange(10**9)}")
        replacement.write_bytes(new)
        replacement.chmod(0o600)
        replacement.replace(file)
    except FileNotFoundError:
        pass  # thrown out meanwhile


def attack(device: str, kills: int, processes: int, seed: int, folder: Path) -> list[str]:
    """Kills processes while they use the cache; returns errors of others and the files left behind."""
    chance = random.Random(seed)
    complaints: list[str] = []
    temporary(folder).mkdir(mode=0o700)
    running = [start(device, folder, chance) for _ in range(processes)]
    killed = 0
    while killed < kills and not complaints:
        time.sleep(chance.random() * 0.2)
        damage(folder, chance)
        place = chance.randrange(processes)
        victim = running[place]
        if victim.poll() is None:
            victim.send_signal(signal.SIGKILL)
            killed += 1
        complaints += ended(victim)
        running[place] = start(device, folder, chance)
        for i, process in enumerate(running):
            if process.poll() is not None:
                complaints += ended(process)
                running[i] = start(device, folder, chance)
    for process in running:
        complaints += ended(process)
    # After all that, one process alone finds nothing wrong. The last, without a cache, compiles, and so
    # removes what killed processes left.
    for limit_mb in (1, 0):
        complaints += ended(start(device, folder, chance, limit_mb))
    return complaints + [f"left behind: {path}" for path in temporary(folder).iterdir()]


def attacks(device: str, rounds: int, folder: Path) -> list[str]:
    """Replaces folders and images by forged ones; returns the wrong results of the victims."""
    complaints = []
    shared = folder / "shared"
    shared.mkdir(mode=0o700)
    cache, forged = shared / "cache", shared / "forged"
    cache_attacks.forge(device, cache, forged)
    right = list(range(cache_attacks.KERNELS))
    for attack in (cache_attacks.exchange_images, cache_attacks.exchange_folders):
        if attack is cache_attacks.exchange_folders:
            shared.chmod(0o770)  # or other users could exchange nothing
        with cache_attacks.during(attack, cache, forged):
            for _ in range(rounds):
                seen = cache_attacks.victim(device, cache)
                if seen.written != right:
                    complaints.append(f"{attack.__name__}: kernels wrote {seen.written}")
    return complaints


def ended(process: subprocess.Popen[str]) -> list[str]:
    _, errors = process.communicate(timeout=120)
    good = process.returncode in (0, -signal.SIGKILL) and not errors
    return [] if good else [f"process ended with {process.returncode}: {errors}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--attacks", type=int, default=20, help="processes under each attack")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        complaints = attack(
            given.device, given.kills, given.processes, given.seed, Path(folder) / "cache"
        )
        complaints += attacks(given.device, given.attacks, Path(folder))
    print(
        f"seed {given.seed}: {given.kills} kills, {given.attacks} processes under each attack, "
        f"{len(complaints)} complaints"
    )
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
