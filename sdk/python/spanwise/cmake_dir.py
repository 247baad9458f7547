# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise cmake-dir``: where find_package(spanwise) of CMake finds this installation."""

from __future__ import annotations

import sys
from pathlib import Path


def find(package: Path) -> Path | None:
    """In a wheel below the package's folder; None for a checkout's build, which is not installed."""
    folder = package / "lib" / "cmake" / "spanwise"
    return folder if (folder / "spanwise-config.cmake").is_file() else None


def main(arguments: list[str]) -> int:
    """Prints the folder; 1 where there is none."""
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
