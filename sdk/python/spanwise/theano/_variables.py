# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Shared variables, and the methods of variables that have another meaning in Theano."""

from __future__ import annotations

from typing import Any

import numpy as np

import spanwise as sw
from spanwise.graph import SharedVariable, Variable

from ._device_array import unwrap
from ._devices import devices, is_host
from ._gpu_array import as_theano

_get_value = SharedVariable.get_value


def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: Any = None,
    borrow: bool = False,
    broadcastable: Any = None,
    target: Any = "default",
) -> SharedVariable:
    """A shared variable, on `target` ("cpu", None for the GPU, or the name of a context).

    By default it is on the device of the flag ``device``; with ``device=gpu`` only float32 values
    are. `strict`, `allow_downcast` and `broadcastable` are accepted for compatibility.
    """
    del strict, allow_downcast, broadcastable
    value = unwrap(value)
    if not hasattr(value, "dtype"):
        value = np.asarray(value)
    if target != "default":
        device = devices.target(target)
    elif (devices.dialect == "gpu" and value.dtype != "float32") or (
        not value.ndim and np.dtype(str(value.dtype)).kind in "biu"
    ):
        device = "cpu"
    else:
        device = devices.default
    return sw.shared(value, name, borrow=borrow, target=device)


def transfer(variable: Any, target: Any) -> Any:
    """`variable` on `target`: "cpu", None for the GPU, or the name of a context."""
    variable = sw.graph.as_variable(variable)
    device, own = devices.target(target), variable.type.device
    if is_host(device) and is_host(own or "cpu"):
        return variable
    if isinstance(variable, SharedVariable) and str(own) == device:
        return variable
    # Applied also where the value is on the device already: it marks a result that stays there.
    return sw.ops.transfer(variable, device=device)


def is_on_gpu(variable: Any) -> bool:
    """Whether the type of `variable` names a GPU, or the CPU in its place."""
    return variable.type.device is not None and not is_host(variable.type.device)


def stays_on_device(variable: Any) -> bool:
    """Whether a function returns `variable` as an array on the device: it was transferred there, or
    is an op's of the script, or is a shared variable there."""
    if not is_on_gpu(variable):
        return False
    node = variable.owner
    if node is None or not isinstance(node.op, sw.graph.NativeOp):
        return True
    return node.op.recipe is not None and node.op.recipe[0] in ("transfer", "contiguous")


def _get(self: Any, borrow: bool = False, return_internal_type: bool = False) -> Any:
    """The value as a NumPy array, or with `return_internal_type` as an array on the device."""
    value = _get_value(self, borrow=borrow)
    return as_theano(value) if return_internal_type else value.numpy()


def _text(self: Any) -> str:
    if self.name is not None:
        return self.name
    from ._view import type_of

    return f"<{type_of(self)}>"


def adapt_variables() -> None:
    """Gives ``get_value``, ``eval``, ``transfer`` and ``repr`` of Spanwise's variables the meaning
    that they have in Theano, for this process."""
    from ._function import evaluate

    SharedVariable.get_value = _get
    SharedVariable.__repr__ = SharedVariable.__str__ = _text
    Variable.eval = evaluate
    Variable.transfer = transfer
    Variable.broadcastable = property(lambda self: self.type.broadcastable)
