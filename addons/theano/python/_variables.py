# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Shared variables, transfers of variables, and the devices of variables."""

from __future__ import annotations

from typing import Any

import numpy as np

import spanwise as sw
from spanwise.graph import SharedVariable

from .._graph.op import recipe_of
from ._device_array import unwrap
from ._devices import devices, is_host


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

    By default it is on the device of the flag ``device``. Exceptions are on the CPU: with
    ``device=gpu`` values that are not float32, which CudaNdarray cannot hold, and integer and bool
    scalars. `borrow` is that of spanwise.shared; `strict`, `allow_downcast` and `broadcastable` are
    accepted for compatibility and have no effect. Raises ValueError for an unknown `target`.
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
    """`variable` on `target`: "cpu", None for the GPU, or the name of a context. Raises ValueError
    for an unknown `target`."""
    variable = sw.graph.as_variable(variable)
    device, current = devices.target(target), variable.type.device
    if is_host(device) and is_host(current or "cpu"):
        return variable
    if isinstance(variable, SharedVariable) and str(current) == device:
        return variable
    # Applied also where the value is on the device already: it marks a result that stays there.
    return sw.ops.transfer(variable, device=device)


def is_on_gpu(variable: Any) -> bool:
    """Whether the type of `variable` names a GPU, or the CPU in its place."""
    return variable.type.device is not None and not is_host(variable.type.device)


def stays_on_device(variable: Any) -> bool:
    """Whether a function returns `variable` as an array on the device instead of a NumPy array: it
    is a shared variable or an input there, the output of an op that the script defines, or was
    transferred there explicitly."""
    if not is_on_gpu(variable):
        return False
    node = variable.owner
    if node is None or not isinstance(node.op, sw.graph.NativeOp):
        return True
    # gpu_contiguous() makes the op "contiguous".
    return recipe_of(node.op)[0] in ("transfer", "contiguous")
