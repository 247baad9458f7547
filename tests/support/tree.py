# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of this checkout, and the build that is being tested."""

import functools
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SPANWISE_BUILD_DIR", ROOT / "build" / "release"))


@functools.cache
def project_files() -> tuple[Path, ...]:
    """All files that git tracks or would track, relative to ROOT."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listing.returncode == 0:
        names = {Path(name) for name in listing.stdout.splitlines()}
    else:  # an unpacked archive; build outputs are all in hidden folders or in build/
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        skip = ("build", "dist", ".venv", ".cache", ".git", "__pycache__")
        names = {path for path in found if not set(path.parts) & set(skip)}
    return tuple(sorted(name for name in names if (ROOT / name).is_file()))


def tree_files(folders: Sequence[str], suffixes: Sequence[str]) -> list[Path]:
    return [
        file
        for file in project_files()
        if file.suffix in suffixes and any(file.is_relative_to(folder) for folder in folders)
    ]
