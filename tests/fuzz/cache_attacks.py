# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Attacks on the kernel cache with write access to the folder around it, as functions to run in a thread.

Each repeats one step until its event is set. A kernel of VICTIM writes its own number; the attacker's
kernels write FORGED, which no victim may ever see.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

FORGED = 666
KERNELS = 6
# Loads or compiles every kernel once. Prints what they write, how many came from the cache, and
# which entries were new with each.
VICTIM = r"""
import glob, json, sys
import spanwise as sw

device, written, cached, keys = sys.argv[1], [], 0, []
entries = lambda: set(glob.glob("*.entry", root_dir=sw.kernel_cache.path))
for number in range(int(sys.argv[2])):
    value = int(sys.argv[3]) if len(sys.argv) > 3 else number
    before = entries()
    module = sw.SourceModule(
        f"__global__ void k(int *x) {{ x[0] = {value}; }} // {number}", device=device
    )
    keys.append([name.split(".")[0] for name in entries() - before])
    x = sw.full(1, -1, "int32", device=device)
    module.get_function("k")(x, block=1)
    written += x.tolist()
    cached += module.from_cache
print(json.dumps([written, cached, keys]))
"""


class VictimResult(NamedTuple):
    """Results of a victim process."""

    written: list[int]  # by its kernels
    from_cache: int  # number of kernels
    keys: list[list[str]]  # of the new cache entries, by kernel


def victim(device: str, cache: Path, *forged: int) -> VictimResult:
    """Runs VICTIM; if `forged` is given, its kernels write that number instead of their own."""
    process = subprocess.run(
        [sys.executable, "-c", VICTIM, device, str(KERNELS), *map(str, forged)],
        env={**os.environ, "SPANWISE_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0 and process.stderr == "", process.stderr
    return VictimResult(*json.loads(process.stdout))


def _fields(*fields: str) -> str:
    return "".join(f"{len(field)} {field}\n" for field in fields)


def forge(device: str, cache: Path, forged: Path) -> None:
    """Fills both folders with entries of the same keys, intact by every digest, with other kernels."""
    attackers = forged.with_name(
        forged.name + "-own"
    )  # cache of the attacker's kernels, by their own keys
    keys, own_keys = victim(device, cache).keys, victim(device, attackers, FORGED).keys
    (forged / "kernels").mkdir(parents=True, mode=0o700)
    forged.chmod(0o700)
    for (key,), (own_key,) in zip(keys, own_keys, strict=True):
        image = next((attackers / "kernels").glob(f"{own_key}-*.bin")).read_bytes()
        digest = hashlib.sha256(image).hexdigest()
        name = f"{key}-{digest[:16]}.bin"
        # After the image's name and digest: the kernels' names and symbols, without the entry's digest.
        symbols = (attackers / "kernels" / f"{own_key}.entry").read_text()[:-64].split("\n", 3)[3]
        text = "spanwise kernel 1\n" + _fields(name, digest) + symbols
        text += hashlib.sha256(text.encode()).hexdigest()
        for file, data in ((name, image), (f"{key}.entry", text.encode())):
            (forged / "kernels" / file).write_bytes(data)
            (forged / "kernels" / file).chmod(0o600)


def _exchange(first: Path, second: Path) -> None:
    """Swaps two names by one system call: renameat2 with RENAME_EXCHANGE."""
    at_cwd, exchange = -100, 2
    renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    if renameat2(at_cwd, bytes(first), at_cwd, bytes(second), exchange) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def exchange_folders(cache: Path, forged: Path, stop: Event) -> None:
    while not stop.is_set():
        _exchange(cache, forged)


def exchange_images(cache: Path, forged: Path, stop: Event) -> None:
    """Puts forged images and the right ones in turn under the right names."""
    pairs = []
    for good in sorted((cache / "kernels").glob("*.bin")):
        for bad in (forged / "kernels").glob(good.name[:64] + "-*.bin"):
            pairs.append((good, shutil.copy(bad, good.with_name("forged-" + good.name))))
    while not stop.is_set():
        for good, bad in pairs:
            _exchange(good, bad)


def remove_files(cache: Path, stop: Event) -> None:
    """Removes each file of the cache as soon as it appears."""
    while not stop.is_set():
        with suppress(FileNotFoundError), os.scandir(cache / "kernels") as files:
            for file in files:
                # Folders are made and removed to find out whether the cache can be written.
                with suppress(FileNotFoundError, IsADirectoryError):
                    os.unlink(file)


@contextmanager
def during(attack: Callable[..., None], *arguments: object):
    """Runs the attack in a thread while the block runs."""
    stop, errors = Event(), []

    def run() -> None:
        try:
            attack(*arguments, stop)
        except OSError as error:
            errors.append(error)

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    assert not errors, errors
