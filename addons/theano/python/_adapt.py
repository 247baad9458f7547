# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The methods of Spanwise's variables that have another meaning in Theano."""

from __future__ import annotations

from typing import Any

from spanwise.graph import SharedVariable, Variable
from spanwise.tensor import trace

from ._function import evaluate
from ._gpu_array import as_theano
from ._variables import transfer

_get_array = SharedVariable.get_value


class DTypeName(str):
    """The name of a dtype, as Theano's variables have it; the attributes are the dtype's."""

    _dtype: Any

    def __new__(cls, dtype: Any) -> DTypeName:
        name = super().__new__(cls, dtype)
        name._dtype = dtype
        return name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dtype, name)


def _get_value(self: Any, borrow: bool = False, return_internal_type: bool = False) -> Any:
    """The value as a NumPy array, or with `return_internal_type` as an array on the device."""
    value = _get_array(self, borrow=borrow)
    return as_theano(value) if return_internal_type else value.numpy()


def _text(self: Any) -> str:
    if self.name is not None:
        return self.name
    from ._view import type_of

    return f"<{type_of(self)}>"


def adapt_variables() -> None:
    """Gives ``get_value``, ``eval``, ``transfer``, ``trace`` and ``repr`` of Spanwise's variables the
    meaning that they have in Theano, for this process."""
    SharedVariable.get_value = _get_value
    SharedVariable.__repr__ = SharedVariable.__str__ = _text
    Variable.eval = evaluate
    Variable.transfer = transfer
    Variable.trace = trace  # type: ignore[attr-defined]
    Variable.dtype = property(lambda self: DTypeName(self.type.dtype))
    Variable.broadcastable = property(lambda self: self.type.broadcastable)
