# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the generated programs on the values that the leaves have now."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .cudamat import cudamat_code
from .program import Program, numpy_code, program_of, spanwise_code
from .tree import Leaf, Node

_WRITERS = {"numpy": numpy_code, "spanwise": spanwise_code, "cudamat": cudamat_code}


def code(node: Node, target: str) -> str:
    """The program of `node` for "numpy", "spanwise" or "cudamat". Raises ValueError for another
    target, NotSupportedError where CUDAMat has no such operation."""
    writer = _WRITERS.get(target)
    if writer is None:
        raise ValueError(f"commands: expected one of {', '.join(_WRITERS)}, got {target!r}")
    return writer(program_of(node))


def as_numpy(node: Node) -> np.ndarray[Any, Any]:
    program = program_of(node)
    values = [np.asarray(_core.convert(v, "numpy", copyif=True)) for v in _values(program)]
    result = np.asarray(_defined(numpy_code(program))["program"](*values))
    shares = any(np.may_share_memory(result, v) for v in values)
    return result.copy() if shares or not result.flags.writeable else result


def as_cuda(node: Node, device: Any = None) -> _core.Array:
    wanted = _core.default_device() if device is None else _core.device(device)
    program = program_of(node)
    compiled = node.compiled.get(str(wanted))
    if compiled is None:
        compiled = _defined(spanwise_code(program))["compiled"](wanted)
        node.compiled[str(wanted)] = compiled
    made: _core.Array = compiled(*_values(program))
    return made


def as_cudamat(node: Node) -> Any:
    program = program_of(node)
    lines = cudamat_code(program)
    try:
        import cudamat  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "asCUDAMat: the module cudamat cannot be imported; install CUDAMat, or use asCUDA()"
        ) from error
    values = [_core.convert(v, "cudamat", copyif=True) for v in _values(program)]
    return _defined(lines)["program"](*values)


def inputs(node: Node) -> dict[str, Any]:
    """The arguments of the generated programs."""
    program = program_of(node)
    return dict(zip(program.leaves, _values(program), strict=True))


def _values(program: Program) -> list[Any]:
    return [_value(name, x) for name, x in program.leaves.items()]


def _value(name: str, leaf: Leaf) -> Any:
    now = tuple(leaf.value.shape)
    if now != leaf.shape:
        raise ValueError(
            f"{name}: the array had shape {leaf.shape} when sym.array was called at {leaf.place}, now "
            f"it has {now}; make the expression again"
        )
    return _core.asarray(leaf.value).astype(leaf.dtype) if leaf.is_cast else leaf.value


def _defined(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(source, "<program of spanwise.sym>", "exec"), names)
    return names
