# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the C++ tests in parallel, for test.py and gpu_report.py."""

import subprocess

from paths import BUILD, ROOT
from tools import ctest, environment
from workers import GIB, workers

# Upper bounds of one test process: arrays under a sanitizer; a CUDA context and its pool.
HOST_MEMORY = 2 * GIB
GPU_MEMORY = 10 * GIB


def cxx_tests_pass(preset: str, *options: str) -> bool:
    """Runs ctest and returns whether all tests passed. Prints the reason if none were built because
    GoogleTest is not installed."""
    left_out = BUILD / preset / "cxx-tests-left-out.txt"
    if left_out.is_file():
        print(left_out.read_text())
    command = [
        ctest(),
        *("--preset", preset),
        *("--parallel", str(workers(HOST_MEMORY, GPU_MEMORY))),
        "--no-tests=ignore" if left_out.is_file() else "--no-tests=error",
        *map(str, options),
    ]
    return subprocess.run(command, cwd=ROOT, env=environment(preset)).returncode == 0
