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
    if named := os.environ.get("SPANWISE_COMMIT"):
        return named
    head = ["git", "rev-parse", "HEAD"]
    return subprocess.run(
        head, cwd=HERE, capture_output=True, text=True, check=False
    ).stdout.strip()


def write(file, what, device, found, *, seconds, head, peers):
    """Writes `found`, by names, between what was done on which device and how long it took, of
    which commit, beside which versions of the modules `peers`."""
    import spanwise as sw

    versions = {module.__name__: module.__version__ for module in (sw, *peers)}
    outcome = {
        "what": what,
        "device": device,
        "device_name": sw.device(device).properties.name,
        **found,
        "seconds": round(seconds, 1),
        "versions": {**versions, "python": platform.python_version()},
        "commit": head,
    }
    pathlib.Path(file).write_text(json.dumps(outcome, indent=2) + "\n")
