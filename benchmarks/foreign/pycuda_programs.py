# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs PyCUDA's own examples and tests through spanwise.pycuda.

python benchmarks/foreign/pycuda_programs.py CHECKOUT [PART ...]

CHECKOUT is a clone of inducer/pycuda, of which only the examples and tests are used. PART selects
examples by a part of their names. The examples also need pytools, jinja2, cgen and codepy.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 120
ARGUMENTS = {"mandelbrot.py": ["gpu"], "game_of_life.py": ["128", "1"]}


def error_line(text):
    """The last line of a traceback that names an exception, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return (named or lines or [""])[-1][:160]


def run_example(file):
    """(outcome, line of its error) of one example, started in its folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "spanwise.pycuda",
            str(file),
            *ARGUMENTS.get(file.name, []),
        ]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                input="\n" * 3,
                env={**os.environ, "MPLBACKEND": "Agg"},
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "time limit", f"still running after {SECONDS} s"
    return ("pass", "") if done.returncode == 0 else ("fail", error_line(done.stderr))


def run_tests(checkout):
    """pytest's report of PyCUDA's test files."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "spanwise.pycuda.install"]
    command += [
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "-k",
        "not 8gb and not 16gb and not big_array",
    ]
    files = [f"test/test_{name}.py" for name in ("gpuarray", "cumath", "driver")]
    subprocess.run([*command, "--tb=line", *files], cwd=checkout, check=False)


def main(checkout, *parts):
    examples = Path(checkout).resolve() / "examples"
    for file in sorted(examples.rglob("*.py")):
        name = str(file.relative_to(examples))
        if not parts or any(part in name for part in parts):
            print(f"| {name} | {' | '.join(run_example(file))} |", flush=True)
    if not parts:
        run_tests(checkout)


if __name__ == "__main__":
    main(*sys.argv[1:])
