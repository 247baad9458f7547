# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The order of the calls that compute an expression, with a name for each value and each value once;
and these calls as Python, for NumPy, for Spanwise and for CUDAMat."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import spanwise as sw
from spanwise import NotSupportedError
from spanwise.legacy import python_name

from ._record import Leaf, Node, map_nested, operands

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
_RESERVED = frozenset((*dir(builtins), "np", "sw", "cm", "program", "compiled", "device"))


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
    name = python_name(node.name or _new_name(program, node), _RESERVED)
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
    """ "file:line" without folders, for a comment: with escapes, as a name may contain line ends."""
    return repr(Path(place).name)[1:-1]


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
    if isinstance(x, type | np.dtype | sw.dtype):
        return f'"{sw.dtype(x).name}"'
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


# ---- CUDAMat ----
# Float32, two axes. Masks are matrices of 0 and 1, as comparisons return them. Methods write to their
# operand unless target= is given, so each call gets a new matrix.


_CUDAMAT_FUNCTIONS = {
    "exp": "exp",
    "log": "log",
    "sqrt": "sqrt",
    "tanh": "tanh",
    "abs": "abs",
    "absolute": "abs",
    "fabs": "abs",
    "sigmoid": "sigmoid",
    "softplus": "log_1_plus_exp",
}
_COMPARISONS = {"less": "less_than", "greater": "greater_than", "equal": "equals"}
_MIRRORED = {"less": "greater", "greater": "less", "equal": "equal"}
_EXTREMA = ("maximum", "minimum")
_REDUCTIONS = ("sum", "mean", "max", "min")
# (method for equal shapes, for a column vector, for a row vector)
_ARITHMETIC = {
    "add": ("add", "add_col_vec", "add_row_vec"),
    "multiply": ("mult", "mult_by_col", "mult_by_row"),
    "divide": ("divide", "div_by_col", "div_by_row"),
    "subtract": ("subtract", "add_col_vec", "add_row_vec"),
}


def _unsupported(node: Node, reason: str) -> NotSupportedError:
    """The error for an operation that CUDAMat does not have."""
    return NotSupportedError(
        f"CUDAMat: {node.function} at {node.place}: {reason}; use asNumpy() or asCUDA()"
    )


