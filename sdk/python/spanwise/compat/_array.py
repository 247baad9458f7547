# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The type check shared by the conversion functions."""

from __future__ import annotations

from typing import Any

from .. import _core


def our_array(x: Any, caller: str, error: type[Exception]) -> _core.Array:
    """``x`` if it is a spanwise.Array, else raises `error`, as Theano's functions did for other
    arrays than their own."""
    if isinstance(x, _core.Array):
        return x
    raise error(
        f"{caller}: expected a spanwise.Array, got {type(x).__name__}; pass spanwise.asarray(x)"
    )
