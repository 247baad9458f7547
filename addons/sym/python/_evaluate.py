# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the generated programs on the values that the leaves have now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from ._cudamat import cudamat_code
from ._program import Program, numpy_code, program_of, spanwise_code
from ._tree import Leaf, Node

_WRITERS = {"numpy": numpy_code, "spanwise": spanwise_code, "cudamat": cudamat_code}


def code(node: Node, target: str) -> str:
    """The program of `node` for "numpy", "spanwise" or "cudamat". Raises ValueError for another
    target, NotSupportedError where CUDAMat has no such operation."""
    writer = _WRITERS.get(target)
    if writer is None:
        raise ValueError(f"commands: expected one of {', '.join(_WRITERS)}, got {target!r}")
    return writer(program_of(node))


def as_numpy(node: Node) -> np.ndarray[Any, Any]:
    function, program = _prepared(node, "numpy")
    values = [np.asarray(_core.convert(v, "numpy", copyif=True)) for v in _values(program)]
    result = np.asarray(function(*values))
    shares = any(np.may_share_memory(result, v) for v in values)
    return result.copy() if shares or not result.flags.writeable else result


def as_cuda(node: Node, device: Any = None) -> _core.Array:
    device = _core.default_device() if device is None else _core.device(device)
    function, program = _prepared(node, "spanwise", device)
    return function(*_values(program))  # type: ignore[no-any-return]


def as_cudamat(node: Node) -> Any:
    function, program = _prepared(node, "cudamat")
    return function(*(_core.convert(v, "cudamat", copyif=True) for v in _values(program)))


def _prepared(node: Node, target: str, device: Any = None) -> tuple[Callable[..., Any], Program]:
    """The generated function and its program, kept in the node."""
    key = target if device is None else str(device)
    if key not in node.prepared:
        program = program_of(node)
        names: dict[str, Any] = {}
        source = compile(_WRITERS[target](program), f"<sym program for {key}>", "exec")
        try:
            exec(source, names)
        except ModuleNotFoundError as error:
            raise ImportError(f"asCUDAMat: {error}; install CUDAMat, or use asCUDA()") from error
        function = names["program"] if device is None else names["compiled"](device)
        node.prepared[key] = function, program
    return node.prepared[key]


def inputs(node: Node) -> dict[str, Any]:
    """The arguments of the generated programs."""
    program = program_of(node)
    return dict(zip(program.leaves, _values(program), strict=True))


def _values(program: Program) -> list[Any]:
    """The arrays of the leaves. Raises ValueError if one has changed its shape."""
    return [_value(name, x) for name, x in program.leaves.items()]


def _value(name: str, leaf: Leaf) -> Any:
    shape = tuple(leaf.value.shape)
    if shape != leaf.shape:
        raise ValueError(
            f"{name}: the array had shape {leaf.shape} when sym.array was called at {leaf.place}, now "
            f"it has {shape}; make the expression again"
        )
    return _core.asarray(leaf.value).astype(leaf.dtype) if leaf.is_cast else leaf.value
