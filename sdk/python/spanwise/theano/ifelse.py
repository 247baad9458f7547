# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.ifelse``: computes one of two branches."""

from __future__ import annotations

from typing import Any

from spanwise.tensor import ifelse as _ifelse

__all__ = ["ifelse"]


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """`then_branch` if `condition`, a variable of rank 0, is not 0, else `else_branch`. Only that
    branch is computed. Lists of equal length give a list; `name` is ignored."""
    if not isinstance(then_branch, (list, tuple)):
        return _ifelse(condition, then_branch, else_branch)
    return [_ifelse(condition, a, b) for a, b in zip(then_branch, else_branch, strict=True)]
