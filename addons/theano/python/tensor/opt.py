# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.opt``: Assert, an op that raises."""

from __future__ import annotations

from typing import Any

import spanwise as sw
from spanwise.graph import Variable

__all__ = ["Assert"]


class Assert(sw.Op):
    """Assert(message)(value, *conditions): `value`; raises AssertionError with the message when the
    function runs and an element of a condition is false."""

    __props__ = ("msg",)
    view_map = {0: [0]}

    def __init__(self, msg: str = "Theano Assert failed!") -> None:
        self.msg = msg

    def make_node(self, value: Any, *conditions: Any) -> Any:
        inputs = [sw.tensor.as_variable(x) for x in (value, *conditions)]
        return sw.Apply(self, inputs, [inputs[0].type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        for condition in inputs[1:]:
            if not bool(sw.all(condition)):
                raise AssertionError(self.msg)
        output_storage[0][0] = inputs[0]

    def grad(self, inputs: Any, output_gradients: list[Variable]) -> Any:
        return [output_gradients[0]] + [sw.tensor.zeros_like(x) for x in inputs[1:]]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[True]] + [[False]] * (len(node.inputs) - 1)


assert_ = assert_op = Assert()
