# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Importing this module makes ``import theano`` and its submodules import spanwise.theano.

It has no effect where Theano itself is installed. After the first ``import theano``, variables of
the process behave as in Theano: ``eval`` and ``get_value`` return NumPy arrays, and
``transfer(None)`` copies to the GPU.
"""

from importlib import import_module

from spanwise.compat import alias_package as _alias_package, is_installed as _is_installed


def install() -> None:
    """Adds the import hooks, those for PyCUDA, CUDAMat and Gnumpy among them, each unless the library
    itself can be imported."""
    for name in ("pycuda", "cudamat", "gnumpy"):
        import_module(f"spanwise.{name}.install")
    if not _is_installed("theano"):
        _alias_package("theano", "spanwise.theano", _adapt)


def _adapt() -> None:
    # Not before: scripts that only use NumPy or PyCUDA start sooner without graphs.
    import_module("spanwise.theano._function").adapt_variables()
    import_module("spanwise.theano._variable_methods").add_methods()


install()
