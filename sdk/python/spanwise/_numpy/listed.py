# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that are one number or several: which of them an object is."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any


def is_listed(x: Any) -> bool:
    """Whether `x` holds several values. An array of rank 0 is one value, though it has __iter__."""
    return isinstance(x, Iterable) and getattr(x, "ndim", 1) != 0


def listed(x: Any) -> tuple[Any, ...]:
    """The values in `x`, or `x` itself as the only one."""
    return tuple(x) if is_listed(x) else (x,)


def integers(x: Any) -> tuple[int, ...]:
    """The integers in `x`, or `x` itself as the only one; TypeError for anything else. Reading an
    array of a GPU waits for it."""
    return tuple(map(operator.index, listed(x)))
