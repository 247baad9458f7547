# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The import hooks that make ``import theano`` import ``spanwise.theano``, and ``import pycuda``
spanwise.pycuda."""

from __future__ import annotations

import importlib
import importlib.util
import sys

from spanwise.compat import alias_package

_PACKAGE = __name__.rpartition(".")[0]


def is_importable(name: str) -> bool:
    """Whether the package `name` is imported or installed."""
    return name in sys.modules or importlib.util.find_spec(name) is not None


def install() -> None:
    """Adds the hooks, each unless the library itself can be imported."""
    importlib.import_module(f"{_PACKAGE.rpartition('.')[0]}.pycuda.install")
    if not is_importable("theano"):
        alias_package("theano", _PACKAGE, _adapt)


def _adapt() -> None:
    # Not before: scripts that only use NumPy or PyCUDA start sooner without graphs.
    importlib.import_module(f"{_PACKAGE}._function").adapt_variables()
