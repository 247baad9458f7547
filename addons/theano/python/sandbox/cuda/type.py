# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.cuda.type``: the type of float32 variables on the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanwise.graph import TensorType

from ..._config import devices


def CudaNdarrayType(  # noqa: N802
    broadcastable: Sequence[bool], name: Any = None, dtype: Any = "float32"
) -> TensorType:
    """The type of float32 variables on the GPU; an axis that is broadcastable has extent 1. Raises
    TypeError for another dtype."""
    if dtype != "float32":
        raise TypeError(f"CudaNdarrayType: expected dtype float32, got {dtype}")
    return TensorType(dtype, broadcastable, devices.gpu)
