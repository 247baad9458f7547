# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Counts the uses of NumPy's names in Python files and notebooks, and how many Spanwise answers:

    python scripts/numpy_names.py FOLDER... [--write tests/package/numpy_names.txt]

A use is an attribute of NumPy or of one of its modules (`np.linalg.svd`), or a name imported from
one. Names that the installed NumPy does not have are not counted. The list that --write writes is one
that tests/package/test_public_names.py reads.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType


def sources(folders: list[Path]) -> Iterator[str]:
    for folder in folders:
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.ipynb")]):
            text = path.read_text(errors="replace")
            if path.suffix == ".py":
                yield text
                continue
            try:
                cells = json.loads(text)["cells"]
            except (KeyError, ValueError):
                continue
            code = "".join(
                line for c in cells if c["cell_type"] == "code" for line in [*c["source"], "\n"]
            )
            yield "\n".join(
                "" if line.lstrip()[:1] in "%!?" else line for line in code.splitlines()
            )


def member(module: str, path: str) -> object:
    value: object = import_module(module)
    for name in path.split("."):
        if isinstance(value, ModuleType) and not hasattr(value, name):
            try:
                import_module(f"{value.__name__}.{name}")
            except ImportError:
                raise AttributeError(name) from None
        value = getattr(value, name)
    return value


def name_of(chain: list[str]) -> str:
    """The part of an attribute chain of NumPy that is a name of its modules; "" if NumPy lacks it."""
    for length in range(1, len(chain) + 1):
        path = ".".join(chain[:length])
        try:
            value = member("numpy", path)
        except AttributeError:
            return ""
        if not isinstance(value, ModuleType):
            return path
    return path


class Uses(ast.NodeVisitor):
    def __init__(self) -> None:
        self.aliases: dict[str, list[str]] = {}
        self.chains: list[list[str]] = []

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            parts = each.name.split(".")
            if parts[0] == "numpy":
                self.aliases[each.asname or "numpy"] = parts[1:] if each.asname else []

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        parts = (node.module or "").split(".")
        if parts[0] == "numpy" and node.level == 0:
            for each in node.names:
                chain = [*parts[1:], each.name]
                self.aliases[each.asname or each.name] = chain
                self.chains.append(chain)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain, value = [node.attr], node.value
        while isinstance(value, ast.Attribute):
            chain.append(value.attr)
            value = value.value
        if isinstance(value, ast.Name) and value.id in self.aliases:
            self.chains.append([*self.aliases[value.id], *reversed(chain)])
        else:
            self.visit(value)


def count(folders: list[Path]) -> tuple[Counter[str], int]:
    uses: Counter[str] = Counter()
    files = 0
    for text in sources(folders):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        found = Uses()
        found.visit(tree)
        files += bool(found.aliases)
        uses.update(name for chain in found.chains if (name := name_of(chain)))
    return uses, files


def is_answered(name: str) -> bool:
    try:
        member("spanwise", name)
    except AttributeError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--write", type=Path, help="the list to write: uses and name")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    uses, files = count(options.folders)
    missing = [name for name in uses if not is_answered(name)]
    total = sum(uses.values())
    answered = total - sum(uses[name] for name in missing)
    print(
        f"{files} files, {total} uses of {len(uses)} names; {100 * answered / total:.2f} % answered"
    )
    print(
        "missing:",
        ", ".join(f"{name} {uses[name]}" for name, _ in uses.most_common() if name in missing),
    )
    if options.write:
        options.write.write_text("".join(f"{n} {name}\n" for name, n in uses.most_common()))


if __name__ == "__main__":
    sys.exit(main())
