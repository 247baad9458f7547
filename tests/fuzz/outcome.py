# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a fuzzing run as JSON, with the machine and versions."""

import json
import os
import pathlib
import platform
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def commit():
    """The tested commit: $SPANWISE_COMMIT, for checkouts without history, else from git."""
    if commit_from_environment := os.environ.get("SPANWISE_COMMIT"):
        return commit_from_environment
    head = ["git", "rev-parse", "HEAD"]
    return subprocess.run(
        head, cwd=HERE, capture_output=True, text=True, check=False
    ).stdout.strip()


def write(file, description, device, results, *, seconds, head, peers):
    """Writes the dictionary `results`, with the description of the run, its device and duration, the
    commit `head`, and the versions of Spanwise, Python and the modules `peers`."""
    import spanwise as sw

    versions = {module.__name__: module.__version__ for module in (sw, *peers)}
    outcome = {
        "what": description,
        "device": device,
        "device_name": sw.device(device).properties.name,
        **results,
        "seconds": round(seconds, 1),
        "versions": {**versions, "python": platform.python_version()},
        "commit": head,
    }
    pathlib.Path(file).write_text(json.dumps(outcome, indent=2) + "\n")
