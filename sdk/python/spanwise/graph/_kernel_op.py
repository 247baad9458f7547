# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.kernel_op``: an op from a CUDA C kernel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .. import _core
from .._core import Array
from ..kernels._bundle import attached_source
from ._function import compute_op
from ._gradient import GradFunction, check_kernel_gradient
from ._op import NativeOp, Op, is_eager

__all__ = ["KernelOp", "kernel_op", "kernel_op_counts"]


# A Python number is converted to a dtype of its own kind, or of a kind after it.
_KINDS = "biufc"
_KIND_OF_NUMBER = {bool: "b", int: "i", float: "f", complex: "c"}


class KernelOp(NativeOp):
    """The op of ``kernel_op``. A call adds a node to the graph, or computes if its inputs are arrays."""

    def __call__(self, *inputs: Any, return_list: bool = False, **kwargs: Any) -> Any:
        """The outputs as variables if an input is a Variable, else as arrays."""
        computes = is_eager(inputs)
        if any(type(value) in _KIND_OF_NUMBER for value in inputs):
            inputs = self._with_parameter_dtypes(inputs)
        if not computes:
            return super().__call__(*inputs, return_list=return_list, **kwargs)
        if kwargs:
            raise TypeError(
                f"{self._handle.declaration['name']}: expected arrays by position, got {', '.join(kwargs)}=; "
                "a call on arrays makes its outputs: copy them, sw.copyto(out, op(x))"
            )
        results = compute_op(self, inputs, {})
        return [results] if return_list and isinstance(results, Array) else results

    def get_global(self, name: str, device: Any = None) -> Array:
        """The ``__constant__`` or ``__device__`` variable `name` of the source as an array of its bytes.

        What is written to it is what later calls of all functions with this op read on `device`; a
        pickle of the op has the initial values. Dtype letters stand for float. Raises ArgumentError
        for another name, NotSupportedError for an element body."""
        declaration = self._handle.declaration
        if "element_inputs" in declaration:
            raise _core.NotSupportedError(
                f"{declaration['name']}: get_global({name!r}) is not supported for an element body, which is "
                "compiled together with the operations around it; pass the values as an input, or write a kernel"
            )
        return _core._kernel_op_global(self._handle, name, device)

    def _with_parameter_dtypes(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The Python numbers of `inputs` as arrays of the declared dtypes, where these hold them."""
        parameters = kernel_parameters(self._handle.declaration, "inputs")
        letters = {
            parameter.dtype: str(value.dtype)
            for parameter, value in zip(parameters, inputs, strict=False)
            if parameter.has_letter and hasattr(value, "dtype")
        }
        converted = list(inputs)
        for i, (parameter, value) in enumerate(zip(parameters, inputs, strict=False)):
            dtype = letters.get(parameter.dtype) if parameter.has_letter else parameter.dtype
            kind = _KIND_OF_NUMBER.get(type(value))
            if kind and dtype and _KINDS.index(kind) <= _KINDS.index(_kind_of(dtype)):
                converted[i] = _core.array(value, dtype=dtype, device="cpu")
        return tuple(converted)


def _kind_of(dtype: str) -> str:
    return "f" if dtype == "bfloat16" else _core.dtype(dtype).kind


def _texts(values: Any) -> list[str]:
    """One expression (text or integer) or several, as a list of texts."""
    if isinstance(values, (str, int)):
        values = (values,)
    return [str(value) for value in values]


def kernel_op(
    name: str,
    source: Any,
    inputs: Iterable[str] | str = (),
    outputs: Iterable[str] | str = (),
    *,
    arguments: Iterable[str] = (),
    block: Any = (256,),
    grid: Any = (),
    shared: str | int = 0,
    scalars: Mapping[str, Any] | None = None,
    overwrites: Mapping[str, str] | None = None,
    kernel: str = "",
    options: Iterable[str] = (),
    include_dirs: Iterable[Any] = (),
    preamble: str = "",
    grad: GradFunction | Mapping[str, Op] | None = None,
) -> KernelOp:
    """An op that runs the kernel `kernel` (default: `name`, else the only one) of `source`.

    `inputs` and `outputs` declare arrays as "name: layout dtype[extents]", such as "image: strided
    uint8[h, w, 3]". The layout is "contiguous" (a pointer parameter; an input that is not
    C-contiguous is copied) or "strided" (a parameter spanwise::View<T, N> of <spanwise/view.cuh>).
    The dtype is a name, or a capital letter that stands for any dtype, the same at each occurrence;
    the source may use the letter as a type. Extents are names, whose values come from the inputs'
    shapes, or integer expressions of names with + - * // % ( ), min(), max() and cdiv().
    `arguments` lists the values of the kernel's parameters in order: names of arrays, extents and
    `scalars`, or expressions; by default the parameters' own names. `block`, `grid` (in blocks) and
    `shared` (bytes) are integers or expressions; without `grid` there is at least one thread for
    each element of the first output.

    `overwrites` maps an output to the input in whose memory it is computed, ``{"y": "x"}``. Both
    have the same declaration; the kernel gets the same pointer for both, with the elements of `x`.
    The graph passes the memory of `x` itself if nothing else uses `x` afterwards, else a copy.

    Instead of a kernel, `source` may be what is computed for each element, with declarations as in
    CuPy: ``kernel_op("scaled", "z = x * y", "T x, float32 y", "T z")``, or in PyCUDA:
    ``kernel_op("scaled", "z[i] = a * x[i]", "float *z, float *x, float a")``. Inputs broadcast.
    Dtypes are real; in the text 16-bit floats are float. `preamble` defines functions before it. In
    a compiled function such ops are fused with elementwise operations around them.

    `grad` gives the derivatives for ``sw.tensor.grad``: a function
    ``grad(inputs, output_gradients)`` that returns a list with a variable for each input, as the
    method of an Op; or an op for each input, ``{"x": x_gradient}``, whose output is the derivative.
    The inputs of such an op are matched by name: those of this op, its outputs, and "d" with the
    name of an output for the derivative with respect to it.

    A call on variables adds the op to a graph; the kernel is compiled together with the function
    that uses it. A call without variables, on arrays of any library, numbers and lists, computes
    immediately and returns new arrays of Spanwise, or one array. It queues the kernel on the
    current stream of the first GPU among the arrays, else of their device; Python numbers take the
    declared dtype. The first call for each combination of dtypes compiles the kernel.

    `source` may also be a bundle of ``sw.compile``, or the path of one as a pathlib.Path: where it has a
    binary for the device, no compiler is needed.

    Raises ArgumentError for an inconsistent declaration; a call raises DTypeError, ShapeError or
    GraphError for inputs that do not fit it.
    """
    source = attached_source(source)
    if _is_element_declaration(inputs, outputs):
        of_kernels = (arguments, grid, scalars, overwrites, kernel, options, include_dirs)
        if any(of_kernels) or block != (256,) or shared != 0:
            raise _core.ArgumentError(
                f"kernel_op {name}: an element body takes preamble= and grad=, and no grid, arguments "
                "or options"
            )
        op = _element_op(name, source, _joined(inputs), _joined(outputs), preamble, grad)
        check_kernel_gradient(op)
        return op
    if preamble:
        raise _core.ArgumentError(
            f"kernel_op {name}: preamble= is for element bodies; write it before the kernel"
        )
    op = _core._kernel_op(
        {
            "name": name,
            "source": source,
            "kernel": kernel,
            "inputs": [inputs] if isinstance(inputs, str) else list(inputs),
            "outputs": [outputs] if isinstance(outputs, str) else list(outputs),
            "arguments": _texts(arguments),
            "block": _texts(block),
            "grid": _texts(grid),
            "shared": str(shared),
            "scalars": dict(scalars or {}),
            "overwrites": dict(overwrites or {}),
            "options": [options] if isinstance(options, str) else list(options),
            "include_dirs": [str(folder) for folder in include_dirs],
            "grad": grad,
        }
    )
    check_kernel_gradient(op)
    return op


def _joined(declared: Iterable[str] | str) -> str:
    return declared if isinstance(declared, str) else ", ".join(declared)


def _is_element_declaration(inputs: Iterable[str] | str, outputs: Iterable[str] | str) -> bool:
    """Whether these are CuPy's or PyCUDA's declarations, which have no colon."""
    declared = _joined(inputs) + _joined(outputs)
    return bool(declared.strip()) and ":" not in declared


def _element_op(
    name: str,
    operation: str,
    inputs: str,
    outputs: str,
    preamble: str,
    grad: GradFunction | Mapping[str, Op] | None,
) -> KernelOp:
    read, written, operation = _core._element_parameters(
        f"kernel_op {name}", inputs, outputs, operation, preamble
    )

    def declarations(parameters: list[tuple[str, str, str | None]]) -> list[str]:
        return [f"{each}: element {dtype or letter}" for each, letter, dtype in parameters]

    return _core._element_op(
        {
            "name": name,
            "source": operation,
            "preamble": preamble,
            "element_inputs": read,
            "element_outputs": written,
            "inputs": declarations(read),
            "outputs": declarations(written),
            "grad": grad,
        }
    )


def kernel_op_counts() -> dict[str, dict[str, int]]:
    """By op name: how many contiguous inputs were passed without a copy (`shared`) and `copied`,
    and `bytes_copied`."""
    return {counts.pop("name"): counts for counts in _core._kernel_op_counts()}


# ---- The declared arrays, "name: layout dtype[extents]", once `_core` has accepted them ----

_DECLARATION = re.compile(r"\s*(\w+)\s*:\s*(\w+)\s+(\w+)\s*(?:\[(.*)\])?\s*", re.DOTALL)


class KernelParameter(NamedTuple):
    """A declared array. `dtype` is a dtype's name or a letter, `extents` the expressions."""

    name: str
    dtype: str
    extents: tuple[str, ...]

    @property
    def has_letter(self) -> bool:
        return len(self.dtype) == 1


def kernel_parameters(declaration: Mapping[str, Any], kind: str) -> list[KernelParameter]:
    """The arrays of a kernel op's declaration; `kind` is "inputs" or "outputs"."""
    return [_parse_parameter(text) for text in declaration[kind]]


def _parse_parameter(text: str) -> KernelParameter:
    match = _DECLARATION.fullmatch(text)
    assert match is not None, text
    name, _, dtype, extents = match.groups()
    return KernelParameter(name, dtype, _extents(extents or ""))


def _extents(text: str) -> tuple[str, ...]:
    """The expressions in `text`, which commas outside parentheses separate."""
    expressions, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            expressions.append("")
        else:
            expressions[-1] += character
    return tuple(filter(None, map(str.strip, expressions)))
