# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a process that imports spanwise, compared with Python alone."""

from harness import Result, installed, interleave_processes, python


def measure():
    commands = {"python, nothing": python("pass"), "import spanwise": python("import spanwise")}
    for peer in ("numpy", "jax", "cupy", "torch"):
        if installed(peer):
            commands[f"import {peer}"] = python(f"import {peer}")
    yield Result(
        "import time, process start included",
        "import spanwise",
        interleave_processes(commands),
        goal=("over", "python, nothing", 60e-3),
    )
