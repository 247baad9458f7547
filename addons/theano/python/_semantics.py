# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operations that have another meaning in Python 2: division of integers, and functions that return
lists there and iterators here."""

from __future__ import annotations

import ast
import sys
from collections.abc import ItemsView, KeysView, ValuesView
from typing import Any

import numpy as np

#: Names of the built-in functions that translated scripts call.
DIVIDE, LIST = "__divide_python2__", "__list_python2__"

_FUNCTIONS = {"map", "filter", "zip", "range"}
_METHODS = {"keys", "values", "items"}


class _Semantics(ast.NodeTransformer):
    def __init__(self, file: str, has_true_division: bool) -> None:
        self.file, self.has_true_division = file, has_true_division

    def _divide(self, left: ast.expr, right: ast.expr, node: ast.AST) -> ast.expr:
        location = [ast.Constant(node.lineno), ast.Constant(self.file)]  # type: ignore[attr-defined]
        call = ast.Call(ast.Name(DIVIDE, ast.Load()), [left, right, *location], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if self.has_true_division or not isinstance(node.op, ast.Div):
            return node
        return self._divide(node.left, node.right, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        is_division = isinstance(node.op, ast.Div) and not self.has_true_division
        if not is_division or not isinstance(node.target, ast.Name):
            return node
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        assign = ast.Assign([node.target], self._divide(read, node.value, node))
        return ast.fix_missing_locations(ast.copy_location(assign, node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        is_function = isinstance(called, ast.Name) and called.id in _FUNCTIONS
        is_method = isinstance(called, ast.Attribute) and called.attr in _METHODS and not node.args
        if not is_function and not is_method:
            return node
        call = ast.Call(ast.Name(LIST, ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop over ``range(n)`` or another function of _FUNCTIONS needs no list."""
        self.generic_visit(node)
        match node.iter:
            case ast.Call(ast.Name(name), [ast.Call(ast.Name()) as call]) if name == LIST:
                node.iter = call
        return node


def with_python2_semantics(tree: ast.Module, file: str) -> ast.Module:
    """`tree` with ``/`` as calls of divide(), unless the script imports division from __future__, and
    lists as results of map, filter, zip, range, keys, values and items. Augmented assignments to
    attributes and elements are left as they are."""
    imported = (
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    )
    return _Semantics(file, "division" in imported).visit(tree)


def as_list(value: object) -> object:
    """`value` as a list if it is an iterator, a range or a view of a dict; else `value`."""
    is_view = isinstance(value, (KeysView, ValuesView, ItemsView))
    is_iterator = isinstance(value, (map, filter, zip, range))
    return list(value) if is_view or is_iterator else value  # type: ignore[call-overload]


_reported: set[tuple[str, int]] = set()


def divide(left: Any, right: Any, line: int, file: str) -> Any:
    """``left / right`` as in Python 2. The first floor division of each line is reported to
    stderr."""
    if not (_is_integer(left) and _is_integer(right)):
        return left / right
    if (file, line) not in _reported:
        _reported.add((file, line))
        print(f"{file}:{line}: integer division: / is // here, as in Python 2", file=sys.stderr)
    return left // right


def _is_integer(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "biu"
    return isinstance(value, int)
