# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Loops for older processors than this machine's, selected by config instruction_set."""

import os
import subprocess
import sys

import pytest
from support.tree import ROOT

NARROWER = ["baseline", "avx2"]


def run(widest, *command):
    environment = {**os.environ, "SPANWISE_INSTRUCTION_SET": widest}
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("widest", NARROWER)
def test_random_operations_match_numpy(widest):
    pytest.importorskip("ml_dtypes")
    done = run(widest, "tests/fuzz", "--cases", "8000", "--seed", "7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong" in done.stdout


@pytest.mark.parametrize("widest", NARROWER)
@pytest.mark.parametrize(
    "tests", ["test_elementwise_accuracy.py", "test_division.py", "test_integer_powers.py"]
)
def test_errors_stay_within_their_bounds(widest, tests):
    done = run(widest, "-m", "pytest", "-q", "-k", "not cuda", f"tests/python/functions/{tests}")
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def test_unsupported_instruction_set_is_reported_once():
    program = "import spanwise as sw; x = sw.ones(9, device='cpu'); print((x + x).sum())"
    done = run("sse9", "-c", program)
    assert done.returncode == 0
    assert done.stdout == "18.0\n"
    assert done.stderr.count('"sse9"') == 1
    assert "baseline, avx2, avx512, auto" in done.stderr
