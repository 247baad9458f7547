# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A part of fuzz.faces: the same cases in each run, on the default device."""

import os
import subprocess
import sys
from pathlib import Path

import spanwise as sw

#: On a GPU each case compiles kernels.
CASES = {"cpu": 200, "cuda": 8}


def test_programs_in_both_faces_match_numpy():
    # In a new process: importing Theano's face sets the default device.
    cases = str(CASES[sw.default_device().kind])
    command = [sys.executable, "-m", "fuzz.faces", "--seed", "2026", "--cases", cases]
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    completed = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
