# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Configures (when needed) and builds a preset: build.py PRESET [TARGET...]"""

import json
import os
import subprocess
import sys

from paths import BUILD, GOOGLETEST, ROOT, python_headers
from tools import cmake, environment, ninja


def build(preset: str, targets: list[str]) -> None:
    configure(preset)
    command = [cmake(), "--build", f"build/{preset}", "--parallel", str(jobs())]
    if targets:
        command += ["--target", *targets]
    if subprocess.run(command, cwd=ROOT, env=environment()).returncode != 0:
        raise SystemExit(f"spanwise: the build of preset {preset} failed (see above)")


def configure(preset: str) -> None:
    """Runs CMake unless the build folder was configured with the same arguments."""
    arguments = cache_arguments()
    stamp = BUILD / preset / "configured-with.json"
    configuration = json.dumps(arguments, indent=1)
    if (
        stamp.is_file()
        and stamp.read_text() == configuration
        and (BUILD / preset / "build.ninja").is_file()
    ):
        return
    command = [cmake(), "--preset", preset, "--fresh", *arguments]
    process = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if process.returncode != 0:
        print(process.stdout)
        raise SystemExit(f"spanwise: CMake could not configure preset {preset} (see above)")
    stamp.write_text(configuration)


def cache_arguments() -> list[str]:
    arguments = [f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_MAKE_PROGRAM={ninja()}"]
    if headers := python_headers():
        arguments.append(f"-DPython_INCLUDE_DIR={headers}")
    if source := os.environ.get("SPANWISE_GTEST_SOURCE"):
        arguments.append(f"-DSPANWISE_GTEST_SOURCE={source}")
    elif GOOGLETEST.exists():
        arguments.append(f"-DSPANWISE_GTEST_SOURCE={GOOGLETEST}")
    return arguments


def jobs() -> int:
    return int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or len(os.sched_getaffinity(0)))


if __name__ == "__main__":
    build(sys.argv[1], sys.argv[2:])
