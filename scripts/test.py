# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests of the release build; with SANITIZE=1 also tests under the sanitizers. "quick"
selects those of the core, arrays and bridges.

Each step runs even if an earlier one failed.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import asan_python
from build import build
from cxx_tests import cxx_tests_pass
from python_tests import python_tests_pass

RELEASE = "release"
SANITIZERS = ("asan", "tsan")


@dataclass
class Step:
    name: str
    passed: bool
    seconds: float


#: What "quick" selects.
QUICK_PROGRAMS = "^(core|runtime|bridges)_"
QUICK_FOLDERS = ("tests/python/array", "tests/bridges")


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["quick"]):
        raise SystemExit(f"usage: test.py [quick]\ngot {' '.join(arguments)}")
    cxx_options = ("-R", QUICK_PROGRAMS) if arguments else ()
    folders = QUICK_FOLDERS if arguments else ()
    presets = SANITIZERS if os.environ.get("SANITIZE", "0") not in ("", "0") else ()
    steps = [run_step(f"C++ tests ({RELEASE})", lambda: cxx_tests_pass(RELEASE, *cxx_options))]
    steps.append(run_step("Python tests", lambda: python_tests_pass(RELEASE, *folders)))
    for preset in presets:
        build(preset, [])
        steps.append(
            run_step(f"C++ tests ({preset})", lambda preset=preset: cxx_tests_pass(preset))
        )
    if presets:
        name = f"Python tests ({asan_python.PRESET})"
        steps.append(run_step(name, asan_python.asan_python_tests_pass))
    print("\nSummary")
    for step in steps:
        print(f"  {'passed' if step.passed else 'FAILED'}  {step.name}, {step.seconds:.0f} s")
    return 0 if all(step.passed for step in steps) else 1


def run_step(name: str, tests_pass: Callable[[], bool]) -> Step:
    print(f"\n== {name}", flush=True)
    begin = time.monotonic()
    passed = tests_pass()
    return Step(name, passed, time.monotonic() - begin)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
