# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""C++ alone: what is installed can be found, compiled against and run by another CMake project."""

import re
import subprocess
from pathlib import Path

from support.tree import BUILD

HERE = Path(__file__).parent


def run(*command) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_a_project_outside_the_tree_builds_and_runs(tmp_path):
    cmake, ninja = cached("CMAKE_COMMAND"), cached("CMAKE_MAKE_PROGRAM")
    prefix, build = tmp_path / "installed", tmp_path / "build"
    run(cmake, "--install", BUILD, "--prefix", prefix)
    # Moved, so that nothing can hold on to where it was installed first.
    prefix = prefix.rename(tmp_path / "moved")
    generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    run(cmake, "-S", HERE, "-B", build, *generator, f"-Dspanwise_ROOT={prefix}")
    run(cmake, "--build", build)
    assert "2 x 1.5 = 3" in run(build / "consumer")


def cached(variable: str) -> str:
    """A value of the build under test: its tools need not be on PATH."""
    text = (BUILD / "CMakeCache.txt").read_text()
    return re.search(rf"^{variable}:\w+=(.*)$", text, re.MULTILINE)[1]