class _CudamatWriter:
    """Writes the calls of a program's steps. Matrices are named as in the program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        #: Name of a transposed step that has not been copied -> name of its operand.
        self.transposed: dict[str, str] = {}
        #: Lines that copy transposed steps, to be written before the line that uses them.
        self.copies: list[str] = []

    def step(self, name: str, node: Node) -> list[str]:
        """The lines that compute `node`."""
        function = node.function
        if self._is_transpose(node):
            source = self.program.names[id(node.args[0])]
            if source not in self.transposed:
                self.transposed[name] = source  # dot takes its .T, others get a copy
                return []
            return self._copies(f"{name} = {self._matrix(node.args[0])}.transpose()")
        if function in ("dot", "matmul"):
            left, right = (self._factor(x) for x in self._matrices(node, 2))
            return [f"{name} = cm.dot({left}, {right})"]
        if function in _REDUCTIONS:
            return self._copies(f"{name} = {self._reduction(node)}")
        for functions, write in self._writers():
            if function in functions:
                if node.kwargs:
                    raise _unsupported(
                        node, f"the options {', '.join(node.kwargs)} are not supported"
                    )
                return self._copies(f"{name} = {write(node)}")
        raise _unsupported(node, "it has no such function")

    def _writers(self) -> list[tuple[Any, Callable[[Node], str]]]:
        """(functions, method that writes a call of one of them), for calls without options."""
        return [
            (_CUDAMAT_FUNCTIONS, self._function),
            (_ARITHMETIC, self._arithmetic),
            ((*_COMPARISONS, *_EXTREMA), self._comparison),
            (("power", "square", "negative", "positive", "reciprocal", "sign"), self._power),
            (("where",), self._where),
            (("broadcast_to",), self._broadcast),
        ]

    def _is_transpose(self, node: Node) -> bool:
        if node.function in ("T", "matrix_transpose"):
            return True
        axes = [*node.args[1:], *node.kwargs.values()]
        return node.function == "transpose" and axes in ([], [None], [(1, 0)], [[1, 0]])

    def _copies(self, line: str) -> list[str]:
        """`line` behind the lines that make the transposed copies it uses."""
        lines, self.copies = [*self.copies, line], []
        return lines

    # Operands.

    def _matrices(self, node: Node, count: int) -> list[Node]:
        """The arguments of `node`, which must be `count` matrices."""
        matrices = [x for x in node.args if isinstance(x, Node)]
        if len(matrices) != count or len(node.args) != count:
            raise _unsupported(node, f"expected {count} matrices")
        return matrices

    def _factor(self, node: Node) -> str:
        """A matrix, transposed without a copy if it is a transposed step, as cm.dot takes it."""
        name = self.program.names[id(node)]
        return f"{self.transposed[name]}.T" if name in self.transposed else name

    def _matrix(self, node: Node) -> str:
        """A matrix, a copy if it is a transposed step."""
        name = self.program.names[id(node)]
        if name in self.transposed:
            self.copies.append(f"{name} = {self.transposed.pop(name)}.transpose()")
        return name

    def _value(self, node: Node, x: Any) -> str:
        """A matrix of the shape of `node`, or a number."""
        if isinstance(x, Node):
            if x.shape != node.shape:
                raise _unsupported(node, f"it does not broadcast {x.shape} to {node.shape}")
            return self._matrix(x)
        return _number(node, x)

    # Operations.

    def _function(self, node: Node) -> str:
        (x,) = self._matrices(node, 1)
        return f"cm.{_CUDAMAT_FUNCTIONS[node.function]}({self._matrix(x)}, target={_new(node)})"

    def _reduction(self, node: Node) -> str:
        options = dict(zip(("axis",), node.args[1:], strict=False)) | node.kwargs
        axis, keeps = options.pop("axis", None), options.pop("keepdims", False)
        options.pop("dtype", None)  # the dtype of the result is checked
        if options or not keeps:
            raise _unsupported(node, "it takes axis and keepdims=True only")
        listed = (0, 1) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        (x,) = (a for a in node.args[:1] if isinstance(a, Node))
        calls = "".join(f".{node.function}(axis={a})" for a in sorted(a % 2 for a in listed))
        return self._matrix(x) + calls

    def _arithmetic(self, node: Node) -> str:
        x, y = node.args
        if not isinstance(x, Node):
            return self._number_first(node, _number(node, x), self._matrix(y))
        method, column, row = _ARITHMETIC[node.function]
        if not isinstance(y, Node):
            return f"{self._matrix(x)}.{method}({_number(node, y)}, target={_new(node)})"
        left, right, is_swapped = self._matrix(x), self._matrix(y), x.shape != node.shape
        if x.shape == y.shape:
            return f"{left}.{method}({right}, target={_new(node)})"
        if is_swapped and y.shape != node.shape:
            raise _unsupported(node, f"it does not broadcast both {x.shape} and {y.shape}")
        if node.function == "subtract":
            right = f"{right}.mult(-1.0, target=cm.empty({y.shape}))"
        elif is_swapped and node.function == "divide":  # x / y = (1 / y) * x
            right = f"{right}.reciprocal(target=cm.empty({y.shape}))"
            _, column, row = _ARITHMETIC["multiply"]
        full, vector, shape = (right, left, x.shape) if is_swapped else (left, right, y.shape)
        method = column if shape == (node.shape[0], 1) else row
        return f"{full}.{method}({vector}, target={_new(node)})"

    def _number_first(self, node: Node, left: str, right: str) -> str:
        if node.function == "subtract":
            return f"{right}.mult(-1.0, target={_new(node)}).add({left})"
        if node.function == "divide":
            scale = "" if left == "1.0" else f".mult({left})"
            return f"{right}.reciprocal(target={_new(node)}){scale}"
        return f"{right}.{_ARITHMETIC[node.function][0]}({left}, target={_new(node)})"

    def _comparison(self, node: Node) -> str:
        """A comparison or an extremum."""
        (x, y), function = node.args, node.function
        if not isinstance(x, Node):
            x, y, function = y, x, _MIRRORED.get(function, function)
        method = _COMPARISONS.get(function, function)
        return f"{self._value(node, x)}.{method}({self._value(node, y)}, target={_new(node)})"

    def _power(self, node: Node) -> str:
        x = node.args[0]
        if not isinstance(x, Node):
            raise _unsupported(node, "the base must be a matrix")
        matrix = self._value(node, x)
        if node.function == "power":
            return f"cm.pow({matrix}, {self._value(node, node.args[1])}, target={_new(node)})"
        call = {"square": f"mult({matrix}, ", "negative": "mult(-1.0, ", "positive": "mult(1.0, "}
        start = call.get(node.function, f"{node.function}(")
        return f"{matrix}.{start}target={_new(node)})"

    def _where(self, node: Node) -> str:
        operands = [
            self._value(node, x)
            if isinstance(x, Node)
            else f"{_new(node)}.assign({_number(node, x)})"
            for x in node.args
        ]
        return f"cm.where({', '.join(operands)}, target={_new(node)})"

    def _broadcast(self, node: Node) -> str:
        x = node.args[0]
        zeros = f"{_new(node)}.assign(0.0)"
        if x.shape == node.shape:
            return f"{zeros}.add({self._matrix(x)})"
        method = "add_col_vec" if x.shape == (node.shape[0], 1) else "add_row_vec"
        if method == "add_row_vec" and x.shape != (1, node.shape[1]):
            raise _unsupported(node, f"it does not broadcast {x.shape} to {node.shape}")
        return f"{zeros}.{method}({self._matrix(x)})"


def _new(node: Node) -> str:
    return f"cm.empty({node.shape})"


def _number(node: Node, x: Any) -> str:
    """A scalar argument as text; CUDAMat takes int and float only."""
    if isinstance(x, tuple | list | complex):
        raise _unsupported(node, f"expected a matrix or a real number, got {x!r}")
    value = float(x)
    return repr(value) if np.isfinite(value) else f'float("{value}")'


def cudamat_code(program: Program) -> str:
    """A module whose ``program(...)`` takes and returns CUDAMatrix objects. Raises
    NotSupportedError, with operation and place, for what CUDAMat cannot do."""
    lines = [
        "import cudamat as cm",
        "",
        "",
        f"def program({program.parameters()}):",
        f'    """Matrices: {program.described_leaves()}"""',
    ]
    for name, leaf in program.leaves.items():
        _check_for_cudamat(leaf, name)
    writer = _CudamatWriter(program)
    for name, node in program.steps.items():
        _check_for_cudamat(node, name)
        for line in writer.step(name, node):
            lines.append(f"    {line}  # {short(node.place)}")
    result = program.result
    if result in writer.transposed:
        result = f"{writer.transposed[result]}.transpose()"
    elif result in program.leaves:
        result = f"cm.empty({program.leaves[result].shape}).assign({result})"
    return "\n".join([*lines, f"    return {result}\n"])


def _check_for_cudamat(node: Node, name: str) -> None:
    is_mask = node.function in _COMPARISONS and node.dtype == "bool"
    if node.dtype != "float32" and not is_mask:
        remedy = f'sym.array({name}, dtype="float32")' if isinstance(node, Leaf) else "astype"
        raise _unsupported(node, f"{name} is {node.dtype}, CUDAMat has float32 only ({remedy})")
    if len(node.shape) != 2 or 0 in node.shape:
        raise _unsupported(
            node,
            f"{name} has shape {node.shape}; expected two axes of at least one element (a "
            "reduction keeps them with keepdims=True)",
        )
