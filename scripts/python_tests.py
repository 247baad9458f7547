# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the Python tests, for test.py and gpu_report.py.

Only the pytest plug-ins in PLUGINS are loaded. Others may change the result: pytest-benchmark, for
example, warns if pytest-xdist is loaded, and warnings are errors here.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from paths import ROOT
from tools import environment
from workers import GIB, workers

# Plug-in modules that are loaded if they are installed.
PLUGINS = ("xdist", "_hypothesis_pytestplugin")
# Memory of a worker that has imported all foreign libraries: libraries and compilers on the host;
# contexts, modules and the memory pools of four libraries on the GPU.
HOST_MEMORY = 3 * GIB
GPU_MEMORY = 4 * GIB


def python_tests_pass(
    preset: str,
    *options: str,
    variables: Mapping[str, str] | None = None,
    program: Sequence[str] = ("-m", "pytest"),
) -> bool:
    """Runs pytest, with the environment variables `variables`, and returns whether all tests passed.
    $PYTEST_ARGS adds options, such as -k NAME or -n WORKERS. `program` are Python's arguments that
    start pytest."""
    command = [sys.executable, *program]
    for plugin in installed_plugins():
        command += ["-p", plugin]
    if "xdist" in installed_plugins() and (count := workers(HOST_MEMORY, GPU_MEMORY)) > 1:
        command += ["-n", str(count)]
    command += [*options, *os.environ.get("PYTEST_ARGS", "").split()]
    env = {**environment(preset), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **(variables or {})}
    print(f"\n== {' '.join(command)}", flush=True)
    return subprocess.run(command, cwd=ROOT, env=env).returncode == 0


def installed_plugins() -> list[str]:
    return [plugin for plugin in PLUGINS if importlib.util.find_spec(plugin)]
