# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Constants as Theano shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from spanwise.graph import Constant

from .._graph.op import recipe_of

_LONGEST, _END = 20, 10  # characters of a whole text, and of each end of a shortened one


def constant_text(values: Any, kind: str = "TensorConstant") -> str:
    """``TensorConstant{2.0}``: the value; for an array of equal values its shape and one of them;
    the middle of a long text is left out."""
    values = np.asarray(values)
    if values.ndim and values.size and (values == values.flat[0]).all():
        text = f"{values.shape} of {values.flat[0]}"
    else:
        text = str(values)
    if len(text) > _LONGEST:
        text = f"{text[:_END]}..{text[-_END:]}"
    return f"{kind}{{{text}}}"


def small_constant_key(variable: Any) -> tuple[Any, ...] | None:
    """A key that is equal for equal constants of one number from -10 to 10, which Theano merges; None
    for other variables."""
    if not isinstance(variable, Constant) or variable.name is not None or variable.value.size != 1:
        return None
    value = variable.value.numpy().item()
    if not isinstance(value, (bool, int, float)) or not -10 <= value <= 10:
        return None
    return str(variable.type), repr(value)  # 0.0 and -0.0 differ


def added_constants(node: Any) -> tuple[list[Any], list[Any]]:
    """Settings of Spanwise's op that are inputs in Theano, before and after the other inputs: the
    axis of a Join, the shape of a Reshape."""
    name, settings = recipe_of(node.op)
    if name == "concatenate":
        return [settings["axis"]], []
    if name == "reshape" and len(node.inputs) == 1:
        return [], [np.array(settings["shape"], "int64")]
    return [], []
