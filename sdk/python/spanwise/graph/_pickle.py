# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Pickling of graphs, ops and compiled functions, which ``copy.deepcopy`` uses too.

A graph is written as a list of nodes in topological order, so that a deep graph needs no deep
recursion. Values are pickled as arrays are, by a copy on the host. Values, types and ops of a
device that does not exist when loading are put on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from .. import _core
from .._core import Apply, CompiledFunction, Constant, SharedVariable, Variable
from ._function import compile_recipe
from ._op import present_device
from ._states import array_of, default_update_of
from ._traversal import ancestors


class _PickledNode:
    """Stands for a node while it is pickled. Unique for each node, so that the pickler's memo
    recognises it."""

    __slots__ = ("__weakref__", "node")

    def __init__(self, node: Apply) -> None:
        self.node = node

    def __reduce__(self) -> tuple[Callable[..., Apply], tuple[Any, ...]]:
        inputs = [
            x if x.owner is None else (_pickled_node(x.owner), x.index) for x in self.node.inputs
        ]
        outputs = [(x.type, x.name, vars(x.tag) or None) for x in self.node.outputs]
        return _load_node, (self.node.op, inputs, outputs, vars(self.node.tag) or None)


# id(node) -> its _PickledNode. The pickler's memo keeps a _PickledNode alive, which keeps its node
# (and id) alive.
_nodes: WeakValueDictionary[int, _PickledNode] = WeakValueDictionary()


def _pickled_node(node: Apply) -> _PickledNode:
    return _nodes.get(id(node)) or _nodes.setdefault(id(node), _PickledNode(node))


def _graph_of(node: Apply) -> list[_PickledNode]:
    return [_pickled_node(each) for each in ancestors(node.outputs)]


# ---- Implementations of __reduce__ ----


def reduce_variable(x: Variable) -> tuple[Any, ...]:
    if x.owner is not None:
        return _load_output, (_graph_of(x.owner), _pickled_node(x.owner), x.index)
    tag = vars(x.tag) or None
    if isinstance(x, Constant):
        return _load_constant, (x.data, x.name, tag, str(x.data.device))
    if isinstance(x, SharedVariable):
        update = default_update_of(x)
        tag = {
            name: value for name, value in vars(x.tag).items() if name != "default_update"
        } or None
        load = _load_shared, (array_of(x, borrow=True), x.name, str(x.device), tag)
        # The update reads x, so it is loaded after x, as an attribute of its state.
        return load if update is None else (*load, (None, {"default_update": update}))
    return _load_input, (x.type, x.name, tag)


def reduce_apply(node: Apply) -> tuple[Any, ...]:
    return _load_apply, (_graph_of(node), _pickled_node(node))


def reduce_type(type_: _core.TensorType) -> tuple[Any, ...]:
    device = None if type_.device is None else str(type_.device)
    return _load_type, (type_.dtype.name, type_.shape, device)


def reduce_function(f: CompiledFunction, recipe: dict[str, Any]) -> tuple[Any, ...]:
    return _load_function, (recipe, f.trust_input)


# ---- Functions that pickles refer to: their names and parameters must not change ----


def _with_tag(x: Any, tag: dict[str, Any] | None) -> Any:
    if tag:
        vars(x.tag).update(tag)
    return x


def _load_node(op: Any, inputs: list[Any], outputs: list[Any], tag: dict[str, Any] | None) -> Apply:
    read = [x if isinstance(x, Variable) else _node(x[0]).outputs[x[1]] for x in inputs]
    written = [_with_tag(type_(name), own_tag) for type_, name, own_tag in outputs]
    return _with_tag(Apply(op, read, written), tag)


def _node(node: Apply | _PickledNode) -> Apply:
    """The Apply: unpickling passes it, copy.copy() passes the _PickledNode of __reduce__ as it is."""
    return node.node if isinstance(node, _PickledNode) else node


def _load_output(graph: list[Any], node: Any, index: int) -> Variable:
    return _node(node).outputs[index]


def _load_apply(graph: list[Any], node: Any) -> Apply:
    return _node(node)


def _load_input(type_: _core.TensorType, name: str | None, tag: dict[str, Any] | None) -> Variable:
    return _with_tag(type_(name), tag)


def _load_constant(
    value: Any, name: str | None, tag: dict[str, Any] | None, device: str | None = None
) -> Variable:
    if device is not None:  # absent in pickles of earlier versions
        value = value.to(present_device(device))
    return _with_tag(_core._as_variable(value, name), tag)


def _load_shared(
    value: Any, name: str | None, device: str, tag: dict[str, Any] | None
) -> SharedVariable:
    return _with_tag(_core._shared(value, name, False, present_device(device)), tag)


def _load_type(dtype: str, shape: tuple[int | None, ...], device: str | None) -> _core.TensorType:
    return _core.TensorType(dtype, shape, present_device(device))


def _load_function(recipe: dict[str, Any], trust_input: bool) -> CompiledFunction:
    function = compile_recipe(recipe)
    function.trust_input = trust_input
    return function
