# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise cache``: what the disk cache of compiled kernels holds, and copies of it."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path

from .. import _core

# The files of an entry: its metadata, its binary, and a second name.
_FILE = re.compile(r"([0-9a-f]{64})(\.entry|\.alias|-[0-9a-f]{16}\.bin)")
_MAX_FILE_BYTES = 1 << 30


def _files(folder: Path) -> dict[str, list[Path]]:
    """The files of each key."""
    groups: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        match = _FILE.fullmatch(path.name)
        if match and path.is_file() and not path.is_symlink():
            groups.setdefault(match[1], []).append(path)
    return groups


def _info() -> None:
    cache = _core.kernel_cache.info()
    print(f"{cache.path}: {cache.entries} entries, {cache.bytes / 2**20:.1f} MiB")
    if cache.problem:
        print(f"    not kept: {cache.problem}")
    for layer in filter(None, _core._config_get("cache_layers").split(":")):
        groups = _files(Path(layer) / "kernels")
        size = sum(path.stat().st_size for files in groups.values() for path in files)
        print(f"{layer}: layer, {len(groups)} entries and aliases, {size / 2**20:.1f} MiB")


def _export(target: str) -> None:
    groups = _files(Path(_core.kernel_cache.path))
    with tarfile.open(target, "w:gz") as archive:
        for files in groups.values():
            for path in files:
                archive.add(path, path.name)
    print(f"{target}: {sum(map(len, groups.values()))} files of {len(groups)} keys")


def _import(source: str) -> None:
    """Adds the files of an archive. The binaries are verified when they are loaded."""
    folder = Path(_core.kernel_cache.path)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    count = 0
    with tarfile.open(source, "r:*") as archive:
        # Binaries first: an entry names its binary.
        members = sorted(archive.getmembers(), key=lambda member: not member.name.endswith(".bin"))
        for member in members:
            if not (_FILE.fullmatch(member.name) and member.isfile()):
                raise _core.ArgumentError(
                    f"cache import: {source}: expected files that python -m spanwise cache export has "
                    f"written, got {member.name!r}; nothing after it was imported"
                )
            contents = archive.extractfile(member)
            if contents is None or member.size > _MAX_FILE_BYTES:
                raise _core.ArgumentError(f"cache import: {source}: {member.name} is too large")
            temporary = folder / f".{member.name}.{os.getpid()}.tmp"
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(contents.read())
            temporary.replace(folder / member.name)
            count += 1
    print(f"{folder}: {count} files imported")


def _prune(days: float | None, mebibytes: float | None) -> None:
    """Removes the entries that were last used longest ago."""
    groups = {
        key: (max(path.stat().st_mtime for path in files), files)
        for key, files in _files(Path(_core.kernel_cache.path)).items()
    }
    total = sum(path.stat().st_size for _, files in groups.values() for path in files)
    removed = 0
    for used, files in sorted(groups.values()):
        is_old = days is not None and used < time.time() - days * 86400
        if not is_old and (mebibytes is None or total <= mebibytes * 2**20):
            continue
        for path in sorted(files, key=lambda path: path.suffix != ".entry"):  # before its binary
            total -= path.stat().st_size
            path.unlink()
        removed += 1
    print(f"{_core.kernel_cache.path}: {removed} removed, {total / 2**20:.1f} MiB left")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m spanwise cache", description="The disk cache of compiled kernels."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="folders, entries and sizes")
    export = commands.add_parser("export", help="writes an archive with all entries")
    export.add_argument("archive", help="kernels.tar.gz")
    add = commands.add_parser("import", help="adds the entries of an archive; import only yours")
    add.add_argument("archive")
    prune = commands.add_parser("prune", help="removes entries that were not used lately")
    prune.add_argument("--days", type=float, help="those not used for so many days")
    prune.add_argument("--mb", type=float, help="the oldest, until so many MiB are left")
    given = parser.parse_args(arguments)
    try:
        if given.command == "info":
            _info()
        elif given.command == "export":
            _export(given.archive)
        elif given.command == "import":
            _import(given.archive)
        else:
            _prune(given.days, given.mb)
    except (OSError, tarfile.TarError, _core.Error) as error:
        print(f"spanwise cache: {error}", file=sys.stderr)
        return 1
    return 0
