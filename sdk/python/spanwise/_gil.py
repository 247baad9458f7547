# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The check for Python's global interpreter lock, which protects the extension module's objects."""

import sys


def require_gil() -> None:
    """Raises ImportError if the interpreter runs without the GIL.

    A free-threaded Python (PEP 703) enables the GIL when it loads an extension module that does not
    declare Py_MOD_GIL_NOT_USED, such as _core; PYTHON_GIL=0 and -X gil=0 prevent this.
    """
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        return
    raise ImportError(
        "spanwise: this free-threaded Python runs without the global interpreter lock, which "
        "Spanwise needs; leave out PYTHON_GIL=0 and -X gil=0, and Python turns it on for Spanwise"
    )
