# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Division in scripts for Python 2: ``/`` of integers is floor division."""

from __future__ import annotations

import ast
import sys
from typing import Any

import numpy as np

DIVIDE = "__divide_python2__"
_shown: set[int] = set()


def divide(left: Any, right: Any, line: int, file: str) -> Any:
    """``left / right`` as in Python 2. The first floor division of each line is reported to
    stderr."""
    if not (_is_integer(left) and _is_integer(right)):
        return left / right
    if line not in _shown:
        _shown.add(line)
        print(f"{file}:{line}: integer division: / is // here, as in Python 2", file=sys.stderr)
    return left // right


def _is_integer(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "biu"
    return isinstance(value, int)


class _Divisions(ast.NodeTransformer):
    def __init__(self, file: str) -> None:
        self.file = file

    def _call(self, left: ast.expr, right: ast.expr, node: ast.AST) -> ast.expr:
        place = [ast.Constant(node.lineno), ast.Constant(self.file)]  # type: ignore[attr-defined]
        call = ast.Call(ast.Name(DIVIDE, ast.Load()), [left, right, *place], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self._call(node.left, node.right, node) if isinstance(node.op, ast.Div) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or not isinstance(node.target, ast.Name):
            return node
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        made = ast.Assign([node.target], self._call(read, node.value, node))
        return ast.fix_missing_locations(ast.copy_location(made, node))


def with_python2_division(tree: ast.Module, file: str) -> ast.Module:
    """`tree` with each ``/`` replaced by a call of divide(), unless the script imports division from
    __future__. Augmented assignments to attributes and elements are left as they are."""
    imported = (
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    )
    return tree if "division" in imported else _Divisions(file).visit(tree)
