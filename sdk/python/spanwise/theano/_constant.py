# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Constants as Theano shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from spanwise.tensor import constant

_LONGEST, _END = 20, 10


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


def added_constants(node: Any) -> tuple[list[Any], list[Any]]:
    """Settings of Spanwise's op that are inputs in Theano, as constants before and after the other
    inputs: the axis of a Join, the shape of a Reshape."""
    name, settings = getattr(node.op, "recipe", None) or ("", {})
    if name == "concatenate":
        return [constant(settings["axis"])], []
    if name == "reshape" and len(node.inputs) == 1:
        return [], [constant(np.array(settings["shape"], "int64"))]
    return [], []
