# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a script as ``__main__``, translated if it is Python 2."""

from __future__ import annotations

import ast
import importlib
import linecache
import os
import pickle
import sys
import tokenize
import types
from importlib.machinery import PathFinder, SourceFileLoader
from typing import Any

from spanwise.compat import alias_package, is_installed

from . import install as install
from ._python2 import (
    MODULES,
    dump_pickle,
    is_python2,
    load_pickle,
    names_of_python2,
    translate,
    with_python2_semantics,
    with_relative_imports,
)


def read_script(path: str) -> str:
    """The text of a script, decoded as its first lines declare, else as UTF-8 or Latin-1."""
    if path == "-":
        return sys.stdin.read()
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (SyntaxError, UnicodeDecodeError):
        with open(path, encoding="latin-1") as file:
            return file.read()


def difference(source: str, path: str) -> str:
    """The changes that make `source` Python 3, as a unified diff; empty for a script in Python 3."""
    from difflib import unified_diff

    if not is_python2(source):
        return ""
    before, after = source.splitlines(keepends=True), translate(source).splitlines(keepends=True)
    return "".join(unified_diff(before, after, path, f"{path} (Python 3)"))


def code_of(source: str, path: str) -> types.CodeType:
    """`source` compiled; tracebacks show its lines as translated. SyntaxError if Python 3 does not
    compile the translation either."""
    if not is_python2(source):
        tree = ast.parse(source, path)
        tree = with_relative_imports(tree, path) if _runs_python2 else tree
        return compile(tree, path, "exec", dont_inherit=True)
    source = translate(source)
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    tree = with_python2_semantics(ast.parse(source, path), path)
    tree = with_relative_imports(tree, path)
    return compile(tree, path, "exec", dont_inherit=True)


_runs_python2: list[str] = []  # the script, if it is in Python 2


class _Loader(SourceFileLoader):
    """Translates modules of the script's folder too."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        return code_of(read_script(path), path)


class _Finder:
    """Finds the modules in the script's folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        inside = path is not None and all(str(entry).startswith(self.folder) for entry in path)
        spec = PathFinder.find_spec(fullname, path if inside else [self.folder], target)
        if (path is None or inside) and spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
            return spec
        return None


def add_names_of_python2() -> None:
    """Makes the modules and names that Python 2 and NumPy of its time had known to the process."""
    for module, names in names_of_python2().items():
        target = vars(importlib.import_module(module))
        for name, value in names.items():
            target.setdefault(name, value)
    for old, new in MODULES.items():
        if not is_installed(old):
            alias_package(old, new)
    pickle.load, pickle.dump = load_pickle(pickle.load), dump_pickle(pickle.dump)


def run(source: str, arguments: list[str]) -> None:
    """Runs `source` as the script ``arguments[0]``, with arrays printed as NumPy 1.13 did."""
    import numpy as np

    path = arguments[0]
    if is_python2(source):
        _runs_python2.append(path)
    folder = os.path.dirname(os.path.realpath(path))
    add_names_of_python2()
    np.set_printoptions(legacy="1.13")
    sys.argv = arguments
    sys.path[0] = folder
    sys.meta_path.insert(0, _Finder(folder))
    module = types.ModuleType("__main__")
    module.__file__ = path
    vars(module)["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    exec(code_of(source, path), vars(module))
