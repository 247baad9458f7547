# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs tests, compute-sanitizer and benchmarks on a GPU machine and writes one JSON report.

Writes docs/benchmarks/<date>-<device>.json (or --output FILE) and fails if a test or a check
failed. Every step runs even if an earlier one failed.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from cxx_tests import cxx_tests_pass
from paths import BUILD, ROOT, cuda_headers
from python_tests import python_tests_pass
from reports import report_text
from tools import environment

PRESET = "release"
WORK = BUILD / PRESET / "gpu-report"
PEERS = ("numpy", "torch", "cupy-cuda13x", "cupy-cuda12x", "jax", "jaxlib", "numba", "pycuda")
# Tests for memcheck: all that launch kernels, except those that break a context on purpose in child
# processes.
CXX_KERNEL_TESTS = {
    "backends_test": "Cuda*:-CudaProcess*:CudaFullMemoryProcess*",
    "kernel_expressions_test": "*-*Source*",
    "ops_test": "*-*Source*:*ComplexFunctions*",
}
# Tests for racecheck and synccheck, which are much slower: the library's kernels with shared memory
# and barriers.
CXX_SHARED_MEMORY_TESTS = {
    "backends_test": "CudaCopies*",
    "kernel_expressions_test": "UserKernelsAsOnAGpu*",
    "ops_test": "*ScanKernels*:*ArgMinMaxKernels*:*ProductKernels*:*IndexingKernels*:MaskKernels*:"
    "*ElementwiseTiles*",
}
PYTHON_KERNEL_TESTS = "tests/python/kernels/test_kernels.py"
# Processes that share a C++ program's tests: under a tool the tests are busy on the processor.
SHARDS = 8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--output", type=Path, help="the file to write")
    parser.add_argument("--only", nargs="+", metavar="STEP", help="some of the report's steps")
    options = parser.parse_args()
    output = options.output
    WORK.mkdir(parents=True, exist_ok=True)
    device = gpu()
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "device": device,
        "versions": versions(),
    }
    if output is None:
        name = re.sub(r"[^a-z0-9]+", "-", device["name"].lower()).strip("-")
        output = ROOT / "docs" / "benchmarks" / f"{report['date'][:10]}-{name}.json"
    output.parent.mkdir(parents=True, exist_ok=True)
    steps = {
        "cxx_tests": cxx_tests,
        "python_tests": python_tests,
        "memcheck": memcheck,
        "benchmarks": benchmarks,
        "racecheck": racecheck,
        "synccheck": synccheck,
    }
    if unknown := set(options.only or ()) - set(steps):
        parser.error(f"--only: no step {', '.join(sorted(unknown))}; there are {', '.join(steps)}")
    steps = {step: run for step, run in steps.items() if step in (options.only or steps)}
    for step, run in steps.items():
        begin = time.monotonic()
        report[step] = run()
        report[step]["seconds"] = round(time.monotonic() - begin)
        output.write_text(report_text(report))  # partial report if interrupted
    failed = [step for step in steps if not report[step]["passed"]]
    print(f"\nreport: {output}\n" + (f"FAILED: {', '.join(failed)}" if failed else "all passed"))
    return 1 if failed else 0


def gpu() -> dict:
    fields = ("name", "driver_version", "memory.total", "compute_cap")
    command = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader"]
    try:
        rows = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit("spanwise: gpu-report needs a GPU, and nvidia-smi shows none") from None
    first = dict(zip(fields, (value.strip() for value in rows[0].split(",")), strict=True))
    return {
        "name": first["name"],
        "count": len(rows),
        "driver": first["driver_version"],
        "memory": first["memory.total"],
        "compute_capability": first["compute_cap"],
    }


def commit() -> str:
    """The tested commit: $SPANWISE_COMMIT, for checkouts without history, else from git."""
    if name := os.environ.get("SPANWISE_COMMIT"):
        return name
    command = ["git", "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    described = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return described.stdout.strip() or "unknown"


def versions() -> dict[str, str]:
    result = {"python": platform.python_version(), "system": platform.platform()}
    headers = cuda_headers()
    if headers and (
        match := re.search(r"define CUDA_VERSION (\d+)", (headers / "cuda.h").read_text())
    ):
        # CUDA_VERSION is 1000 * major + 10 * minor.
        result["cuda_headers"] = f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}"
    compiler = os.environ.get("CXX", "c++").split()
    result["compiler"] = subprocess.run(
        [*compiler, "--version"], capture_output=True, text=True
    ).stdout.partition("\n")[0]
    for peer in PEERS:
        try:
            result[peer] = importlib.metadata.version(peer)
        except importlib.metadata.PackageNotFoundError:
            continue
    return result


def cxx_tests() -> dict:
    left_out = BUILD / PRESET / "cxx-tests-left-out.txt"
    if left_out.is_file():
        return {"passed": True, "left_out": left_out.read_text().strip()}
    passed = cxx_tests_pass(PRESET, "--output-junit", WORK / "ctest.xml")
    return {"passed": passed, **junit_summary(WORK / "ctest.xml")}


def python_tests() -> dict:
    passed = python_tests_pass(PRESET, f"--junitxml={WORK / 'pytest.xml'}")
    return {"passed": passed, **junit_summary(WORK / "pytest.xml")}


def memcheck() -> dict:
    return run_under_sanitizer(
        "memcheck", CXX_KERNEL_TESTS, PYTHON_KERNEL_TESTS, "--report-api-errors=no"
    )


def racecheck() -> dict:
    return run_under_sanitizer("racecheck", CXX_SHARED_MEMORY_TESTS)


