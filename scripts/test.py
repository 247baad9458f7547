# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests of the release build; with SANITIZE=1 also tests under the sanitizers.

Each step runs even if an earlier one failed.
"""

import os
import time
from dataclasses import dataclass

import asan_python
from cxx_tests import cxx_tests
from python_tests import python_tests

from build import build

RELEASE = "release"
SANITIZERS = ("asan", "tsan")


@dataclass
class Step:
    name: str
    passed: bool
    seconds: float


def main() -> int:
    presets = SANITIZERS if os.environ.get("SANITIZE", "0") not in ("", "0") else ()
    steps = [step(f"C++ tests ({RELEASE})", lambda: cxx_tests(RELEASE))]
    steps.append(step("Python tests", lambda: python_tests(RELEASE)))
    for preset in presets:
        build(preset, [])
        steps.append(step(f"C++ tests ({preset})", lambda preset=preset: cxx_tests(preset)))
    if presets:
        steps.append(step(f"Python tests ({asan_python.PRESET})", asan_python.asan_python))
    print("\nSummary")
    for done in steps:
        print(f"  {'passed' if done.passed else 'FAILED'}  {done.name}, {done.seconds:.0f} s")
    return 0 if all(done.passed for done in steps) else 1


def step(name: str, run) -> Step:
    print(f"\n== {name}", flush=True)
    begin = time.monotonic()
    passed = run()
    return Step(name, passed, time.monotonic() - begin)


if __name__ == "__main__":
    raise SystemExit(main())
