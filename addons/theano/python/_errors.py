# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of graphs with the classes that Theano has for them, and its words for where a variable was
made."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar

from spanwise import GraphError


class MissingInputError(GraphError):
    """A function needs a variable that is no input."""


class UnusedInputError(GraphError):
    """No output depends on an input, or an input is listed twice."""


class DisconnectedInputError(GraphError, ValueError):
    """A cost does not depend on a variable of which the derivative is asked for."""


class GraphTypeError(GraphError, TypeError):
    """A variable of another type than expected."""


class GraphRuntimeError(GraphError, RuntimeError):
    """A variable is given twice."""


#: Part of an error text -> the class.
_CLASSES = {
    "is neither an input nor a constant": MissingInputError,
    "which strict=True forbids": MissingInputError,
    "no output needs the input": UnusedInputError,
    "occurs twice among the inputs": UnusedInputError,
    "the cost does not depend on": DisconnectedInputError,
    "expected a cost of rank 0": GraphTypeError,
    "is a constant; expected a variable": GraphTypeError,
    "is a shared variable, which already": GraphTypeError,
    "expected the same dtype and axes": GraphTypeError,
    "which is an input as well": GraphRuntimeError,
}
_PLACE = re.compile(r"^.* was made here:$", re.MULTILINE)

Function = TypeVar("Function", bound=Callable[..., Any])


def with_classes(function: Function) -> Function:
    """`function`, whose GraphErrors have these classes."""

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except GraphError as error:
            text = str(error)
            kind = next((kind for part, kind in _CLASSES.items() if part in text), None)
            if kind is None or isinstance(error, kind):
                raise
            shown = _PLACE.sub("Backtrace when that variable is created:\n", text)
            raise kind(shown) from error.__cause__

    return call  # type: ignore[return-value]
