# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that may be one value or a sequence of values."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any


def is_listed(x: Any) -> bool:
    """Whether `x` is a sequence. An array of rank 0 is not, though it has __iter__."""
    return isinstance(x, Iterable) and getattr(x, "ndim", 1) != 0


def listed(x: Any) -> tuple[Any, ...]:
    """The elements of a sequence, or (x,)."""
    return tuple(x) if is_listed(x) else (x,)


def integers(x: Any) -> tuple[int, ...]:
    """`x`, one integer or a sequence of them, as a tuple. Raises TypeError for other values. Waits
    for an array on a GPU."""
    return tuple(map(operator.index, listed(x)))
