# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The installed build under test, and projects outside the tree that are built against it."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.tree import BUILD, ROOT


def run(*command, **kwargs) -> str:
    """The output of the command; fails with its output if the command fails."""
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **kwargs
    )
    output = f"exit status {result.returncode}\n{result.stdout}{result.stderr}"
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{output}"
    return result.stdout


def run_in_scripts(program: str) -> str:
    """The output of a Python program that imports modules of scripts/."""
    return run(sys.executable, "-c", program, cwd=ROOT / "scripts")


def cached(variable: str) -> str | None:
    """A cache variable of the build under test, whose tools need not be on PATH."""
    text = (BUILD / "CMakeCache.txt").read_text()
    found = re.search(rf"^{variable}:\w+=(.*)$", text, re.MULTILINE)
    return found[1] if found else None


def python_options() -> list[str]:
    """Options of CMake for this interpreter and the headers with which the build was configured."""
    headers = cached("Python_INCLUDE_DIR")
    options = [f"-DPython_EXECUTABLE={sys.executable}"]
    return [*options, f"-DPython_INCLUDE_DIR={headers}"] if headers else options


def install(prefix: Path) -> Path:
    """Installs the build. Skips the test if the package under test was not built by CMake."""
    if not (BUILD / "CMakeCache.txt").exists():
        pytest.skip(f"{BUILD} is no build of CMake")
    run(cached("CMAKE_COMMAND"), "--install", BUILD, "--prefix", prefix)
    return prefix


def build(project: Path, folder: Path, prefix: Path, *options: str) -> None:
    """Configures and builds a project that finds Spanwise under `prefix`."""
    cmake = cached("CMAKE_COMMAND")
    generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={cached('CMAKE_MAKE_PROGRAM')}"]
    run(cmake, "-S", project, "-B", folder, *generator, f"-Dspanwise_ROOT={prefix}", *options)
    run(cmake, "--build", folder)


def run_without_compilers(
    tmp_path: Path, code: str, python: str | Path = sys.executable, **environment: str
) -> str:
    """The output of a program on a machine without compilers, GPUs and cached kernels: no program is
    found, and of CUDA's libraries only those in /usr/local/cuda and in wheels. With CUDA_VISIBLE_DEVICES=
    of the caller's the GPUs are there."""
    empty = tmp_path / "empty"
    empty.mkdir(exist_ok=True)
    hidden = {
        "PATH": str(empty),
        "SPANWISE_CACHE_DIR": str(tmp_path / "cache"),
        "SPANWISE_CUDA_LIBRARY_PATH": str(empty),
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **environment,
    }
    inherited = {k: v for k, v in os.environ.items() if k not in ("CXX", "CUDA_HOME")}
    command = [python, "-c", textwrap.dedent(code)]
    return run(*command, env={**inherited, **hidden}, cwd=tmp_path)
