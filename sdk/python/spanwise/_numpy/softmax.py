# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""softmax and its logarithm, of arrays and of variables of graphs."""

from __future__ import annotations

from typing import Any

from .. import _core


def softmax(x: Any, axis: int | None = -1) -> Any:
    """exp(x) over its sum along `axis` (None: of all), right for elements of any size."""
    shifted = _shifted(x, axis)
    powers = _core.exp(shifted)
    return powers / _core.sum(powers, axis, keepdims=True)


def log_softmax(x: Any, axis: int | None = -1) -> Any:
    """log(softmax(x)), right where that would be the logarithm of 0."""
    shifted = _shifted(x, axis)
    return shifted - _core.log(_core.sum(_core.exp(shifted), axis, keepdims=True))


def _shifted(x: Any, axis: int | None) -> Any:
    """Less the largest element, so that no power overflows."""
    values = _core._operand(x)
    return values - _core.max(values, axis, keepdims=True)
