# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The public names that the reference of Python describes, and the examples of docs/site/examples.txt:
what make_site.py writes, and tests/package/test_reference.py tests."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import re
from dataclasses import dataclass, field
from types import ModuleType

from paths import ROOT

#: Modules with a page each, besides those of the package's own names.
MODULES = (
    "tensor",
    "graph",
    "gradient",
    "random",
    "linalg",
    "fft",
    "memory",
    "driver",
    "profile",
    "kernels",
    "ops",
    "sym",
    "printing",
    "testing",
    "collectives",
    "dask",
)


def names_of(module: ModuleType) -> dict[str, object]:
    """{name: object} of a module: what dir() lists where the module says that, else __all__."""
    listed = getattr(module, "__all__", None) or dir(module)
    if "__dir__" in vars(module):
        listed = dir(module)
    found = {name: getattr(module, name, None) for name in sorted(listed) if name[0] != "_"}
    return {name: v for name, v in found.items() if v is not None and not isinstance(v, ModuleType)}


def reference() -> dict[str, dict[str, object]]:
    """{module: {name: object}} of the reference; a module describes no name that the package has, too.
    Addons whose packages are not installed are left out."""
    import spanwise as sw

    pages = {"spanwise": names_of(sw)}
    for name in MODULES:
        try:
            module = importlib.import_module(f"spanwise.{name}")
        except ImportError:
            continue
        pages[f"spanwise.{name}"] = names_of(module)
    return pages


def home(value: object) -> str | None:
    """The name in the package of what other modules have, too; None where it has none."""
    import spanwise as sw

    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) and getattr(sw, name, None) is value else None


@dataclass
class Example:
    """Code, where it runs ("": anywhere; "cuda", a package, "shown": nowhere), and what runs before it."""

    code: str
    condition: str
    before: list[str]

    def is_runnable(self) -> bool:
        import spanwise as sw

        if self.condition == "shown":
            return False
        if self.condition == "cuda":
            return any(device.kind == "cuda" for device in sw.devices())
        return not self.condition or importlib.util.find_spec(self.condition) is not None

    def run(self, name: str, expected: object) -> str:
        """What a prompt of Python shows after the code: what it prints and the last expression, or its
        error if `expected`, the object that the example is for, is the class of one."""
        raises = isinstance(expected, type) and issubclass(expected, Exception)
        space: dict[str, object] = {}
        exec("\n".join(self.before), space)
        tree = ast.parse(self.code)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(tree, name, "exec"), space)
                value = (
                    eval(compile(ast.Expression(last.value), name, "eval"), space) if last else None
                )
        except Exception as error:
            if not raises or not isinstance(error, expected):
                raise
            return f"{type(error).__name__}: {error}"
        if raises:
            raise AssertionError(f"{name}: {self.code} raises nothing")
        shown = "" if value is None else repr(value)
        return (printed.getvalue() + shown).rstrip("\n")

    def shown(self) -> str:
        """The code as at a prompt, a statement a line."""
        statements = [ast.get_source_segment(self.code, each) for each in ast.parse(self.code).body]
        return "\n".join(f">>> {statement}" for statement in statements)


@dataclass
class Examples:
    """The examples of one module."""

    before: list[str] = field(default_factory=list)
    of: dict[str, Example] = field(default_factory=dict)


def read_examples() -> dict[str, Examples]:
    """{module: its examples} of docs/site/examples.txt."""
    found: dict[str, Examples] = {}
    for line in (ROOT / "docs/site/examples.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[([\w.]+)\]", line):
            examples = found[heading[1]] = Examples()
        elif line.startswith(">>> "):
            examples.before.append(line.removeprefix(">>> "))
        else:
            names, _, code = line.partition(": ")
            condition = re.match(r"\((\w+)\) ", code)
            code = (code[condition.end() :] if condition else code).replace(" ;; ", "\n")
            for name in names.split(", "):
                own = code.replace("{}", name)
                examples.of[name] = Example(own, condition[1] if condition else "", examples.before)
    return found
