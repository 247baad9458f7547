# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs Python tests with the package built by the preset asan-python: AddressSanitizer and UBSan.

asan_python.py [PYTEST_ARGUMENT...]; without arguments it runs the tests in TESTS.
"""

import os
import subprocess
import sys

from build import build
from python_tests import python_tests_pass

PRESET = "asan-python"
TESTS = ("tests/python", "tests/bridges", "tests/addons")


def asan_python_tests_pass(*arguments: str) -> bool:
    """Builds the preset, runs the tests and returns whether all passed."""
    build(PRESET, [])
    # Python itself is not instrumented, so the run-time library of the sanitizers is preloaded. It
    # looks up __cxa_throw when it starts, so libstdc++, which defines it, is preloaded too.
    libraries = [runtime_library("libasan.so"), runtime_library("libstdc++.so")]
    variables = {
        "LD_PRELOAD": " ".join(libraries),
        # detect_leaks: the interpreter never frees some of its memory. CONTRIBUTING.md explains
        # intercept_tls_get_addr. allocator_may_return_null: tests check allocations that fail.
        "ASAN_OPTIONS": "detect_leaks=0:intercept_tls_get_addr=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    return python_tests_pass(PRESET, *(arguments or TESTS), variables=variables)


def runtime_library(name: str) -> str:
    """The path of a library that belongs to the C++ compiler."""
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(path):
        raise SystemExit(
            f"spanwise: {compiler} has no {name}; expected g++ with the libraries of its sanitizers"
        )
    return path


if __name__ == "__main__":
    raise SystemExit(0 if asan_python_tests_pass(*sys.argv[1:]) else 1)
