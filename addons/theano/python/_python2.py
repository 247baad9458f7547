# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts in Python 2: their translation to Python 3, and operations that have another meaning there,
division of integers and functions that return lists there and iterators here."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable, ItemsView, KeysView, ValuesView
from typing import Any, NamedTuple

import numpy as np

_STRING = r"""[uUbBrR]{0,2}(?:\"{3}(?:\\.|(?!\"{3}).)*\"{3}|'{3}(?:\\.|(?!'{3}).)*'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_KINDS = {
    "comment": r"#[^\n]*",
    "string": _STRING,
    "space": r"(?:[ \t\f]|\\\r?\n)+",
    "newline": r"\r?\n",
    "number": r"0[xXoObB][0-9a-fA-F]+[lL]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[jJlL]?",
    "name": r"[^\W\d]\w*",
    "operator": r"<>|!=|==|<=|>=|\*\*=?|//=?|<<=?|>>=?|[-+*/%&|^]=?|.",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{text})" for kind, text in _KINDS.items()), re.DOTALL)


class Token(NamedTuple):
    kind: str
    text: str
    start: int


def tokens_of(source: str) -> list[Token]:
    """All characters of `source` as tokens: comment, string, space (with continued lines), newline,
    number, name, operator."""
    return [Token(m.lastgroup or "", m.group(), m.start()) for m in _TOKEN.finditer(source)]


_NAMES = {
    "xrange": "range",
    "raw_input": "input",
    "unicode": "str",
    "basestring": "str",
    "unichr": "chr",
    "long": "int",
    "itervalues": "values",
    "iterkeys": "keys",
    "iteritems": "items",
    "has_key": "__contains__",
}
_IMPORTS = {
    "cPickle": "pickle",
    "StringIO": "io",
    "cStringIO": "io",
    "Queue": "queue",
    "ConfigParser": "configparser",
    "urllib2": "urllib.request",
}
_METHODS = {"itervalues", "iterkeys", "iteritems", "has_key"}
_OLD_OCTAL = re.compile(r"0[0-7]+\Z")


def is_python2(source: str) -> bool:
    """Whether `source` is Python 2: Python 3 cannot compile it, or it uses a name that only Python 2
    has and does not bind that name, unless by an import of a Python 2 module."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(source)
    except SyntaxError:
        return True
    used: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.Attribute) and node.attr in _METHODS:
            used.add(node.attr)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name)
            used.update({node.name} & set(_IMPORTS))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
    return bool(used & {*_NAMES, *_IMPORTS, "reduce"} - (bound - set(_IMPORTS)))


def translate(source: str) -> str:
    """`source`, in Python 2, as Python 3. Statements keep their lines; a statement that is not
    understood is left as it is."""
    tokens = _with_spaces(tokens_of(source))
    has_print_function = bool(re.search(r"^from __future__ import .*print_function", source, re.M))
    out: list[str] = []
    for statement in _statements(tokens):
        out += _translate_statement(statement, has_print_function)
    return "".join(out)


def _with_spaces(tokens: list[Token]) -> list[Token]:
    """The tokens with tabs in indentation as spaces up to the next multiple of 8."""
    result = []
    for i, token in enumerate(tokens):
        if token.kind == "space" and (i == 0 or tokens[i - 1].kind == "newline"):
            token = token._replace(text=token.text.expandtabs(8))
        result.append(token)
    return result


def _nesting(token: Token) -> int:
    """1 for an opening bracket, -1 for a closing one, else 0."""
    return (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))


def _statements(tokens: list[Token]) -> list[list[Token]]:
    """The tokens split behind ends of lines, semicolons, and colons that open a block."""
    statements: list[list[Token]] = [[]]
    depth, open_lambdas = 0, 0
    for token in tokens:
        statements[-1].append(token)
        depth += _nesting(token)
        if token.text == "lambda":
            open_lambdas += 1
        elif token.text == ":" and open_lambdas:
            open_lambdas -= 1
        elif depth == 0 and (token.text in (";", ":") or token.kind == "newline"):
            statements.append([])
            open_lambdas = 0
    return statements


def _translate_statement(statement: list[Token], has_print_function: bool) -> list[str]:
    words = [token for token in statement if token.kind not in ("space", "newline", "comment")]
    if not words:
        return [token.text for token in statement]
    first = words[0].text
    if first == "print" and not has_print_function:
        return _between(statement, words, _print)
    if first == "exec" and len(words) > 1:
        return _between(statement, words, _exec)
    if first == "raise":
        return _between(statement, words, _raise)
    if first == "except":
        return _except(statement)
    return _expression(statement)


