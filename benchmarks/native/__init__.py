# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""C++ peers, compiled when a line needs them."""

import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness import Unavailable

FOLDER = pathlib.Path(__file__).resolve().parent


def build(name: str, *, keeps_gil: bool = False) -> ctypes.CDLL:
    """native/<name>.cpp as a shared library, built with the system's compiler; `keeps_gil` for
    functions that touch Python objects."""
    with tempfile.TemporaryDirectory() as folder:
        return (ctypes.PyDLL if keeps_gil else ctypes.CDLL)(str(compile_into(folder, name)))


def compile_into(folder: str, name: str, *options: str) -> pathlib.Path:
    """Compiles the library into `folder` and returns its path; `options` follow the default ones."""
    compiler = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("clang++")
    if compiler is None:
        raise Unavailable("no C++ compiler found (looked for CXX, g++, clang++)")
    library = pathlib.Path(folder) / f"{name}.so"
    command = [compiler, "-std=c++17", "-O3", "-march=native", "-fPIC", "-shared", *options]
    subprocess.run([*command, FOLDER / f"{name}.cpp", "-o", library, "-ldl"], check=True)
    return library
