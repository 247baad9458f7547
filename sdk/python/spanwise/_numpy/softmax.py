# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""softmax and log_softmax, of arrays and of variables of graphs."""

from __future__ import annotations

from typing import Any

from .. import _core


def softmax(x: Any, axis: int | None = -1) -> Any:
    """exp(x) / sum(exp(x)) along `axis` (None: over all elements), without overflow of large
    `x`."""
    shifted = _shifted(x, axis)
    powers = _core.exp(shifted)
    return powers / _core.sum(powers, axis, keepdims=True)


def log_softmax(x: Any, axis: int | None = -1) -> Any:
    """log(softmax(x)), accurate also where softmax(x) underflows to 0."""
    shifted = _shifted(x, axis)
    return shifted - _core.log(_core.sum(_core.exp(shifted), axis, keepdims=True))


def _shifted(x: Any, axis: int | None) -> Any:
    """`x` minus its maximum along `axis`, so that exp() does not overflow."""
    values = _core._operand(x)
    return values - _core.max(values, axis, keepdims=True)
