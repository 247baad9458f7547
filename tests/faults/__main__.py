# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails one call after another in each operation:

    PYTHONPATH=build/release/python:tests python -m faults
    PYTHONPATH=build/release/python:tests python -m faults allocations --only graph_loads --stacks

Of `allocations`, those of Spanwise's libraries fail; of `system_calls`, theirs for files, processes,
threads and mapped memory; of `driver_calls`, those of a driver of CUDA that computes nothing. An
operation then has to raise the failure, or to succeed without it; its next call has to be right, and
nothing may be left of the failed one.
"""

from __future__ import annotations

import subprocess
import sys

from faults.run import KINDS, environment


def main() -> int:
    kinds = [argument for argument in sys.argv[1:] if argument in KINDS] or KINDS
    options = [argument for argument in sys.argv[1:] if argument not in KINDS]
    results = [
        subprocess.run(
            [sys.executable, "-m", "faults.run", kind, *options], env=environment(kind), check=False
        ).returncode
        for kind in kinds
    ]
    return 1 if any(results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
