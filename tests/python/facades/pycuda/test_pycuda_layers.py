# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.pycuda uses public names only, besides the import hook and arrays over addresses, which it
shares with spanwise.theano, and no other module of the package imports it."""

import ast
import subprocess
import sys
from pathlib import Path

import spanwise as sw

PACKAGE = Path(sw.__file__).parent
FOLDER = PACKAGE / "pycuda"
SHARED_MODULES = (".._driver.memory", ".._import_alias")


def trees(files):
    return {file: ast.parse(file.read_text()) for file in files}


def imported(tree):
    """The modules that a tree imports, relative ones with their dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_only_spanwise_pycuda_imports_spanwise_pycuda():
    others = [file for file in PACKAGE.rglob("*.py") if FOLDER not in file.parents]
    assert len(others) > 50
    for file, tree in trees(others).items():
        for name in imported(tree):
            assert not name.lstrip(".").startswith(("spanwise.pycuda", "pycuda")), (file, name)


def test_importing_spanwise_and_its_driver_does_not_import_spanwise_pycuda():
    program = (
        "import sys, spanwise as sw; sw.driver.mem_alloc(8); "
        "assert not [m for m in sys.modules if m.startswith('spanwise.pycuda')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_spanwise_pycuda_uses_public_names_only():
    """It imports spanwise as a whole, and no attribute of it begins with an underscore."""
    files = list(FOLDER.glob("*.py"))
    assert len(files) > 25
    for file, tree in trees(files).items():
        for name in imported(tree):
            assert not name.startswith("..") or name in SHARED_MODULES, (file, name)
            assert not name.startswith("spanwise."), (file, name)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert node.value.id != "sw" or not node.attr.startswith("_"), (file, node.attr)
