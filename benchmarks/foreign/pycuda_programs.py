# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs PyCUDA's own examples and tests through spanwise.pycuda, or with PyCUDA itself.

python benchmarks/foreign/pycuda_programs.py CHECKOUT [--only PART] [--skip PART] [--peer]
                                  [--processes N] [--seconds S] [--large] [--json FILE]

CHECKOUT is a clone of inducer/pycuda, of which only the examples and tests are used. --only selects
"examples", "tests" or examples by a part of their names, --skip leaves examples out. --peer runs with
PyCUDA itself, after importing pycuda.autoinit, which many examples lack. The examples also need
pytools, jinja2, cgen and codepy. --large includes tests that need up to 17 GB.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ARGUMENTS = {"mandelbrot.py": ["gpu"], "game_of_life.py": ["128", "1"]}
ALONE = ("fill_gpu_with_nans.py",)  # uses all the memory of the GPU
# These run until they are stopped, and pass if they have printed no error by then.
ENDLESS = ("game_of_life.py",)
# An expression for pytest -k that leaves out tests which need up to 17 GB.
WITHOUT_LARGE = "not 8gb and not 16gb and not big_array"
TESTS = ("test_gpuarray.py", "test_cumath.py", "test_driver.py")
ENVIRONMENT = {**os.environ, "MPLBACKEND": "Agg"}
FACADE = ["-m", "spanwise.pycuda"]
PEER = """import pycuda.autoinit, runpy, sys
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")"""


def error_line(text):
    """The last line of a traceback that names an exception, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return (named or lines or [""])[-1][:160]


def matrix(folder):
    """A file for sparse_solve.py: a symmetric positive definite matrix of 400 rows."""
    entries = [f"{i} {i} 4" for i in range(1, 401)] + [f"{i + 1} {i} -1" for i in range(1, 400)]
    head = "%%MatrixMarket matrix coordinate real symmetric\n400 400 799\n"
    path = Path(folder) / "matrix.mtx"
    path.write_text(head + "\n".join(entries) + "\n")
    return str(path)


def run_example(file, options):
    """(outcome, line of its error) of one example, started in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = (
            [matrix(folder)] if file.name == "sparse_solve.py" else ARGUMENTS.get(file.name, [])
        )
        runner = ["-c", PEER] if options.peer else FACADE
        command = [sys.executable, *runner, str(file), *arguments]
        try:
            process = subprocess.run(
                command,
                cwd=folder,
                input="\n" * 3,  # empty lines for examples that read from the terminal
                env=ENVIRONMENT,
                capture_output=True,
                text=True,
                timeout=20 if file.name in ENDLESS else options.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as stopped:
            error = error_line((stopped.stderr or b"").decode())
            is_running = file.name in ENDLESS and "Error" not in error
            return ("pass", "endless, stopped") if is_running else ("time limit", error)
    return ("pass", "") if process.returncode == 0 else ("fail", error_line(process.stderr))


def run_examples(options):
    folder = options.checkout / "examples"
    files = [
        file
        for file in sorted(folder.rglob("*.py"))
        if options.only in ("", "examples") or options.only in file.name
    ]
    files = [file for file in files if not options.skip or options.skip not in file.name]
    with ThreadPoolExecutor(options.processes) as pool:
        futures = {f: pool.submit(run_example, f, options) for f in files if f.name not in ALONE}
        results = {file: future.result() for file, future in futures.items()}
    results.update((file, run_example(file, options)) for file in files if file.name in ALONE)
    return {str(file.relative_to(folder)): results[file] for file in files}


def run_part(tests, options):
    """[(file, outcome, name, message)] of some tests, run in one process."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, *options.facade, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-W", "ignore", "--tb=line", f"--junit-xml={report}", *tests]
        process = subprocess.run(
            command,
            cwd=options.checkout,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            return [("", "crash", tests[0], process.stdout[-300:] + process.stderr[-300:])]
        cases = []
        for case in ElementTree.parse(report).iter("testcase"):
            element = next((child for child in case if child.tag != "system-out"), None)
            outcome = "passed" if element is None else element.tag
            if outcome == "skipped" and "xfail" in element.get("type", ""):
                outcome = "expected failure"
            file = next(f for f in TESTS if f[:-3] in case.get("classname"))
            message = "" if element is None else (element.get("message") or "")[:200]
            cases.append((file, outcome, case.get("name"), message))
        return cases


def run_tests(options):
    """{file: {outcome: count}} and the tests that did not pass."""
    files = [f"test/{name}" for name in TESTS]
    select = [] if options.large else ["-k", WITHOUT_LARGE]
    listing = subprocess.run(
        [sys.executable, *options.facade, "-m", "pytest", "--collect-only", "-q", *select, *files],
        cwd=options.checkout,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    tests = [line for line in listing.stdout.splitlines() if "::" in line]
    if not tests:
        raise SystemExit(listing.stdout + listing.stderr)
    parts = [tests[i :: options.processes] for i in range(options.processes)]
    with ThreadPoolExecutor(options.processes) as pool:
        cases = [case for part in pool.map(lambda p: run_part(p, options), parts) for case in part]
    counts = collections.defaultdict(collections.Counter)
    for file, outcome, _, _ in cases:
        counts[file][outcome] += 1
    return {"counts": counts, "others": [case for case in sorted(cases) if case[1] != "passed"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=lambda path: Path(path).resolve())
    parser.add_argument("--only", default="")
    parser.add_argument("--skip", default="")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.facade = [] if options.peer else FACADE
    report = {}
    if options.only != "tests":
        report["examples"] = run_examples(options)
        for name, result in report["examples"].items():
            print(f"| {name} | {' | '.join(result)} |", flush=True)
    if options.only in ("", "tests"):
        report["tests"] = run_tests(options)
        for case in report["tests"]["others"]:
            print("|".join(case).replace("\n", " "))
        print({file: dict(counts) for file, counts in report["tests"]["counts"].items()})
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
