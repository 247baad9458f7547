# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Records calls of NumPy's functions as the nodes of an expression; nothing is computed.

Each function is applied to graph variables as well: their types are the dtype and the shape of the
result, and its errors are raised where the expression is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import spanwise as sw
from spanwise import TensorType, Variable, tensor

_LIBRARIES = ("spanwise", "numpy")  # their frames are not the place where an operation is written


@dataclass(slots=True, eq=False)
class Node:
    """``function(*args, **kwargs)`` with nodes instead of arrays, also inside tuples, lists
    and slices. The type of `variable`, the same operation in a graph, holds dtype and shape."""

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    variable: Variable
    place: str  #: "file:line" of the statement that made it
    name: str | None = None  #: in generated programs
    #: Generated functions and their programs, by target or device.
    prepared: dict[str, tuple[Callable[..., Any], Any]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.variable.type.shape  # type: ignore[return-value]  # record() checks it

    @property
    def dtype(self) -> str:
        return self.variable.dtype.name


@dataclass(slots=True, eq=False)
class Leaf(Node):
    """An array of any library, read when an expression is evaluated."""

    value: Any = None
    is_cast: bool = False  #: whether it is cast to `dtype` at each evaluation


class Symbolic:
    """The base class of SymArray, by which modules that SymArray imports recognize it."""

    __slots__ = ("_node",)
    _node: Node


def map_nested(value: Any, change: Callable[[Any], Any]) -> Any:
    """`value` with `change` applied to everything that is not a tuple, list, dict or slice."""
    if isinstance(value, tuple | list):
        return type(value)([map_nested(x, change) for x in value])
    if isinstance(value, dict):
        return {key: map_nested(x, change) for key, x in value.items()}
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*(map_nested(x, change) for x in parts))
    return change(value)


def operands(node: Node) -> list[Node]:
    """The nodes among the arguments of `node`."""
    arguments: list[Any] = []
    map_nested((node.args, node.kwargs), arguments.append)
    return [x for x in arguments if isinstance(x, Node)]


def place_of_caller() -> str:
    """ "file:line" of the innermost frame outside Spanwise and NumPy."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in _LIBRARIES:
            break
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


# ---- Recording ----


#: Elementwise functions, by NumPy's name.
UFUNCS = frozenset(
    name
    for name, value in vars(sw).items()
    if isinstance(value, sw.ufunc) and not name.startswith("_") and hasattr(np, name)
)
#: Elementwise functions that NumPy does not have.
OWN = ("sigmoid", "softplus")
REDUCTIONS = (
    *("sum", "prod", "min", "max", "mean", "var", "std", "any", "all"),
    *("argmin", "argmax", "cumsum", "cumprod", "ptp", "count_nonzero"),
)
OTHERS = (
    *("dot", "matmul", "where", "clip", "round", "take", "astype", "nansum"),
    *("reshape", "ravel", "transpose", "matrix_transpose", "swapaxes", "moveaxis", "squeeze"),
    *("expand_dims", "broadcast_to", "flip", "rot90", "atleast_1d", "atleast_2d", "atleast_3d"),
    *("concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"),
)
FUNCTIONS = frozenset((*UFUNCS, *OWN, *REDUCTIONS, *OTHERS))
#: Other names of NumPy for the functions above.
ALIASES = {
    "amin": "min",
    "amax": "max",
    "around": "round",
    "concat": "concatenate",
    "permute_dims": "transpose",
}
_METHODS = {"T": lambda x: x.T, "getitem": lambda x, key: x[key]}


def leaf(value: Any, name: str | None = None, dtype: Any = None) -> Leaf:
    """A leaf for an array of any library, or a number or nested lists, which NumPy converts."""
    if isinstance(value, Variable):
        raise TypeError(
            f"sym.array: expected an array, got the graph variable {value}; a variable has no value, "
            "use it with sw.function"
        )
    if not (hasattr(value, "shape") and hasattr(value, "dtype")):
        value = np.asarray(value)
    own_dtype = _dtype_of(value)
    leaf_dtype = own_dtype if dtype is None else sw.dtype(dtype)
    variable = TensorType(leaf_dtype, tuple(int(n) for n in value.shape))(name)
    is_cast = leaf_dtype != own_dtype
    return Leaf("array", (), {}, variable, place_of_caller(), name, value=value, is_cast=is_cast)


def record(function: str, *args: Any, **kwargs: Any) -> Node:
    """The node of ``numpy.<function>(*args, **kwargs)``. Arrays among the arguments become leaves.

    Raises TypeError for functions that sym does not support, for out=, and for results whose shape
    depends on values; further errors are those of the function applied to graph variables.
    """
    name = ALIASES.get(function, function)
    if name not in FUNCTIONS and name not in _METHODS:
        raise TypeError(
            f"sym: numpy.{function} is not among the functions that sym records; evaluate its "
            f"argument first: numpy.{function}(x.asNumpy())"
        )
    if kwargs.get("out") is not None:
        raise TypeError(f"{function}: out= needs memory, which a symbolic array does not have")
    kwargs = {key: x for key, x in kwargs.items() if key != "out"}
    if name == "clip":
        args, kwargs = _clip_arguments(*args, **kwargs), {}
    args, kwargs = map_nested(args, _operand), map_nested(kwargs, _operand)
    node = Node(name, args, kwargs, None, place_of_caller())  # type: ignore[arg-type]
    if not operands(node):  # sym.exp(3), sym.dot([1, 2], [3, 4])
        node.args = (leaf(args[0]), *args[1:])
    node.variable = _apply(name, node)
    return node


def _clip_arguments(
    x: Any,
    low: Any = None,
    high: Any = None,
    *,
    a_min: Any = None,
    a_max: Any = None,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """The arguments of numpy.clip by position: NumPy and Spanwise name them differently."""
    bounds = [(low, a_min, kwargs.pop("min", None)), (high, a_max, kwargs.pop("max", None))]
    if kwargs:
        raise TypeError(f"clip: expected the array and two bounds, got {', '.join(kwargs)} too")
    return x, *(next((b for b in names if b is not None), None) for names in bounds)


def _dtype_of(array: Any) -> sw.dtype:
    """Spanwise's dtype of another library's array; PyTorch's print as "torch.float32"."""
    try:
        return sw.dtype(array.dtype)
    except (TypeError, sw.Error):
        return sw.dtype(str(array.dtype).rpartition(".")[2])


def _operand(x: Any) -> Any:
    """An argument of a recorded call: a node for an array, options as they are."""
    if isinstance(x, Symbolic):
        return x._node
    if isinstance(x, np.generic) or x is None or isinstance(x, bool | int | float | complex | str):
        return x
    if x is ... or isinstance(x, type | np.dtype | sw.dtype):
        return x
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return leaf(x)
    if hasattr(x, "__index__"):
        return x.__index__()
    raise TypeError(f"sym: expected an array, a number or an option of NumPy, got {x!r}")


def _apply(name: str, node: Node) -> Variable:
    """The result of the call of `node` on graph variables."""
    function: Any = _METHODS.get(name) or getattr(tensor, name)
    args, kwargs = map_nested(
        (node.args, node.kwargs), lambda x: x.variable if isinstance(x, Node) else x
    )
    result = function(*args, **kwargs)
    if not isinstance(result, Variable):
        raise TypeError(f"sym.{name}: expected one array as the result, got {result!r}")
    if None in result.type.shape:
        raise TypeError(
            f"sym.{name}: the shape of the result, {result.type}, depends on values; use "
            "sym.where(mask, x, 0), or index arrays instead of a mask: numpy.flatnonzero(mask)"
        )
    return result
