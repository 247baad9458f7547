# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Which of NumPy's names public Python files use, and which of them Spanwise has:
``python benchmarks/foreign/numpy_names.py FOLDER... [--json FILE]``.

Each mention of an attribute of the module counts, ``np.linalg.svd`` as linalg.svd, under any name that
the file imports NumPy by; so do names of ``from numpy import ...`` where they are used. A name is there
if spanwise has it, by the same path."""

import argparse
import ast
import json
from collections import Counter
from pathlib import Path

import numpy as np

import spanwise as sw

#: Modules of NumPy that programs reach from the package.
MODULES = (
    "linalg",
    "fft",
    "random",
    "testing",
    "ma",
    "polynomial",
    "lib",
    "core",
    "char",
    "ctypeslib",
)


def names_of(text):
    """NumPy's names in a file, one for each use."""
    tree = ast.parse(text)
    modules, functions = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                if item.name.partition(".")[0] == "numpy" and (item.asname or "." not in item.name):
                    modules[item.asname or "numpy"] = item.name.partition(".")[2]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "numpy":
            inside = node.module.partition(".")[2]
            for item in node.names:
                path = f"{inside}.{item.name}".lstrip(".")
                target = modules if path in MODULES else functions
                target[item.asname or item.name] = path
    seen = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            path = _path_of(node, modules)
            if path and path not in MODULES:
                seen.append(path)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in functions:
            seen.append(functions[node.id])
    return seen


def _path_of(node, modules):
    """The name inside NumPy of an attribute of one of its modules; None for others."""
    value = node.value
    if isinstance(value, ast.Name) and value.id in modules:
        return f"{modules[value.id]}.{node.attr}".lstrip(".")
    if isinstance(value, ast.Attribute):
        outer = _path_of(value, modules)
        if outer in MODULES:
            return f"{outer}.{node.attr}"
    return None


def has(library, path):
    for part in path.split("."):
        try:
            library = getattr(library, part)
        except AttributeError:
            return False
    return True


def count(folders):
    uses, files, unread = Counter(), 0, 0
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*.py")):
        try:
            names = names_of(path.read_text())
        except (SyntaxError, ValueError, RecursionError):
            unread += 1
            continue
        files += bool(names)
        uses.update(name for name in names if has(np, name))  # no former names
    return uses, files, unread


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--json", help="writes [name, uses, whether Spanwise has it] here")
    options = parser.parse_args()
    uses, files, unread = count(options.folders)
    rows = [[name, number, has(sw, name)] for name, number in uses.most_common()]
    there = sum(number for _, number, is_there in rows if is_there)
    total = sum(uses.values())
    print(f"{files} files, {unread} not read; {total} uses of {len(rows)} names")
    print(
        f"Spanwise has {sum(row[2] for row in rows)} names, {there / max(total, 1):.2%} of the uses"
    )
    print("missing: " + ", ".join(f"{name} {n}" for name, n, is_there in rows if not is_there))
    if options.json:
        lines = ",\n".join(json.dumps(row) for row in rows)
        Path(options.json).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
