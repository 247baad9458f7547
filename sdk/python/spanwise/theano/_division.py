# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Division in scripts for Python 2: ``/`` of integers is floor division."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_shown: set[int] = set()


def divide(left: Any, right: Any, line: int, file: str) -> Any:
    """``left / right`` as in Python 2. The first floor division of each line is reported to
    stderr."""
    if not (_is_integer(left) and _is_integer(right)):
        return left / right
    if line not in _shown:
        _shown.add(line)
        print(f"{file}:{line}: integer division: / is // here, as in Python 2", file=sys.stderr)
    return left // right


def _is_integer(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "biu"
    return isinstance(value, int)
