# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Values of expressions while they are written: ``config.compute_test_value`` and
``x.tag.test_value`` (theano/gof/op.py)."""

from __future__ import annotations

import warnings
from typing import Any

from .._config import config
from .._core import Apply, Constant, GraphError, SharedVariable, Variable
from .compiled import function
from .test_value_scope import skips_test_values, without_test_values

_MISSING = object()


def observe(node: Apply) -> None:
    """Computes the outputs of a new node from the test values of its inputs, and stores them as the test
    values of the outputs.

    The extension module calls it while config.compute_test_value is not "off". Raises what the node
    raises for these values; for an input without a test value GraphError, or with "warn" a
    warning, or with "ignore" nothing.
    """
    if skips_test_values():
        return
    values = {x: _value_of(x) for x in node.inputs if not isinstance(x, Constant)}
    for x, value in values.items():
        if value is _MISSING:
            _report_missing(x, node)
            return
    with without_test_values():
        substitutes = {x: x.type(x.name) for x in values}
        copied = node.clone_with_new_inputs([substitutes.get(x, x) for x in node.inputs])
        compute = function(
            list(substitutes.values()),
            copied.outputs,
            mode="fast_compile",
            name=f"for the test value of {node}",
            on_unused_input="ignore",
            profile=False,
        )
        for output, value in zip(node.outputs, compute(*values.values()), strict=True):
            output.tag.test_value = value


def _value_of(x: Variable) -> Any:
    if isinstance(x, SharedVariable):
        return x.get_value(borrow=True)
    return getattr(x.tag, "test_value", _MISSING)


def _report_missing(x: Variable, node: Apply) -> None:
    message = (
        f"compute_test_value: {x} of {x.type}, an input of {node}, has no test value; set "
        'its tag.test_value to an array, or config.compute_test_value to "ignore"'
    )
    if config.compute_test_value == "raise":
        raise GraphError(message)
    if config.compute_test_value == "warn":
        warnings.warn(message, stacklevel=3)
