# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The import hook that makes ``import pycuda`` and its submodules import spanwise.pycuda."""

import importlib
import importlib.machinery
import importlib.util
import sys

# The classes do not derive from those of importlib.abc, whose import takes several milliseconds.

#: The package whose modules are imported in place of PyCUDA's.
PACKAGE = __name__.rpartition(".")[0]


class _Loader:
    """Loads ``pycuda.x`` as the module ``spanwise.pycuda.x``, which keeps its own spec."""

    def create_module(self, spec):
        module = importlib.import_module(_own_name(spec.name))
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec


class _Finder:
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] != "pycuda":
            return None
        found = importlib.util.find_spec(_own_name(fullname))
        if found is None:
            return None
        return importlib.machinery.ModuleSpec(
            fullname, _Loader(), is_package=found.submodule_search_locations is not None
        )


def _own_name(fullname):
    return PACKAGE + fullname.removeprefix("pycuda")


def replace_pycuda():
    """Makes ``import pycuda`` import spanwise.pycuda, also where PyCUDA is installed. Modules of
    PyCUDA that are imported already stay as they are."""
    sys.meta_path.insert(0, _Finder())
