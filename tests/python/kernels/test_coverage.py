# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.coverage: the lines of kernels in coverage.py's data and reports."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

coverage = pytest.importorskip("coverage", reason="coverage is not installed")
pytestmark = pytest.mark.skipif(
    not (shutil.which("g++") and shutil.which("gcov")), reason="g++ and gcov are not installed"
)

KERNEL = """\
#ifdef SW_TWIN
#include "twin.h"
#endif

__device__ float half_of(float x) {
  if (x < 0)
    return 0;
  return x / 2;
}

template <class T>
__device__ T clipped(T x, T low) {
  if (x < low) {
    return low;
  }
  return x;
}

__device__ int never_called(int n) {
  return n + 1;
}

#define STORE(value) y[i] = (value)

extern "C" __global__ void scale(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (n > 1000000)
    y[i] = 1;
  else
    STORE(half_of(x[i]));
  for (int k = 0; k < 3; ++k) {
    if (k == 2) {
      y[i] += clipped(0.0f, -1.0f);
      continue;
    }
    switch (k) {
      case 0:
        y[i] += 1;
        break;
      case 5:
        y[i] += 5;
        break;
      default:
        y[i] -= 1;
    }
  }
}

extern "C" __global__ void unused(float *y) {
  y[threadIdx.x] = 0;
}
"""

# What a user would write to count the lines of the kernel without Spanwise.
TWIN = """\
#pragma once
#define __global__
#define __device__
struct Index { int x; };
static Index blockIdx, blockDim{64}, threadIdx;
"""
TWIN_MAIN = """\
#define SW_TWIN
#include "scale.cu"
int main() {
  float x[100], y[100];
  for (float &each : x) each = 1;
  for (blockIdx.x = 0; blockIdx.x < 2; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < 64; ++threadIdx.x) scale(y, x, 100);
}
"""

