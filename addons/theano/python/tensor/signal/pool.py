# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.signal.pool``: pooling over the last two or three axes."""

from __future__ import annotations

from typing import Any

from spanwise.graph import Variable

from .. import _windows
from ..basic import as_tensor_variable

__all__ = ["pool_2d", "pool_3d"]


def _pool(count: int, name: str) -> Any:
    def pool(
        input: Any,
        ws: Any = None,
        ignore_border: bool | None = None,
        stride: Any = None,
        pad: Any = None,
        mode: str = "max",
        ds: Any = None,
        st: Any = None,
        padding: Any = None,
    ) -> Variable:
        if ws is None and ds is None:
            raise ValueError(f"{name}: expected the size of the windows, ws")
        sizes = _windows.as_extents(ds if ws is None else ws, count, "ws")
        steps, pads = st if stride is None else stride, padding if pad is None else pad
        return _windows.pool(
            as_tensor_variable(input), sizes, bool(ignore_border), steps, pads, mode
        )

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""Windows of extents `ws` along the last {count} axes of `input`, `stride` apart (by default
        `ws`), reduced by `mode`: "max", "sum", "average_inc_pad", which counts the `pad` elements
        around the input, or "average_exc_pad". Windows that leave the input are left out with
        ignore_border=True, else smaller."""
    return pool


pool_2d, pool_3d = _pool(2, "pool_2d"), _pool(3, "pool_3d")
