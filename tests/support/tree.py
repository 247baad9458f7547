# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of this checkout, and the build that is being tested."""

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SPANWISE_BUILD_DIR", ROOT / "build" / "release"))


@functools.cache
def project_files() -> tuple[Path, ...]:
    """All files that git tracks or would track, relative to ROOT."""
    listed = git_listing()
    names = files_without_git() if listed is None else listed
    return tuple(sorted(name for name in names if (ROOT / name).is_file()))


def git_listing() -> set[Path] | None:
    """The files that git lists, or None if git is missing or does not track this folder."""
    git = shutil.which("git")
    if git is None:
        return None
    # The checkout may belong to another user, for example a mounted one; listing executes nothing in it.
    command = [git, "-c", f"safe.directory={ROOT}"]
    command += ["ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        return None
    return {Path(name) for name in listing.stdout.splitlines()}


def files_without_git() -> set[Path]:
    """All files of an unpacked archive, which has no git listing, except outputs of building and
    testing."""
    paths = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
    return {path for path in paths if not any(map(is_output, path.parent.parts))}


def is_output(folder: str) -> bool:
    """Whether a folder of this name has outputs of building and testing, not parts of the project,
    such as .ci."""
    return folder in ("build", "dist", "__pycache__") or (
        folder.startswith(".") and folder != ".ci"
    )


def tree_files(folders: Sequence[str], suffixes: Sequence[str]) -> list[Path]:
    """The project's files below `folders` that end in one of `suffixes` (".py"), relative to
    ROOT."""
    return [
        file
        for file in project_files()
        if file.suffix in suffixes and any(file.is_relative_to(folder) for folder in folders)
    ]