PROGRAM = """\
import spanwise as sw

SUFFIX = "= 1"
ADD = r'''
extern "C" __global__ void add(float *y, int n) {
  const int i = threadIdx.x;
  if (n < 0)
    y[i] = -1;
  y[i] += 1;
}
'''


def joined(op):
    return (
        'extern "C" __global__ void join(float *y, int n) {\\n'
        "  if (n < 0)\\n"  # never
        "    y[0] = 7;\\n"
        f"  y[1] {op};\\n"
        "}\\n"
    )


def arrays():
    return [sw.ones(100, dtype="float32", device="cpu") for _ in range(2)]


def test_file():
    y, x = arrays()
    y[...] = -3
    scale = sw.SourceModule(path="scale.cu", device="cpu").get_function("scale")
    scale(y, x, 100, grid=2, block=64)
    assert (y.numpy() == 0.5).all()


def test_strings():
    y, _ = arrays()
    sw.SourceModule(ADD, device="cpu").get_function("add")(y, 64, grid=1, block=64)
    sw.SourceModule(joined(SUFFIX), device="cpu").get_function("join")(y, 64, grid=1, block=1)
    assert y[1].item() == 1 and y[2].item() == 2 and y[99].item() == 1


if __name__ == "__main__":
    test_file()
    test_strings()
"""
# Of test_program.py, by hand: the lines of kernels that do not run.
MISSED_IN_STRINGS = [8, 18]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "scale.cu").write_text(KERNEL)
    (tmp_path / "test_program.py").write_text(PROGRAM)
    (tmp_path / "coveragerc").write_text(
        "[run]\nplugins = spanwise.coverage\nsource = .\nomit = *never*\n"
    )
    return tmp_path


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTEST_ADDOPTS": ""}
    # As a user's shell has it: pytest loads the plug-ins that are installed.
    for name in ("SPANWISE_CPU_COVERAGE", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        environment.pop(name, None)
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**environment, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def measured(folder, *options):
    """The report of coverage.py as JSON: {file: (lines that ran, lines that did not)}."""
    python = (sys.executable, "-m", "coverage")
    run(folder, *python, "run", "--rcfile=coveragerc", *options, "test_program.py")
    return reported(folder)


def reported(folder):
    command = (sys.executable, "-m", "coverage", "json", "--rcfile=coveragerc", "-o", "out.json")
    run(folder, *command)
    files = json.loads((folder / "out.json").read_text())["files"]
    return {name: (file["executed_lines"], file["missing_lines"]) for name, file in files.items()}


def counted_by_gcov(folder):
    (folder / "twin.h").write_text(TWIN)
    (folder / "twin.cpp").write_text(TWIN_MAIN)
    for old in folder.glob("*.gc*"):
        old.unlink()
    run(folder, "g++", "-w", "-O0", "--coverage", "twin.cpp", "-o", "twin")
    run(folder, folder / "twin")
    (counts,) = folder.glob("*.gcda")
    report = json.loads(run(folder, "gcov", "--json-format", "--stdout", counts.name))
    lines = {}
    for file in report["files"]:
        if file["file"] == "scale.cu":
            for line in file["lines"]:
                number = line["line_number"]
                lines[number] = max(lines.get(number, 0), line["count"])
    return [n for n, count in sorted(lines.items()) if count], [
        n for n, count in sorted(lines.items()) if not count
    ]


def test_lines_of_a_file_are_those_of_gcov_for_a_twin_in_cpp(project):
    wanted = counted_by_gcov(project)
    assert len(wanted[0]) > 15 and len(wanted[1]) > 5
    assert measured(project)["scale.cu"] == wanted


@pytest.mark.parametrize("options", [(), ("--branch",)])
def test_lines_of_kernels_in_strings_are_those_of_the_python_file(project, options):
    files = measured(project, *options)
    ran, missed = files["test_program.py (kernels)"]
    assert missed == MISSED_IN_STRINGS
    lines = PROGRAM.splitlines()
    assert [lines[n - 1].strip(' "') for n in ran] == [
        'extern "C" __global__ void add(float *y, int n) {',
        "const int i = threadIdx.x;",
        "if (n < 0)",
        "y[i] += 1;",
        "}",
        "'extern \"C\" __global__ void join(float *y, int n) {\\n'",
        'if (n < 0)\\n"  # never',
        "}\\n",
    ]
    assert files["test_program.py"][1] == []  # Python's own lines
    run(project, sys.executable, "-m", "coverage", "html", "--rcfile=coveragerc")
    (page,) = (project / "htmlcov").glob("*kernels*.html")
    assert "y[i] = -1;" in page.read_text()


def test_data_of_parallel_runs_are_combined(project):
    measured(project)
    first = reported(project)
    coverage_py = (sys.executable, "-m", "coverage")
    run(project, *coverage_py, "erase")
    for _ in range(2):
        run(project, *coverage_py, "run", "-p", "--rcfile=coveragerc", "test_program.py")
    run(project, *coverage_py, "combine", "--rcfile=coveragerc")
    assert reported(project) == first
    assert not list(project.glob("spanwise-coverage-*"))  # nothing is left


@pytest.mark.parametrize("options", [(), ("--kernel-check",), ("--cov-branch",), ("-n", "2")])
def test_option_cov_of_pytest_shows_kernels(project, options):
    pytest.importorskip("pytest_cov", reason="pytest-cov is not installed")
    if "-n" in options:
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "spanwise._pytest_plugin")
    done = run(
        project,
        *command,
        "-p",
        "no:cacheprovider",
        "--cov=.",
        "--cov-report=term-missing",
        *options,
    )
    rows = {row[0]: row[1:] for line in done.splitlines() if (row := re.split(r"\s{2,}", line))}
    assert rows["test_program.py (kernels)"][-1] == "8, 18", done
    assert rows["scale.cu"][1] == str(len(counted_by_gcov(project)[1])), done
