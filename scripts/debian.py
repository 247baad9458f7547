# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Downloads and unpacks Debian packages into .cache, without root and without installing them."""

import shutil
import subprocess
from pathlib import Path

from paths import CACHE


class MissingDependency(Exception):
    """A missing dependency that only root can install."""

    def __init__(self, dependency: str, package: str):
        super().__init__(
            f"{dependency} is missing on this machine. Remedy: sudo apt-get install {package}"
        )


def can_unpack() -> bool:
    """Whether the machine has the programs that unpack() runs."""
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))


def unpack(package: str, needed_for: str) -> Path:
    """The folder with the package's files, downloaded by the first call.

    Raises MissingDependency, whose text names `needed_for`, if they cannot be downloaded.
    """
    folder = CACHE / "debian" / package
    if folder.is_dir():
        return folder
    if not can_unpack():
        raise MissingDependency(needed_for, package)
    downloads = CACHE / "debian" / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    # The system's package lists may be missing or outdated; then fetch private ones.
    if not _try_download(package, downloads, lists=None):
        lists = CACHE / "debian" / "lists"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        _try_apt(["update"], downloads, lists)
        if not _try_download(package, downloads, lists):
            raise MissingDependency(needed_for, package)
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    archive = max(downloads.glob(f"{package}_*.deb"), key=lambda path: path.stat().st_mtime)
    subprocess.run(["dpkg-deb", "--extract", archive, partial], check=True)
    partial.rename(folder)
    return folder


def _try_download(package: str, downloads: Path, lists: Path | None) -> bool:
    return _try_apt(["download", package], downloads, lists) and any(
        downloads.glob(f"{package}_*.deb")
    )


def _try_apt(arguments: list[str], downloads: Path, lists: Path | None) -> bool:
    """Runs apt-get in `downloads`, with the package lists in `lists` or the system's."""
    # Without a sandbox user: apt's own may not be allowed to write to `downloads`.
    options = ["-qq", "-o", "APT::Sandbox::User="]
    if lists:
        # The system's lock and cache are writable by root only.
        options += ["-o", f"Dir::State::Lists={lists}", "-o", "Debug::NoLocking=true"]
        options += ["-o", f"Dir::Cache={lists}", "-o", "Dir::Cache::Archives=."]
    command = ["apt-get", *options, *arguments]
    return subprocess.run(command, cwd=downloads, capture_output=True).returncode == 0
