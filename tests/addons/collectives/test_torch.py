# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine "torch": two ranks with the variables of torchrun."""

import importlib.util
import subprocess
import sys

import pytest
from addons.collectives.launch import environment, program_of_guide, run_env

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs the package torch"
)


@pytest.mark.parametrize("program", ["all_operations.py", "graphs.py"])
def test_programs_of_two_ranks_match_numpy(tmp_path, program):
    results, output = run_env(program, tmp_path, "torch", "cpu")
    assert None not in results, output
    assert [result["problems"] for result in results] == [[], []]
    assert {result["engine"] for result in results} == {"torch"}


def test_program_of_the_guide_prints_true(tmp_path, monkeypatch):
    monkeypatch.setenv("SPANWISE_DEVICE", "cpu")
    _, output = run_env(program_of_guide(tmp_path), tmp_path)
    assert output.split() == ["True"]


def test_program_of_the_guide_prints_true_under_torchrun(tmp_path):
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    run = subprocess.run(
        [*command, program_of_guide(tmp_path)],
        env=environment() | {"SPANWISE_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.stdout.split() == ["True"], run.stderr