def synccheck() -> dict:
    return run_under_sanitizer("synccheck", CXX_SHARED_MEMORY_TESTS)


def run_under_sanitizer(tool: str, cxx: dict[str, str], python: str = "", *options: str) -> dict:
    """Runs tests that launch kernels under a tool of compute-sanitizer.

    Passes if the tool reports no error and no test fails. Tests whose expectation does not hold
    under a tool, such as concurrent kernels, skip themselves.
    """
    sanitizer = compute_sanitizer()
    if not sanitizer:
        return {"passed": True, "left_out": "compute-sanitizer was not found"}
    # Only the test process itself is checked. memcheck() also ignores errors of API calls, which
    # tests provoke on purpose.
    command = [sanitizer, f"--tool={tool}", "--target-processes=application-only", *options]
    # Disables the memory free lists: they round sizes up, which hides out-of-bounds accesses.
    env = {**environment(PRESET), "SPANWISE_KEEP_BLOCKS": "0"}
    results = {}
    for name, program, shards in kernel_tests(cxx, python):
        print(f"\n== {tool} {name}", flush=True)
        command_line = [str(part) for part in [*command, *program]]
        with ThreadPoolExecutor(shards) as pool:
            outputs = list(pool.map(partial(run_shard, command_line, env, shards), range(shards)))
        # A process without tests reaches no call that the tool checks, and has no summary.
        outputs = [output for output in outputs if "[  PASSED  ] 0 tests" not in output]
        verdicts = [verdict(output) for output in outputs]
        for output, shard in zip(outputs, verdicts, strict=True):
            # Of a failure the last characters, which have the failed tests and the tool's summary.
            print(output[-4000:] if not shard["passed"] else shard)
        results[name] = combined(verdicts)
    if not results:
        return {"passed": True, "left_out": "no kernel tests were built"}
    return {"passed": all(result["passed"] for result in results.values()), **results}


def run_shard(command: list[str], env: dict[str, str], shards: int, index: int) -> str:
    """The output of one of `shards` processes, each of which runs a part of the tests."""
    part = {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(index)}
    process = subprocess.run(command, cwd=ROOT, env=env | part, text=True, capture_output=True)
    return process.stdout


def verdict(output: str) -> dict:
    """Whether a test program passed under compute-sanitizer, from the output of both."""
    # racecheck: "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
    summary = re.search(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (.*)$", output, re.MULTILINE)
    ran = re.search(r"^\[  PASSED  \] (\d+) tests?|\b(\d+) passed\b", output, re.MULTILINE)
    failed = re.findall(r"^(?:\[  FAILED  \]|FAILED|ERROR) (\S*[.:]\S+)", output, re.MULTILINE)
    return {
        "passed": bool(
            ran and summary and re.match("0 (errors|hazards)", summary[1]) and not failed
        ),
        "summary": summary[1] if summary else "no summary",
        "tests_passed": int(ran[1] or ran[2]) if ran else 0,
        "tests_failed": sorted({name.rstrip(",") for name in failed}),
    }


def combined(verdicts: list[dict]) -> dict:
    return {
        "passed": bool(verdicts) and all(shard["passed"] for shard in verdicts),
        "summary": "; ".join(sorted({shard["summary"] for shard in verdicts})),
        "tests_passed": sum(shard["tests_passed"] for shard in verdicts),
        "tests_failed": sorted(name for shard in verdicts for name in shard["tests_failed"]),
    }


def kernel_tests(cxx: dict[str, str], python: str) -> Iterator[tuple[str, list, int]]:
    """Name, command and number of processes of each program."""
    for name, tests in cxx.items():
        program = BUILD / PRESET / "tests" / name
        if program.is_file():
            yield name, [program, "--gtest_brief=1", f"--gtest_filter={tests}"], SHARDS
    if python:
        yield python, [sys.executable, "-m", "pytest", "-q", python], 1


def compute_sanitizer() -> str | None:
    """The program on PATH, else in the bin folder of the toolkit that has the headers."""
    if on_path := shutil.which("compute-sanitizer"):
        return on_path
    headers = cuda_headers()
    for root in headers.resolve().parents if headers else ():
        program = root / "bin" / "compute-sanitizer"
        if program.is_file():
            return str(program)
    return None


def benchmarks() -> dict:
    file = WORK / "bench.json"
    file.unlink(missing_ok=True)
    passed = succeeds([sys.executable, "benchmarks", "--without", "*_cpu", "--json", file])
    return {"passed": passed, "results": json.loads(file.read_text()) if file.exists() else None}


def succeeds(command: list) -> bool:
    command_line = [str(part) for part in command]
    print(f"\n== {' '.join(command_line)}", flush=True)
    return subprocess.run(command_line, cwd=ROOT, env=environment(PRESET)).returncode == 0


def junit_summary(file: Path) -> dict:
    """The number of tests, the names of the failed ones and the reasons of skips, from a JUnit
    report."""
    if not file.exists():
        return {}
    cases = list(ElementTree.parse(file).getroot().iter("testcase"))
    failed = [
        case for case in cases if case.find("failure") is not None or case.find("error") is not None
    ]
    skipped = [case for case in cases if case.find("skipped") is not None]
    reasons = sorted({(case.find("skipped").get("message") or "") for case in skipped})
    return {
        "count": len(cases),
        "failed": [f"{case.get('classname')}.{case.get('name')}" for case in failed],
        "skipped": len(skipped),
        "skip_reasons": reasons,
    }


if __name__ == "__main__":
    raise SystemExit(main())
