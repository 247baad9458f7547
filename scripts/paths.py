# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The paths that the scripts use."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CACHE = ROOT / ".cache"
VENV = ROOT / ".venv"

# Fetched by bootstrap.py if the machine lacks them.
PYTHON_HEADERS = CACHE / f"python{sys.version_info.major}.{sys.version_info.minor}-headers"
GOOGLETEST = CACHE / "debian" / "googletest" / "usr" / "src" / "googletest"


def staged_package(preset: str) -> Path:
    """The folder for PYTHONPATH to import the package built by the preset."""
    return BUILD / preset / "python"


def python_headers() -> Path | None:
    """The folder of Python.h: $SPANWISE_PYTHON_INCLUDE, this interpreter's, or the fetched one."""
    chosen = os.environ.get("SPANWISE_PYTHON_INCLUDE") or sysconfig.get_path("include")
    folders = (Path(chosen), PYTHON_HEADERS)
    return next((folder for folder in folders if (folder / "Python.h").is_file()), None)


def cuda_headers() -> Path | None:
    """The folder of cuda.h in a CUDA toolkit; same search order as cmake/FindCudaHeaders.cmake."""
    roots = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")]
    roots.append("/usr/local/cuda")
    if nvcc := shutil.which("nvcc"):
        roots.append(str(Path(nvcc).resolve().parent.parent))
    for root in filter(None, roots):
        for header in (Path(root, "include/cuda.h"), *Path(root).glob("targets/*/include/cuda.h")):
            if header.is_file():
                return header.parent
    return None


def cuda_headers_of_wheels() -> Path | None:
    """The folder of cuda.h in the nvidia-cuda-runtime wheel of this interpreter."""
    for entry in sys.path:
        for header in Path(entry or ".").glob("nvidia/*/include/cuda.h"):
            return header.parent
    return None
