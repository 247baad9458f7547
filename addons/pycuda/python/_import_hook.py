# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The import hook that makes ``import pycuda`` and its submodules import spanwise.pycuda."""

from .._import_alias import alias_package

#: The package whose modules are imported in place of PyCUDA's.
PACKAGE = __name__.rpartition(".")[0]


def replace_pycuda():
    """Makes ``import pycuda`` import spanwise.pycuda, also where PyCUDA is installed. Modules of
    PyCUDA that are imported already stay as they are."""
    alias_package("pycuda", PACKAGE)
