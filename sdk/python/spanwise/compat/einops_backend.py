# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Importing it registers spanwise.Array with einops, whose rearrange, reduce, repeat, einsum, pack and
unpack take and return such arrays, on any device. Needs einops."""

from typing import Any

from einops._backends import NumpyBackend as _NumpyBackend

import spanwise as _sw


class SpanwiseBackend(_NumpyBackend):  # type: ignore[misc]
    """einops calls NumPy's functions, whose results are Spanwise's for Spanwise's arrays."""

    framework_name = "spanwise"

    def __init__(self) -> None:
        import numpy

        self.np = numpy

    def is_appropriate_type(self, tensor: object) -> bool:
        return isinstance(tensor, _sw.Array)

    def from_numpy(self, x: Any) -> _sw.Array:
        return _sw.asarray(x)

    def to_numpy(self, x: _sw.Array) -> Any:
        return x.numpy()

    def arange(self, start: int, stop: int) -> _sw.Array:
        return _sw.arange(start, stop)

    def is_float_type(self, x: _sw.Array) -> bool:
        return _sw.isdtype(x.dtype, ("real floating", "complex floating"))