def _between(
    statement: list[Token], words: list[Token], translated: Callable[[list[Token]], list[str]]
) -> list[str]:
    """Replaces the keyword, the first of `words`, and its operands, the tokens up to the last word, by
    translated(operands); spaces, comments and semicolons around stay."""
    last = words[-2] if words[-1].text == ";" and len(words) > 1 else words[-1]
    start, end = statement.index(words[0]), statement.index(last) + 1
    before = [token.text for token in statement[:start]]
    after = [token.text for token in statement[end:]]
    return [*before, *translated(statement[start + 1 : end]), *after]


def _split(tokens: list[Token], separators: tuple[str, ...]) -> list[list[Token]]:
    """The tokens between separators outside of brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += _nesting(token)
        if depth == 0 and token.text in separators:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _text(tokens: list[Token]) -> str:
    return "".join(_expression(tokens)).strip()


def _print(operands: list[Token]) -> list[str]:
    parts = [_text(part) for part in _split(operands, (",",))]
    options = ""
    if parts[0].startswith(">>"):
        options = f", file={parts.pop(0)[2:].strip()}"
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
        options = ", end=' '" + options
    values = ", ".join(parts)
    return [f"print({values}{options if values else options.removeprefix(', ')})"]


def _exec(operands: list[Token]) -> list[str]:
    parts = [_text(part) for part in _split(operands, ("in", ","))]
    # exec(code, names), a tuple for Python 2, has the form of a call already.
    words = [token for token in operands if token.kind != "space"]
    in_brackets = words[0].text == "(" and words[-1].text == ")"
    if in_brackets and len(_split(words[1:-1], (",",))) > 1:
        parts = [parts[0][1:-1]]
    return [f"exec({', '.join(parts)})"]


def _raise(operands: list[Token]) -> list[str]:
    parts = [_text(part) for part in _split(operands, (",",))]
    if len(parts) == 1:
        return [f"raise {parts[0]}" if parts[0] else "raise"]
    traceback = f".with_traceback({parts[2]})" if len(parts) > 2 else ""
    return [f"raise {parts[0]}({parts[1]}){traceback}"]


def _except(statement: list[Token]) -> list[str]:
    parts = _split(statement, (",",))
    if len(parts) != 2:
        return _expression(statement)
    return ["".join(_expression(parts[0])), " as", "".join(_expression(parts[1]))]


def _expression(tokens: list[Token]) -> list[str]:
    """Names, operators, numbers and backticks translated."""
    out: list[str] = []
    is_open = False
    for i, token in enumerate(tokens):
        text = token.text
        before = tokens[i - 1].text if i else ""
        if token.kind == "name":
            out.append(_name(text, before, tokens, i))
        elif text == "<>":
            out.append("!=")
        elif text == "`":
            is_open = not is_open
            out.append("repr(" if is_open else ")")
        elif token.kind == "number":
            text = text.rstrip("lL")
            out.append(f"0o{text[1:]}" if _OLD_OCTAL.match(text) and text.strip("0") else text)
        elif token.kind == "string" and text[:2].lower() == "ur":
            out.append(text[1:])
        else:
            out.append(text)
    return out


def _name(text: str, before: str, tokens: list[Token], i: int) -> str:
    if before == ".":  # an attribute
        return _NAMES[text] if text in _METHODS else text
    words = [token.text for token in tokens[:i] if token.kind == "name"]
    if words[:1] in (["import"], ["from"]) and text in _IMPORTS:
        name = _IMPORTS[text]
        has_alias = "as" in [token.text for token in tokens[i:]]
        return name if words[0] == "from" or has_alias else f"{name} as {text}"
    if text in _NAMES and text not in _METHODS:
        after = [token.text for token in tokens[i + 1 :] if token.kind != "space"]
        return text if after[:1] == ["="] else _NAMES[text]  # an argument's name or a target stays
    return text


# ---- Operations with another meaning ----


#: Names of the built-in functions that translated scripts call.
DIVIDE, LIST = "__divide_python2__", "__list_python2__"

_LIST_FUNCTIONS = {"map", "filter", "zip", "range"}
_LIST_METHODS = {"keys", "values", "items"}


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
        is_function = isinstance(called, ast.Name) and called.id in _LIST_FUNCTIONS
        is_method = (
            isinstance(called, ast.Attribute) and called.attr in _LIST_METHODS and not node.args
        )
        if not is_function and not is_method:
            return node
        call = ast.Call(ast.Name(LIST, ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop over ``range(n)`` or another function of _LIST_FUNCTIONS needs no list."""
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
