# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Python's global interpreter lock, under which the compiled half looks after its Python objects."""

from __future__ import annotations

import sys


def require_gil() -> None:
    """Raises ImportError where Python runs without the lock.

    A free-threaded Python (PEP 703) turns the lock on when it loads a module that has not said that
    it does without, as ours has not; only somebody who forbade that gets here.
    """
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        return
    raise ImportError(
        "spanwise: this free-threaded Python runs without the global interpreter lock, which "
        "Spanwise needs; leave out PYTHON_GIL=0 and -X gil=0, and Python turns it on for Spanwise"
    )
