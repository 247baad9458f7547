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
else:

    def __getattr__(name):
        """Loads the module ``spanwise.<name>`` on first use."""
        if not name.startswith("_") and _find_spec(f"{__name__}.{name}") is not None:
            return _import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
