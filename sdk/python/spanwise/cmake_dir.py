# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise cmake-dir``: prints the folder of spanwise-config.cmake."""

from __future__ import annotations

import sys
from pathlib import Path


def find(package: Path) -> Path | None:
    """The folder of spanwise-config.cmake below an installed `package`; None in a build tree."""
    folder = package / "lib" / "cmake" / "spanwise"
    return folder if (folder / "spanwise-config.cmake").is_file() else None


def main(arguments: list[str]) -> int:
    """Prints the folder and returns 0, or prints an error and returns 1."""
    folder = find(Path(__file__).resolve().parent)
    if folder is None:
        print(
            "spanwise: this build has no CMake package beside it; install it (python -m pip install .), or run "
            "cmake --install <build> --prefix <folder> and set spanwise_ROOT to that folder",
            file=sys.stderr,
        )
        return 1
    print(folder)
    return 0
