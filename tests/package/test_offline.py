# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""OFFLINE=1 downloads nothing, so its list of missing dependencies must be complete."""

import os
import subprocess
import sys

from support.tree import ROOT


def offline(*groups: str, interpreter_flags: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, *interpreter_flags, "scripts/offline.py", *groups]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_one_message_lists_all_missing_dependencies():
    done = offline("build", "test", interpreter_flags=("-S",))  # without site-packages
    assert done.returncode == 1
    for package in ("pybind11", "numpy", "pytest", "hypothesis"):
        assert f"Python package {package}\n" in done.stderr
    assert sys.executable in done.stderr


def test_offline_check_prints_nothing_if_all_dependencies_exist():
    done = offline("test")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
