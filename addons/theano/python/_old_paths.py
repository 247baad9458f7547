# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules of Theano whose names are in other modules here: ``theano.gof.graph``, ``theano.compile.io``."""

from __future__ import annotations

import sys
from collections import OrderedDict
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

import spanwise as sw
from spanwise.graph import Apply, Constant, SharedVariable, TensorType, Variable, ancestors, clone

from . import _function, _namespace, scalar, tensor
from ._ops import Op
from .tensor import nlinalg, nnet, slinalg


class OrderedUpdates(OrderedDict[Any, Any]):
    """A dict of updates."""


def _inputs(variables: list[Variable], blockers: Any = None) -> list[Variable]:
    """The variables without a node that `variables` are computed from."""
    read = [x for node in ancestors(variables) for x in node.inputs] + list(variables)
    return [x for x in dict.fromkeys(read) if x.owner is None]


def _assert_allclose(expected: Any, value: Any, rtol: float = 1e-5, atol: float = 1e-8) -> None:
    np.testing.assert_allclose(value, expected, rtol, atol)


_NNET = vars(nnet)
#: Path -> names and values.
_MODULES: dict[str, dict[str, Any]] = {
    "compile.function_module": {"Function": _function.Function},
    "compile.io": {"In": _namespace.In, "Out": _function.Out},
    "compile.builders": {"OpFromGraph": _namespace.OpFromGraph},
    "compile.ops": {"as_op": _namespace.as_op},
    "compile.pfunc": {"Param": _namespace.Param, "pfunc": _function.function},
    "compile.sharedvalue": {"SharedVariable": SharedVariable, "shared": _function.shared},
    "gof.graph": {
        "Apply": Apply,
        "Constant": Constant,
        "Variable": Variable,
        "ancestors": ancestors,
        "clone": clone,
        "inputs": _inputs,
    },
    "gof.op": {"Op": Op},
    "gof.type": {"Type": TensorType},
    "misc.safe_asarray": {"_asarray": _namespace._asarray},
    "sandbox.linalg": {**vars(slinalg), **vars(nlinalg)},
    "sandbox.neighbours": {"images2neibs": nnet.images2neibs},
    "scalar.basic": vars(scalar),
    "scan_module": {n: getattr(_namespace, n) for n in ("foldl", "foldr", "map", "reduce", "scan")},
    "tensor.nnet.abstract_conv": _NNET,
    "tensor.nnet.bn": _NNET,
    "tensor.nnet.conv": _NNET,
    "tensor.nnet.neighbours": _NNET,
    "tensor.nnet.nnet": _NNET,
    "tensor.sharedvar": {"TensorSharedVariable": SharedVariable},
    "tensor.type": {"TensorType": tensor.TensorType},
    "tensor.var": {
        "TensorConstant": Constant,
        "TensorVariable": Variable,
        "_tensor_py_operators": Variable,
    },
    "tests": {},
    "tests.unittest_tools": {
        "assert_allclose": _assert_allclose,
        "fetch_seed": lambda seed=None: 666 if seed is None else seed,
        "seed_rng": lambda seed=None: np.random.seed(666 if seed is None else seed),
        "verify_grad": sw.tensor.verify_grad,
    },
    "updates": {"OrderedUpdates": OrderedUpdates},
}


def add_modules() -> None:
    """Makes the modules importable, and attributes of their packages."""
    for path, names in _MODULES.items():
        parent, _, leaf = f"{__package__}.{path}".rpartition(".")
        module = ModuleType(f"{parent}.{leaf}", f"``theano.{path}``.")
        vars(module).update((name, value) for name, value in names.items() if name[:2] != "__")
        module.__spec__ = ModuleSpec(module.__name__, None, is_package=True)
        module.__path__ = []
        sys.modules[module.__name__] = module
        owner = import_module(parent)
        if not hasattr(owner, "__path__"):  # a module here, a package in Theano
            owner.__path__ = []
        setattr(owner, leaf, module)
