# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Importing this module makes ``import pycuda`` and its submodules import spanwise.pycuda.

It has no effect where PyCUDA itself can be imported.
"""

import importlib
import sys

from spanwise.compat import alias_package as _alias_package, is_installed as _is_installed


def _pycuda_works():
    """Whether PyCUDA itself is installed and loads: its extension needs the driver's library."""
    if "pycuda" in sys.modules:
        return True
    if not _is_installed("pycuda"):
        return False
    try:
        importlib.import_module("pycuda.driver")
    except (ImportError, OSError):
        for name in [name for name in sys.modules if name.partition(".")[0] == "pycuda"]:
            del sys.modules[name]
        return False
    return True


def replace_pycuda():
    """Makes ``import pycuda`` import spanwise.pycuda, also where PyCUDA is installed. Modules of
    PyCUDA that are imported already stay as they are."""
    _alias_package("pycuda", __package__)


if not _pycuda_works():
    replace_pycuda()
