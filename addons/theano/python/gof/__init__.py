# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.gof``: the parts of graphs."""

from spanwise.graph import Apply, Constant, FunctionGraph, TensorType as Type, Variable, clone

from .._ops import Op

__all__ = ["Apply", "Constant", "FunctionGraph", "Op", "Type", "Variable", "clone"]
