# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.dask uses public names only, and no other module of the package imports it or Dask."""

import ast
import subprocess
import sys
from pathlib import Path

import spanwise as sw

PACKAGE = Path(sw.__file__).parent
FOLDER = PACKAGE / "dask"
#: The module of the entry point "dask.sizeof", which must not import Dask.
SIZEOF = PACKAGE / "_dask_sizeof.py"


def imported(file):
    """The modules that a file imports, relative ones with their dots."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_only_spanwise_dask_imports_dask():
    others = [file for file in PACKAGE.rglob("*.py") if FOLDER not in file.parents]
    assert len(others) > 50 and SIZEOF in others
    for file in others:
        for name in imported(file):
            parts = name.lstrip(".").split(".")
            assert "dask" not in parts[:2] and parts[0] != "distributed", (file, name)


def test_importing_spanwise_does_not_import_dask():
    program = (
        "import sys, spanwise as sw; sw.ones(3).sum(); "
        "assert not {'dask', 'distributed', 'spanwise.dask'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_spanwise_dask_uses_public_names_only():
    files = list(FOLDER.glob("*.py"))
    assert len(files) >= 6
    for file in files:
        for name in imported(file):
            assert not name.startswith(".."), (file, name)
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert node.value.id != "sw" or not node.attr.startswith("_"), (file, node.attr)


def test_import_without_dask_raises_with_a_remedy():
    program = (
        "import sys; sys.modules['dask'] = None\n"
        "try:\n    import spanwise.dask\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'spanwise[dask]'" in done.stdout, done.stderr
