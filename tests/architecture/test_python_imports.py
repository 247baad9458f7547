# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules of the Python package do not import each other in circles, not even inside functions."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from support.tree import ROOT

PACKAGE = ROOT / "sdk" / "python" / "spanwise"


def name_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in PACKAGE.rglob("*.py")}


def imports_of(name: str) -> set[str]:
    """The modules of the package, without its __init__, that the module imports relatively."""
    file = MODULES[name]
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    imported = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        base = [*package[: len(package) - node.level + 1], *filter(None, [node.module])]
        for alias in node.names:
            submodule = ".".join([*base, alias.name])
            imported.add(submodule if submodule in MODULES else ".".join(base))
    return (imported & set(MODULES)) - {name, ""}


def test_there_are_no_circular_imports():
    graph = {name: imports_of(name) for name in MODULES if name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(
            f"{' imports '.join(reversed(error.args[1]))}: move what both need to a module of its own"
        ) from None
    assert sum(map(len, graph.values())) > 50, "imports_of() finds too few imports"
