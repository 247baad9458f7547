# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.scan``, with Theano's arguments and its pair of results."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from spanwise import GraphError
from spanwise.graph import scan as _scan


def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    profile: bool = False,
    allow_gc: bool | None = None,
    strict: bool = False,
    return_list: bool = False,
) -> tuple[Any, OrderedDict[Any, Any]]:
    """As spanwise.graph.scan; returns (outputs, updates), which are empty. `mode`, `profile`, `allow_gc`
    and `strict` have no effect. Raises GraphError for a truncated gradient."""
    if truncate_gradient != -1:
        raise GraphError("scan: truncate_gradient is not available; leave it out")
    outputs = _scan(fn, sequences, outputs_info, non_sequences, n_steps, go_backwards, name)
    if return_list and not isinstance(outputs, list):
        outputs = [outputs]
    return outputs, OrderedDict()
