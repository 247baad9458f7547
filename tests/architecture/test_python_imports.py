# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules of the Python package do not import each other in circles, not even inside functions. Addons
use public names of the rest of the package only, which does not import them."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from support.tree import ROOT

PACKAGE = ROOT / "sdk" / "python" / "spanwise"
ADDONS = {folder.parent.name: folder for folder in sorted(ROOT.glob("addons/*/python"))}


def name_of(file: Path, folder: Path, package: str) -> str:
    parts = (package, *file.relative_to(folder).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file, PACKAGE, "spanwise"): file for file in PACKAGE.rglob("*.py")}
for _addon, _folder in ADDONS.items():
    MODULES |= {
        name_of(file, _folder, f"spanwise.{_addon}"): file for file in _folder.rglob("*.py")
    }
    _beside = _folder.parent / "package"
    MODULES |= {name_of(file, _beside, "spanwise"): file for file in _beside.glob("*.py")}


def imports_of(name: str) -> Iterator[tuple[int, str, bool]]:
    """(line, dotted name, whether it is relative) of each module, or name of a module, of the package
    that the module imports."""
    file = MODULES[name]
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, False
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *filter(None, [node.module])]
            for alias in node.names:
                yield node.lineno, ".".join([*base, alias.name]), node.level > 0


def module_of(imported: str) -> str:
    return imported if imported in MODULES else imported.rpartition(".")[0]


def test_there_are_no_circular_imports():
    graph = {
        name: {module_of(imported) for _, imported, relative in imports_of(name) if relative}
        & set(MODULES) - {name, "spanwise"}
        for name in MODULES
        if name != "spanwise"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(
            f"{' imports '.join(reversed(error.args[1]))}: move what both need to a module of its own"
        ) from None
    assert sum(map(len, graph.values())) > 50, "imports_of() finds too few imports"


@pytest.mark.parametrize("addon", ADDONS)
def test_addon_uses_public_names_only(addon):
    private = [
        f"{MODULES[name].relative_to(ROOT)}:{line}: uses {used}"
        for name in MODULES
        if is_of_addon(name, addon)
        for line, used in [
            *((line, used) for line, used, _ in imports_of(name)),
            *attributes_of(name),
        ]
        if is_part(used, "spanwise") and not is_of_addon(used, addon)
        if any(part.startswith("_") and not part.endswith("__") for part in used.split("."))
    ]
    assert not private, "\n".join(["", *private, "Use or add a public name of spanwise."])


@pytest.mark.parametrize("addon", ADDONS)
def test_only_the_addon_imports_itself(addon):
    importers = [
        f"{MODULES[name].relative_to(ROOT)}:{line}: imports {imported}"
        for name in MODULES
        if not is_of_addon(name, addon) and not is_part(name, "spanwise.compat")
        for line, imported, _ in imports_of(name)
        if is_of_addon(imported, addon)
        or (addon == "dask" and imported.startswith(("dask", "distributed")))
    ]
    assert not importers, "\n".join(importers)


def is_of_addon(name: str, addon: str) -> bool:
    return is_part(name, f"spanwise.{addon}") or name.startswith(f"spanwise._{addon}_")


def is_part(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def attributes_of(name: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of attributes of spanwise and its modules: ``sw.driver.Stream``."""
    tree = ast.parse(MODULES[name].read_text())
    modules = {
        alias.asname or alias.name.partition(".")[0]: alias.name if alias.asname else "spanwise"
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if is_part(alias.name, "spanwise")
    }
    for node in ast.walk(tree):
        parts: list[str] = []
        at: ast.AST = node
        while isinstance(at, ast.Attribute):
            parts.insert(0, at.attr)
            at = at.value
        if parts and isinstance(at, ast.Name) and at.id in modules:
            yield node.lineno, ".".join([modules[at.id], *parts])
