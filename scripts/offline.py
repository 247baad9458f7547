# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the dependencies for OFFLINE=1 are installed: offline.py build test ...

Lists all missing ones in one message.
"""

import importlib
import os
import shutil
import sys

from paths import cuda_headers, cuda_headers_of_wheels, python_headers
from tools import cmake, ninja

MODULES = {
    "build": ["pybind11", "numpy"],
    "test": ["pytest", "hypothesis"],
    # Without IMAGE the demo uses a picture that matplotlib contains.
    "demo": ["PIL"] if os.environ.get("IMAGE") else ["PIL", "matplotlib"],
    "lint": ["ruff", "mypy"],
    "coverage": ["coverage"],
    "peers": [],
}


def main(groups: list[str]) -> None:
    missing = [
        f"Python package {name}" for group in groups for name in MODULES[group] if not has(name)
    ]
    if "build" in groups:
        missing += missing_build_tools()
    if missing:
        raise SystemExit(
            f"spanwise: OFFLINE=1 uses {sys.executable} as it is, and this is missing:\n  "
            + "\n  ".join(missing)
        )


def missing_build_tools() -> list[str]:
    missing = []
    if not cmake():
        missing.append("cmake >= 3.25, on PATH or as Python package")
    if not ninja():
        missing.append("ninja, on PATH or as Python package")
    if not (shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")):
        missing.append("a C++20 compiler: g++ >= 12 or clang >= 14")
    if not python_headers():
        missing.append(
            "Python.h: this interpreter's headers, or SPANWISE_PYTHON_INCLUDE=their folder"
        )
    if not (cuda_headers() or cuda_headers_of_wheels()):
        missing.append("cuda.h: a CUDA toolkit (CUDA_HOME), or Python package nvidia-cuda-runtime")
    if has("pybind11") and importlib.import_module("pybind11").version_info[0] < 3:
        missing.append("Python package pybind11 >= 3 (an older one is installed)")
    return missing


def has(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1:])
