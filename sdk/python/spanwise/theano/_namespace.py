# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the module ``theano``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spanwise.gradient import grad
from spanwise.graph import (
    Apply,
    Constant,
    In as _In,
    SharedVariable,
    TensorType as Type,
    Variable,
    as_variable,
    clone,
)
from spanwise.tensor import dot

from ._config import config
from ._function import Out, function
from ._mode import Mode
from ._op import Op
from ._variables import shared

__all__ = [
    "Apply", "Constant", "In", "Mode", "Op", "Out", "Param", "SharedVariable", "Type", "Variable",
    "as_op", "clone", "config", "dot", "function", "grad", "shared",
]  # fmt: skip


class In(_In):
    """An input: as spanwise.In, with Theano's `update` and `implicit` refused."""

    def __init__(
        self,
        variable: Any,
        name: str | None = None,
        value: Any = None,
        update: Any = None,
        **options: Any,
    ) -> None:
        if update is not None or options.pop("implicit", None):
            raise TypeError(
                "In: update= and implicit= are not available; use shared variables and updates="
            )
        super().__init__(variable, name, value, **options)


def Param(variable: Any, default: Any = None, name: str | None = None, **options: Any) -> In:  # noqa: N802
    """An input with a default value."""
    return In(variable, name, default, **options)


class _FunctionOp(Op):
    """An op that calls a Python function; see as_op()."""

    def __init__(
        self, function: Callable[..., Any], itypes: Sequence[Any], otypes: Sequence[Any]
    ) -> None:
        self.function, self.itypes, self.otypes = function, list(itypes), list(otypes)

    def make_node(self, *inputs: Any) -> Apply:
        variables = [as_variable(x) for x in inputs]
        return Apply(self, variables, [kind() for kind in self.otypes])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        results = self.function(*inputs)
        results = results if isinstance(results, (list, tuple)) else [results]
        for cell, result in zip(output_storage, results, strict=True):
            cell[0] = result

    def __str__(self) -> str:
        return f"FromFunctionOp{{{self.function.__name__}}}"


def as_op(itypes: Any, otypes: Any, infer_shape: Any = None) -> Callable[..., Op]:
    """A decorator that makes an op from a function of NumPy arrays."""
    del infer_shape
    listed = [kinds if isinstance(kinds, (list, tuple)) else [kinds] for kinds in (itypes, otypes)]
    return lambda function: _FunctionOp(function, *listed)
