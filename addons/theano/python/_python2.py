# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts in Python 2: their translation to Python 3, and operations that have another meaning there,
division of integers and functions that return lists there and iterators here."""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
import warnings
from collections import namedtuple
from collections.abc import Callable, ItemsView, KeysView, ValuesView
from importlib import import_module
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
    "viewvalues": "values",
    "viewkeys": "keys",
    "viewitems": "items",
}
#: Modules that have another name in Python 3; the runner makes them importable by these.
MODULES = {
    "BaseHTTPServer": "http.server",
    "ConfigParser": "configparser",
    "HTMLParser": "html.parser",
    "Queue": "queue",
    "SocketServer": "socketserver",
    "StringIO": "io",
    "Tkinter": "tkinter",
    "UserDict": "collections",
    "__builtin__": "builtins",
    "cPickle": "pickle",
    "cStringIO": "io",
    "commands": "subprocess",
    "cookielib": "http.cookiejar",
    "copy_reg": "copyreg",
    "httplib": "http.client",
    "thread": "_thread",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "xmlrpclib": "xmlrpc.client",
}
_METHODS = {
    "itervalues", "iterkeys", "iteritems", "has_key", "viewvalues", "viewkeys", "viewitems",
}  # fmt: skip
#: Functions that the runner makes known (`names_of_python2`), so that a script that calls them is Python 2.
_FUNCTIONS = {"apply", "cmp", "execfile", "file", "intern", "reduce"}
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
            used.update({node.name} & set(MODULES))
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            return True
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
    return bool(used & {*_NAMES, *MODULES, *_FUNCTIONS} - (bound - set(MODULES)))


def translate(source: str) -> str:
    """`source`, in Python 2, as Python 3. Statements keep their lines; a statement that is not
    understood is left as it is."""
    if _TUPLE_PARAMETERS.search(source):
        source = _without_tuple_parameters(source)
    tokens = _with_spaces(tokens_of(source))
    has_print_function = bool(re.search(r"^from __future__ import .*print_function", source, re.M))
    out: list[str] = []
    for statement in _statements(tokens):
        out += _translate_statement(statement, has_print_function)
    return "".join(out)


def _without_tuple_parameters(source: str) -> str:
    """`source` without ``def f((a, b))`` and ``lambda (a, b): ...``, by the fixers of fissix, or of lib2to3
    in Python before 3.13. ImportError where neither is there."""
    for package in ("fissix", "lib2to3"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of lib2to3, whose heir is fissix
            try:
                refactor = import_module(f"{package}.refactor")
            except ImportError:
                continue
            tool = refactor.RefactoringTool([f"{package}.fixes.fix_tuple_params"])
            return str(tool.refactor_string(source + "\n", "script"))
    raise ImportError(
        "the script has parameters in brackets, as in `lambda (a, b): a`; translating them needs fissix: pip "
        "install fissix"
    )


_TUPLE_PARAMETERS = re.compile(
    r"\blambda\s*\(|\bdef\s+\w+\s*\((?:[^()\n]*,)?\s*\(|\blambda\s[^:\n(]*,\s*\("
)


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
    if text in _NAMES and text not in _METHODS:
        after = [token.text for token in tokens[i + 1 :] if token.kind != "space"]
        return text if after[:1] == ["="] else _NAMES[text]  # an argument's name or a target stays
    return text


# ---- Operations with another meaning ----


#: Names of the built-in functions that translated scripts call.
DIVIDE, LIST = "__divide_python2__", "__list_python2__"
NEXT, KEY, TOGETHER = "__next_python2__", "__key_python2__", "__together_python2__"
#: Methods by which operators find them in Python 2 and 3.
_METHOD_NAMES = {
    "next": "__next__",
    "__nonzero__": "__bool__",
    "__div__": "__truediv__",
    "__rdiv__": "__rtruediv__",
    "__idiv__": "__itruediv__",
}

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

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A class with the names of Python 3 for its methods, beside those of Python 2."""
        self.generic_visit(node)
        names = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        for old, new in _METHOD_NAMES.items():
            if old in names and new not in names:
                value = ast.Name(old, ast.Load())
                node.body.append(
                    ast.Assign([ast.Name(new, ast.Store())], value, lineno=node.lineno)
                )
        for each in node.body:
            match each:
                case ast.Assign([ast.Name("__metaclass__")], metaclass):
                    node.keywords.append(ast.keyword("metaclass", metaclass))
        return ast.fix_missing_locations(node)

    def _call(self, name: str, argument: ast.expr, node: ast.AST) -> ast.expr:
        call = ast.Call(ast.Name(name, ast.Load()), [argument], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        for keyword in node.keywords:
            if keyword.arg == "cmp":  # of sorted() and sort()
                keyword.arg, keyword.value = "key", self._call(KEY, keyword.value, keyword.value)
        if isinstance(called, ast.Attribute) and called.attr == "next" and not node.args:
            return self._call(NEXT, called.value, node)
        is_function = isinstance(called, ast.Name) and called.id in _LIST_FUNCTIONS
        match node:
            case ast.Call(ast.Name("map"), [ast.Constant(None), *_]):
                node.args[0] = ast.copy_location(ast.Name(TOGETHER, ast.Load()), node)
        is_method = (
            isinstance(called, ast.Attribute) and called.attr in _LIST_METHODS and not node.args
        )
        if not is_function and not is_method:
            return node
        return self._call(LIST, node, node)

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


class _RelativeImports(ast.NodeTransformer):
    """Imports of modules of the own package by their names alone."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def _is_beside(self, name: str) -> bool:
        path = os.path.join(self.folder, name.partition(".")[0])
        return os.path.isfile(f"{path}.py") or os.path.isfile(os.path.join(path, "__init__.py"))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.level == 0 and node.module and self._is_beside(node.module):
            node.level = 1
        return node

    def visit_Import(self, node: ast.Import) -> Any:
        beside = [x for x in node.names if "." not in x.name and self._is_beside(x.name)]
        rest = [alias for alias in node.names if alias not in beside]
        parts: list[ast.stmt] = [ast.Import(rest)] if rest else []
        parts += [ast.ImportFrom(None, beside, 1)] if beside else []
        return [ast.fix_missing_locations(ast.copy_location(part, node)) for part in parts]


def with_relative_imports(tree: ast.Module, file: str) -> ast.Module:
    """`tree`, a module in a package, which imports modules of its package as Python 2 did."""
    folder = os.path.dirname(file)
    if not os.path.isfile(os.path.join(folder, "__init__.py")):
        return tree
    return _RelativeImports(folder).visit(tree)


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


def next_of(iterator: Any) -> Any:
    """``iterator.next()``"""
    return iterator.next() if hasattr(iterator, "next") else next(iterator)


def compare(a: Any, b: Any) -> int:
    """``cmp(a, b)``"""
    return (a > b) - (a < b)


def _run_file(path: str, names: Any = None) -> None:
    frame = sys._getframe(1)
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), frame.f_globals if names is None else names)


def load_pickle(load: Any) -> Any:
    """pickle.load() of files in text mode, and of arrays that Python 2 wrote."""

    @functools.wraps(load)
    def load_any(file: Any, **options: Any) -> Any:
        return load(getattr(file, "buffer", file), **{"encoding": "latin1", **options})

    return load_any


def dump_pickle(dump: Any) -> Any:
    """pickle.dump() to files in text mode, too."""

    @functools.wraps(dump)
    def dump_any(value: Any, file: Any, *args: Any, **options: Any) -> None:
        dump(value, getattr(file, "buffer", file), *args, **options)

    return dump_any


def names_of_python2() -> dict[str, dict[str, Any]]:
    """Module -> the names that it has in Python 2 only, and in NumPy of that time."""
    import collections.abc
    import itertools
    import math
    import string
    import subprocess
    import time

    aliases = ("bool", "int", "float", "complex", "object", "str")
    letters = (
        ("letters", "ascii_letters"),
        ("lowercase", "ascii_lowercase"),
        ("uppercase", "ascii_uppercase"),
    )
    methods = ("join", "replace", "split", "strip", "lower", "upper", "find", "zfill")
    return {
        "builtins": {
            "reduce": functools.reduce, "cmp": compare, "file": open, "intern": sys.intern,
            "apply": lambda function, args=(), named=(): function(*args, **dict(named)),
            "execfile": _run_file, DIVIDE: divide, LIST: as_list, NEXT: next_of,
            KEY: functools.cmp_to_key,
            TOGETHER: lambda *values: values if len(values) > 1 else values[0],
        },
        "sys": {"maxint": sys.maxsize},
        "itertools": {
            "izip": zip, "imap": map, "ifilter": filter, "izip_longest": itertools.zip_longest,
            "ifilterfalse": itertools.filterfalse,
        },
        "time": {"clock": time.perf_counter},
        "os": {"getcwdu": import_module("os").getcwd},
        "string": {
            **{old: getattr(string, new) for old, new in letters},
            **{name: getattr(str, name) for name in methods},
            "join": lambda words, sep=" ": sep.join(words),
        },
        # The next two are names that Python 3 had until 3.10.
        "collections": {
            "UserDict": collections.UserDict,
            **{name: getattr(collections.abc, name) for name in collections.abc.__all__},
        },
        "inspect": {"getargspec": _argspec},
        "fractions": {"gcd": math.gcd},
        "subprocess": {"getoutput": subprocess.getoutput},
        "numpy": {
            **{name: getattr(import_module("builtins"), name) for name in aliases},
            "unicode": str, "long": int, "Inf": np.inf, "Infinity": np.inf, "NaN": np.nan,
            "product": np.prod, "cumproduct": np.cumprod, "alltrue": np.all, "sometrue": np.any,
            "asscalar": lambda a: a.item(), "row_stack": np.vstack, "float_": np.float64,
            "complex_": np.complex128, "in1d": lambda a, b, **options: np.isin(np.ravel(a), b, **options),
            "cast": _Cast(), "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype),
            "round_": np.round, "trapz": np.trapezoid, "msort": lambda a: np.sort(a, 0),
            "string_": np.bytes_, "unicode_": np.str_, "bool8": np.bool_,
        },
    }  # fmt: skip


ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")


def _argspec(function: Any) -> ArgSpec:
    """``inspect.getargspec(function)``"""
    import inspect

    return ArgSpec(*inspect.getfullargspec(function)[:4])


class _Cast:
    """``numpy.cast``"""

    def __getitem__(self, dtype: Any) -> Any:
        return lambda x: np.asarray(x).astype(dtype)
