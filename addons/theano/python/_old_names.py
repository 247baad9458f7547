# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Names that only modules of _old_paths.py have."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from spanwise.graph import (
    Apply as Apply,
    Constant as Constant,
    FunctionGraph as FunctionGraph,
    TensorType as Type,
    Variable as Variable,
    ancestors as ancestors,
    clone as clone,
)
from spanwise.tensor import verify_grad as verify_grad

from ._ops import Op as Op

__all__ = ["Type"]

# ---- theano.gof ----


def inputs(variables: list[Variable], blockers: Any = None) -> list[Variable]:
    """The variables without a node that `variables` are computed from."""
    read = [x for node in ancestors(variables) for x in node.inputs] + list(variables)
    return [x for x in dict.fromkeys(read) if x.owner is None]


# ---- theano.updates ----


class OrderedUpdates(OrderedDict[Any, Any]):
    """A dict of updates."""


# ---- theano.tests.unittest_tools ----


def assert_allclose(expected: Any, value: Any, rtol: float = 1e-5, atol: float = 1e-8) -> None:
    np.testing.assert_allclose(value, expected, rtol, atol)


def fetch_seed(seed: int | None = None) -> int:
    return 666 if seed is None else seed


def seed_rng(seed: int | None = None) -> int:
    np.random.seed(fetch_seed(seed))
    return fetch_seed(seed)
