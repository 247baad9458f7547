# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What scripts/gpu_report.py reads from the output of tests under compute-sanitizer, and that the lines
of benchmarks which it runs can be imported without their peers and without a GPU."""

import json
import sys

import pytest
from support import package

GOOD = "========= ERROR SUMMARY: 0 errors\n"
GOOGLETEST = "[==========] 7 tests from 2 test suites ran. (5 ms total)\n[  PASSED  ] 7 tests.\n"
FAILED = {
    "GoogleTest": (
        "[  FAILED  ] CudaCopies.Fills, where x is 3\n[  PASSED  ] 6 tests.\n",
        "CudaCopies.Fills",
    ),
    "pytest": (
        "FAILED tests/python/test_x.py::test_y[cuda] - assert 0\n1 failed, 3 passed in 1s\n",
        "tests/python/test_x.py::test_y[cuda]",
    ),
    "a fixture": (
        "ERROR tests/python/test_x.py::test_z - OSError\n3 passed, 1 error in 1s\n",
        "tests/python/test_x.py::test_z",
    ),
}


def judged(output):
    program = f"import gpu_report, json\nprint(json.dumps(gpu_report.verdict({output!r})))"
    return json.loads(package.run_in_scripts(program))


@pytest.mark.parametrize("tests", [GOOGLETEST, "7 passed, 2 skipped in 3.1s\n"])
def test_a_run_without_errors_and_failed_tests_passes(tests):
    expected = {"passed": True, "summary": "0 errors", "tests_passed": 7, "tests_failed": []}
    assert judged(tests + GOOD) == expected


@pytest.mark.parametrize("kind", FAILED)
def test_failed_test_is_named_although_the_tool_found_no_error(kind):
    output, name = FAILED[kind]
    report = judged(output + GOOD)
    assert (report["passed"], report["tests_failed"]) == (False, [name])


def test_failure_of_one_of_the_processes_that_share_the_tests_is_kept():
    shards = [GOOGLETEST + GOOD, FAILED["GoogleTest"][0] + GOOD]
    program = f"import gpu_report, json\nverdicts = [gpu_report.verdict(o) for o in {shards!r}]\n"
    program += "print(json.dumps(gpu_report.combined(verdicts)))"
    expected = {"passed": False, "summary": "0 errors", "tests_passed": 13}
    assert json.loads(package.run_in_scripts(program)) == expected | {
        "tests_failed": ["CudaCopies.Fills"]
    }


@pytest.mark.parametrize(
    "output",
    [
        GOOGLETEST,
        GOOGLETEST + "========= ERROR SUMMARY: 2 errors\n",
        GOOGLETEST + "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n",
        GOOD,
    ],
)
def test_errors_of_the_tool_and_ends_without_a_summary_do_not_pass(output):
    assert not judged(output)["passed"]


def test_every_line_of_the_benchmarks_is_importable():
    program = """
import importlib, pathlib, sys
sys.path[:0] = ["benchmarks", "tests"]
for path in sorted(pathlib.Path("benchmarks/lines").glob("[a-z]*.py")):
    importlib.import_module(f"lines.{path.stem}")
    print(path.stem)
"""
    imported = package.run(sys.executable, "-c", program, cwd=package.ROOT).split()
    assert {"collectives_gpus", "copy_gpu", "listed_cpu"} < set(imported)
