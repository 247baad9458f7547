# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs whose process ends, forks or starts an interpreter while threads are inside the library.

    PYTHONPATH=build/release/python:tests python -m fuzz.processes --count 1000 --processes 2

Each program `program_*.py` beside this file runs `--count` times (`--only fork,daemon_threads` for some of
them) and must end with its exit status, in time, with nothing on its standard error.
"""

from __future__ import annotations

import argparse
import collections
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAMS = Path(__file__).parent
#: The exit status of a successful program if it is not 0. daemon_threads calls sys.exit(3), and
#: that status must not be replaced by a crash.
EXPECTED_STATUS = {"daemon_threads": 3}
#: In seconds, far more than a run needs: a run that takes longer hangs.
TIMEOUT = 120.0


def program_names() -> list[str]:
    return sorted(file.stem.removeprefix("program_") for file in PROGRAMS.glob("program_*.py"))


def problem_of(name: str) -> str | None:
    """The problem of one run of the program, or None."""
    command = [sys.executable, str(PROGRAMS / f"program_{name}.py")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            _, errors = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"{name}: did not end within {TIMEOUT:g} s"
    if process.returncode == EXPECTED_STATUS.get(name, 0) and errors == "":
        return None
    return f"{name}: exit status {process.returncode}, standard error {errors[-2000:]!r}"


def run_many(name: str, count: int, processes: int) -> collections.Counter[str]:
    """Runs the program `count` times; counts the runs by problem."""
    with ThreadPoolExecutor(processes) as pool:
        problems = pool.map(problem_of, [name] * count)
        return collections.Counter(problem for problem in problems if problem is not None)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.processes")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default=",".join(program_names()))
    arguments = parser.parse_args()
    total = 0
    for name in arguments.only.split(","):
        problems = run_many(name, arguments.count, arguments.processes)
        total += problems.total()
        print(f"{name}: {arguments.count} runs, {problems.total()} problems", flush=True)
        for problem, times in problems.most_common():
            print(f"  {times} x {problem}", flush=True)
    return 1 if total else 0


if __name__ == "__main__":
    raise SystemExit(main())
