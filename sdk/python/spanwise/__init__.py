# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays, kernels and graphs that share memory with other CUDA array libraries in one process.

The import of ``spanwise`` neither imports another array library nor calls CUDA. The namespace holds all public
names of the extension module ``_core``; the other modules are imported on first use
(``sw.driver``).
"""

import sys as _sys
from importlib import import_module as _import_module

from ._config import config as config, set_library_paths as _set_library_paths
from ._core import *  # noqa: F403  (all public names of the extension module)
from ._core import __version__ as __version__
from ._names import MODULE_OF as _MODULE_OF, MODULES as _MODULES, instead_of as _instead_of

#: The version of the array API standard (data-apis.org/array-api) that this namespace follows.
__array_api_version__: str = "2025.12"

newaxis: None = None
e: float = 2.718281828459045
pi: float = 3.141592653589793
inf: float = float("inf")
nan: float = float("nan")

# The global interpreter lock protects the objects of `_core`. A free-threaded Python (PEP 703) turns
# it on when it loads an extension module that does not declare Py_MOD_GIL_NOT_USED, such as `_core`;
# PYTHON_GIL=0 and -X gil=0 prevent this.
if not getattr(_sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "spanwise: this free-threaded Python runs without the global interpreter lock, which "
        "Spanwise needs; leave out PYTHON_GIL=0 and -X gil=0, and Python turns it on for Spanwise"
    )
_set_library_paths()


def __getattr__(name):
    """Imports ``spanwise.<name>``, or the module that defines `name`, on first use."""
    if name in _MODULE_OF:
        value = getattr(_import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    from importlib.util import find_spec

    spec = None if name.startswith("_") else find_spec(f"{__name__}.{name}")
    if spec is not None and spec.origin is not None:  # namespace packages have no origin
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_instead_of(name)}")


def __dir__():
    import numpy

    names = {*globals(), *_MODULE_OF, *_MODULES.split()}
    # Functions that the installed NumPy computes: not those of newer ones.
    borrowed = {name for name, module in _MODULE_OF.items() if module == "_numpy.borrowed"}
    names -= {n for n in borrowed if not hasattr(numpy, n) and n != "explain_function"}
    return sorted(name for name in names if name[0] != "_" or name.startswith("__"))
