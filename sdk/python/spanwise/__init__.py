# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays, kernels and graphs that share memory with other CUDA array libraries in one process.

The import of ``spanwise`` neither imports another array library nor calls CUDA. The namespace holds all public
names of the extension module ``_core``; the other modules are imported on first use
(``sw.driver``).
"""

from importlib import import_module as _import_module

from . import _gil, _wheels
from ._config import config as config
from ._core import *  # noqa: F403  (all public names of the extension module)
from ._core import __version__ as __version__

#: The version of the array API standard (data-apis.org/array-api) that this namespace follows.
__array_api_version__ = "2024.12"

newaxis = None
e = 2.718281828459045
pi = 3.141592653589793
inf = float("inf")
nan = float("nan")

_gil.require_gil()
_wheels.set_library_paths()


def _modules_by_name():
    """{name: module} from the relative imports of `__init__.pyi`, the list of public names."""
    # `import spanwise` imports neither re nor typing nor contextlib: they take longer to load than
    # the package.
    modules = {}
    stub = __loader__.get_data(__file__ + "i").decode()
    for statement in stub.split("\nfrom .")[1:]:
        module, _, names = statement.partition(" import ")
        names = names[1 : names.index(")")] if names[0] == "(" else names.partition("\n")[0]
        if module and "*" not in names:  # each name is written `name as name`
            modules.update(dict.fromkeys(names.replace(",", " ").split()[::3], module))
    return modules


_MODULE_OF = _modules_by_name()


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
    if name == "fft":
        from ._numpy.unsupported import EXTENSIONS

        raise AttributeError(EXTENSIONS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_MODULE_OF})
