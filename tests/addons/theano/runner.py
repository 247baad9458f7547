# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs scripts by ``python -m spanwise.theano`` in separate processes."""

import os
import subprocess
import sys
import textwrap

#: What spanwise.theano prints where device=gpu finds no GPU.
WARNING = "this machine has no GPU, so the program runs on the CPU back end"


def run_script(path, source, flags="", arguments=(), options=(), environment=None, status=0):
    """Writes `source` to `path` and runs it with THEANO_FLAGS=`flags`; returns (stdout, stderr).

    The folder of `path` is HOME, so that no .theanorc is read; asserts that the exit status is `status`.
    """
    path.write_text(textwrap.dedent(source))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("THEANO")}
    done = subprocess.run(
        [sys.executable, "-m", "spanwise.theano", *options, str(path), *arguments],
        env={**inherited, "HOME": str(path.parent), "THEANO_FLAGS": flags, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr
