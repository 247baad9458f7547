# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Spanwise lets CUDA array libraries share one program.

Importing it loads no other array library and touches no CUDA. Whatever the compiled half names in
public is here; a module of this folder is loaded when its name is first used (``sw.driver``).
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec

from ._config import config
from ._core import *  # noqa: F403  (the compiled half says what is public)
from ._creation import arange, linspace

newaxis = None


def __getattr__(name):
    """Loads the module ``spanwise.<name>`` on first use."""
    if not name.startswith("_") and _find_spec(f"{__name__}.{name}") is not None:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
