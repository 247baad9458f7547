# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What the converters have in common."""

from __future__ import annotations

from typing import Any

from .. import _core


def our_array(x: Any, who: str, error: type[Exception]) -> _core.Array:
    """``x`` if it is one of our arrays; Theano's functions took their own arrays only."""
    if isinstance(x, _core.Array):
        return x
    raise error(
        f"{who}: expected a spanwise.Array, got {type(x).__name__}; pass spanwise.asarray(x)"
    )
