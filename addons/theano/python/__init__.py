# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Theano's modules over Spanwise: scripts for Theano run on a GPU, or on the CPU without one.

``python -m spanwise.theano script.py`` runs a script, also one in Python 2. After ``import
spanwise.theano.install``, ``import theano`` imports this package if Theano itself is absent. Flags
are read from ``THEANO_FLAGS`` and ``.theanorc``. docs/coming-from-theano.md lists the names.
"""

from importlib import import_module

from . import _old_paths

__all__ = [
    "Apply",
    "Constant",
    "In",
    "Lop",
    "Mode",
    "Op",
    "OpFromGraph",
    "OrderedUpdates",
    "Out",
    "Param",
    "Rop",
    "SharedVariable",
    "Type",
    "Variable",
    "as_op",
    "clone",
    "config",
    "dot",
    "foldl",
    "foldr",
    "function",
    "grad",
    "map",
    "pp",
    "reduce",
    "scan",
    "shared",
]

#: The version of Theano whose names these modules follow.
__version__ = version = "1.0.5"

_MODULES = ("gradient", "printing", "scalar", "tensor", *_old_paths.TOP)


def __getattr__(name: str) -> object:
    # The runner imports this package before it is known whether the script uses Theano.
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name == "theano":  # from theano import theano
        return import_module(__name__)
    if name in ("OrderedUpdates", "pp"):
        return getattr(
            import_module(f"{__name__}.{'printing' if name == 'pp' else '_old_names'}"), name
        )
    if name in __all__ or name == "_asarray":  # which scripts use, though it is private
        value = getattr(import_module(f"{__name__}._namespace"), name)
        globals()[name] = value
        return value
    if name == "sparse":
        raise AttributeError(
            "module 'theano' has no attribute 'sparse': variables of graphs are dense arrays; use dense ones, or an op by theano.as_op that "
            "computes with scipy.sparse"
        )
    raise AttributeError(
        f"module 'theano' has no attribute {name!r}; docs/coming-from-theano.md lists the names"
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
