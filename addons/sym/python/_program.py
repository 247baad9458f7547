# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The order of the calls that compute an expression, with a name for each value and each value
once; and these calls as Python, for NumPy and for Spanwise."""

from __future__ import annotations

import builtins
import keyword
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from ._tree import Leaf, Node, map_nested, operands

_BINARY = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "power": "**",
    "floor_divide": "//",
    "remainder": "%",
    "matmul": "@",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
}
_UNARY = {"negative": "-", "positive": "+", "invert": "~"}
_RESERVED = frozenset((*dir(builtins), *keyword.kwlist, "np", "sw", "cm", "program", "compiled"))


@dataclass
class Program:
    """The calls that compute one expression."""

    leaves: dict[str, Leaf] = field(default_factory=dict)
    steps: dict[str, Node] = field(default_factory=dict)  #: in the order of computation
    names: dict[int, str] = field(default_factory=dict)  #: of nodes, by id()
    result: str = ""
    unnamed: int = 0  #: steps t0, t1, ... so far

    def parameters(self) -> str:
        return ", ".join(self.leaves)

    def described_leaves(self) -> str:
        return "; ".join(f"{name}: {x.dtype} {x.shape}" for name, x in self.leaves.items())


def program_of(root: Node) -> Program:
    """The calls that compute `root`. Nodes with equal functions and arguments become one step, and
    leaves of one array one parameter."""
    program = Program()
    known: dict[Any, str] = {}
    nodes = _in_order(root)
    nodes.sort(key=lambda node: not isinstance(node, Leaf))  # stable; leaves get their names first
    for node in nodes:
        key = _key(node, program.names)
        if key not in known:
            known[key] = _add(program, node)
        program.names[id(node)] = known[key]
    program.result = program.names[id(root)]
    return program


def _in_order(root: Node) -> list[Node]:
    """The nodes that compute `root`, operands first. Iterative, for expressions of any depth."""
    order: list[Node] = []
    done: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if id(node) in done:
            continue
        if is_ready:
            done.add(id(node))
            order.append(node)
        else:
            stack.append((node, True))
            stack.extend((x, False) for x in reversed(operands(node)))
    return order


def _key(node: Node, names: dict[int, str]) -> Any:
    """Equal for nodes that compute the same; `names` has those of the operands."""
    if isinstance(node, Leaf):
        return id(node.value), node.dtype

    def part(x: Any) -> Any:
        return names[id(x)] if isinstance(x, Node) else (type(x), repr(x))

    return node.function, repr(map_nested((node.args, sorted(node.kwargs.items())), part))


def _add(program: Program, node: Node) -> str:
    """Adds `node` to the program; returns its name, which is a valid identifier and unique."""
    named: dict[str, Any] = program.leaves if isinstance(node, Leaf) else program.steps
    name = node.name or _new_name(program, node)
    while not name.isidentifier() or name in _RESERVED:
        name = "_".join(filter(None, ["".join(c if c.isalnum() else "_" for c in name), "v"]))
        name = name if name[0].isalpha() else f"v_{name}"
    taken, unique, count = {*program.leaves, *program.steps}, name, 1
    while unique in taken:
        count += 1
        unique = f"{name}_{count}"
    named[unique] = node
    return unique


def _new_name(program: Program, node: Node) -> str:
    if isinstance(node, Leaf):
        return f"x{len(program.leaves)}"
    if _is_inline(node):
        return f"{program.names[id(node.args[0])]}_T"
    program.unnamed += 1
    return f"t{program.unnamed - 1}"


def numpy_code(program: Program) -> str:
    """A module whose ``program(...)`` makes the NumPy calls."""
    return f"import numpy as np\n\n\n{_definition(program, 'np')}"


def spanwise_code(program: Program) -> str:
    """A module whose ``program(...)`` is the same in Spanwise, for arrays and graph variables, and
    whose ``compiled(device)`` compiles it for a device."""
    lines = [
        "import numpy as np",
        "",
        "import spanwise as sw",
        "",
        "",
        _definition(program, "sw"),
        "",
        "def compiled(device=None):",
        '    """program() as one function of arrays on a device."""',
    ]
    for name, node in program.leaves.items():
        lines.append(f'    {name} = sw.tensor.tensor("{node.dtype}", {node.shape}, "{name}")')
    inputs = program.parameters()
    lines.append(f"    return sw.function([{inputs}], program({inputs}), device=device)\n")
    return "\n".join(lines)


def _definition(program: Program, module: str) -> str:
    lines = [f"def program({program.parameters()}):", f'    """{program.described_leaves()}"""']
    result = program.result
    for name, node in program.steps.items():
        if not _is_inline(node):
            lines.append(f"    {name} = {_call(node, program, module)}  # {short(node.place)}")
        elif name == result:
            result = text(node, program)
    return "\n".join([*lines, f"    return {result}\n"])


def _is_inline(node: Node) -> bool:
    """Whether it is written where it is used: a transposed array without a name of its own."""
    return node.function == "T" and node.name is None


def short(place: str) -> str:
    """ "file:line" without folders."""
    return Path(place).name


def _call(node: Node, program: Program, module: str) -> str:
    name, args = node.function, [text(x, program) for x in node.args]
    has_operator = not any(isinstance(x, tuple | list) for x in node.args) and not node.kwargs
    if name in _BINARY and has_operator:
        left = f"({args[0]})" if args[0].startswith("-") else args[0]
        return f"{left} {_BINARY[name]} {args[1]}"
    if name in _UNARY and has_operator:
        return _UNARY[name] + args[0]
    if name == "T":
        return f"{args[0]}.T"
    if name == "getitem":
        return f"{args[0]}[{_key_text(node.args[1], program)}]"
    if module == "np" and name == "sigmoid":
        return f"1 / (1 + np.exp(-{args[0]}))"
    if module == "np" and name == "softplus":
        return f"np.logaddexp(0, {args[0]})"
    listed = [*args, *(f"{key}={text(x, program)}" for key, x in node.kwargs.items())]
    if name == "astype":
        return f"{args[0]}.astype({', '.join(listed[1:])})"
    return f"{module}.{name}({', '.join(listed)})"


def text(x: Any, program: Program) -> str:
    """An argument as Python."""
    if isinstance(x, Node):
        return f"{text(x.args[0], program)}.T" if _is_inline(x) else program.names[id(x)]
    if isinstance(x, tuple | list):
        inner = ", ".join(text(element, program) for element in x)
        closing = "," if isinstance(x, tuple) and len(x) == 1 else ""
        return f"({inner}{closing})" if isinstance(x, tuple) else f"[{inner}]"
    if isinstance(x, type | np.dtype | _core.dtype):
        return f'"{_core.dtype(x).name}"'
    if isinstance(x, np.generic):
        return f"np.{type(x).__name__}({text(x.item(), program)})"
    if isinstance(x, float) and not np.isfinite(x):
        return f'float("{x}")'
    if isinstance(x, complex) and not np.isfinite(x):
        return f"complex({text(x.real, program)}, {text(x.imag, program)})"
    return "..." if x is ... else repr(x)


def _key_text(key: Any, program: Program) -> str:
    if isinstance(key, tuple) and key:
        return ", ".join(_key_text(x, program) for x in key) + ("," if len(key) == 1 else "")
    if not isinstance(key, slice):
        return text(key, program)
    parts = ["" if x is None else text(x, program) for x in (key.start, key.stop, key.step)]
    return ":".join(parts if parts[2] else parts[:2])
