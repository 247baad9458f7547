# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.signal.conv``: convolutions of images that have no channels."""

from __future__ import annotations

from typing import Any

from spanwise.graph import Variable

from .. import _windows
from ..basic import as_tensor_variable

__all__ = ["conv2d"]


def conv2d(
    input: Any,
    filters: Any,
    image_shape: Any = None,
    filter_shape: Any = None,
    border_mode: Any = "valid",
    subsample: Any = (1, 1),
    **options: Any,
) -> Variable:
    """Each image with each filter: a matrix or a stack of images (n, rows, columns), and a matrix or a
    stack of filters. The result has an axis for each stack. The shapes have no effect."""
    x, w = as_tensor_variable(input), as_tensor_variable(filters)
    images = x if x.ndim == 3 else x.dimshuffle("x", 0, 1)
    kernels = w if w.ndim == 3 else w.dimshuffle("x", 0, 1)
    result = _windows.convolve(
        images.dimshuffle(0, "x", 1, 2), kernels.dimshuffle(0, "x", 1, 2), border_mode, subsample, True, 1
    )  # fmt: skip
    if w.ndim == 2:
        result = result[:, 0]
    return result if x.ndim == 3 else result[0]
