# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Spanwise lets CUDA array libraries share one program.

Importing it loads no other array library and touches no CUDA. Whatever the compiled half names in
public is here; a module of this folder is loaded when its name is first used (``sw.driver``).
"""

from __future__ import annotations

import typing as _typing
from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec

from . import _wheels
from ._config import config as config
from ._core import *  # noqa: F403  (the compiled half says what is public)
from ._core import __version__ as __version__
from ._creation import arange as arange
from ._creation import linspace as linspace

newaxis = None

_wheels.tell_where_cuda_is()


if _typing.TYPE_CHECKING:
    # For type checkers, which cannot follow __getattr__; running programs load these on first use.
    from . import doctor as doctor
    from . import driver as driver
    from . import settings as settings
    from . import tensor as tensor
    from ._elementwise import around as around
    from ._elementwise import clip as clip
    from ._elementwise import divmod as divmod
    from ._elementwise import imag as imag
    from ._elementwise import real as real
    from ._elementwise import round as round
    from ._elementwise import where as where
    from .graph import In as In
    from .graph import Op as Op
    from .graph import Out as Out
    from .graph import contiguous as contiguous
    from .graph import function as function
    from .graph import kernel_op as kernel_op

# Names that a module of this folder has, by the module.
_ELSEWHERE = dict.fromkeys(("In", "Op", "Out", "contiguous", "function", "kernel_op"), "graph")
_ELSEWHERE |= dict.fromkeys(
    ("around", "clip", "divmod", "imag", "real", "round", "where"), "_elementwise"
)

if not _typing.TYPE_CHECKING:  # for a checker it would make every misspelt name a good one

    def __getattr__(name):
        """Loads ``spanwise.<name>``, or the module that has the name, on first use."""
        if name in _ELSEWHERE:
            value = getattr(_import_module(f"{__name__}.{_ELSEWHERE[name]}"), name)
            globals()[name] = value
            return value
        if not name.startswith("_") and _find_spec(f"{__name__}.{name}") is not None:
            return _import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
