# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the programs that the other scripts run; those next to this interpreter come first."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from paths import BUILD, staged_package


def search_path() -> str:
    """PATH with the interpreter's folder first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def cmake() -> str | None:
    return find_program("cmake", "cmake", "data/bin/cmake")


def ctest() -> str | None:
    return find_program("ctest", "cmake", "data/bin/ctest")


def ninja() -> str | None:
    return find_program("ninja", "ninja", "data/bin/ninja")


def find_program(program: str, package: str, path_in_package: str) -> str | None:
    """The program on search_path(), else in the Python package, else beside it, else None."""
    if on_path := shutil.which(program, path=search_path()):
        return on_path
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec and spec.submodule_search_locations else []
    candidates = [Path(folder, path_in_package) for folder in folders]
    # `pip install --target` puts programs into the folder bin beside the packages.
    candidates += [Path(folder).parent / "bin" / program for folder in folders]
    return next((str(path) for path in candidates if os.access(path, os.X_OK)), None)


def environment(preset: str | None = None) -> dict[str, str]:
    """The environment for child processes; with a preset, its Python package is on PYTHONPATH."""
    env = {**os.environ, "PATH": search_path()}
    if preset:
        env["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(staged_package(preset)), os.environ.get("PYTHONPATH")])
        )
        env["SPANWISE_BUILD_DIR"] = str(BUILD / preset)
    return env
