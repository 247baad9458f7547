# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.compile``: functions, their inputs and outputs, and modes."""

from types import SimpleNamespace as _SimpleNamespace

from .._function import Function, Out, function
from .._namespace import In, OpFromGraph, Param, SharedVariable, as_op, shared
from . import mode as mode, nanguardmode as nanguardmode
from .mode import Mode, get_default_mode, get_mode

__all__ = [
    "Function", "In", "Mode", "OpFromGraph", "Out", "Param", "SharedVariable", "as_op", "builders", "function",
    "get_default_mode", "get_mode", "io", "mode", "nanguardmode", "ops", "shared",
]  # fmt: skip

builders = _SimpleNamespace(OpFromGraph=OpFromGraph)
io = _SimpleNamespace(In=In, Out=Out)
ops = _SimpleNamespace(as_op=as_op)
