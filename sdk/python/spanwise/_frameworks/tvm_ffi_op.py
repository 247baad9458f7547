# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.tvm_ffi_op``: an op of Spanwise as a ``tvm_ffi.Function``; ``sw.TvmFfiOp``: such a function as an
op of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from .. import _core
from .._core import Apply, ArgumentError, Array, Stream, Variable
from ..graph._op import Op
from . import Computation, imported


def tvm_ffi_op(
    op: Callable[..., Any], *, name: str | None = None, outputs: int | None = None
) -> Any:
    """`op` as a ``tvm_ffi.Function``, for programs of every language that call functions by tvm-ffi's
    interface.

    `op` is an op (``sw.kernel_op``, a ``sw.Op``), an ElementwiseKernel declared by values, or a
    function of graph variables with a named parameter for each input; `outputs` is the number of its
    outputs where it does not declare it, by default 1.

    Called with tensors for the inputs, the function returns a new tensor, or an array of several; in
    Python an array of the library of the inputs.
    Called with tensors for the inputs and then for the outputs, it writes into these and returns None.
    Inputs have any strides and are not copied. On a GPU the work is queued on tvm-ffi's current stream of
    the device. ``tvm_ffi.register_global_func("rms_norm", f)`` gives it a name that C++ finds.

    Raises ImportError where tvm-ffi is not installed (``pip install apache-tvm-ffi``), and the errors of
    ``sw.torch_op``. A call raises the errors of `op`.
    """
    tvm_ffi = imported("tvm_ffi_op", "tvm-ffi (the package apache-tvm-ffi)", "tvm_ffi")
    computation = Computation("tvm_ffi_op", op, name, None, outputs)
    count, written = computation.inputs, computation.outputs

    def call(*tensors: Any) -> Any:
        if len(tensors) not in (count, count + written):
            raise ArgumentError(
                f"{computation.label}: expected {count} tensors, or {count} and {written} for the outputs, "
                f"got {len(tensors)}"
            )
        arrays = [_core.from_dlpack(x) for x in tensors]
        inputs = arrays[:count]
        gpu = next((x for x in inputs if str(x.device) != "cpu"), None)
        device = "cpu" if gpu is None else gpu.device
        types = [(str(x.dtype), x.shape) for x in inputs]
        function = computation.compiled(types, device)
        with nullcontext() if gpu is None else _stream_of(tvm_ffi, gpu):
            results = function(*inputs)
            results = results if isinstance(results, list) else [results]
            for out, result in zip(arrays[count:], results, strict=False):
                if (out.dtype, out.shape) != (result.dtype, result.shape):
                    raise ArgumentError(
                        f"{computation.label}: expected a tensor of {result.dtype} {result.shape} for an "
                        f"output, got {out.dtype} {out.shape}"
                    )
                _core.copyto(out, result)
            if len(tensors) > count:
                return None
            made = [tvm_ffi.from_dlpack(result) for result in results]
        return made[0] if written == 1 else made

    return tvm_ffi.convert(call)


def _stream_of(tvm_ffi: Any, array: Array) -> Stream:
    """The current stream of tvm-ffi on the device of `array`."""
    kind, ordinal = array.__dlpack_device__()
    handle = tvm_ffi.get_raw_stream(tvm_ffi.Device(kind, ordinal))
    return Stream.foreign(handle, array.device)


class TvmFfiOp(Op):
    """`function`, a ``tvm_ffi.Function`` that writes its last arguments, as an op.

    `outputs` makes the variables of the outputs from those of the inputs, ``lambda x, y: x.type()``: one
    or a list; by default the output has the type of the first input. `shapes` makes their shapes from
    those of the input arrays; by default all have that of the first. The function gets the inputs and then
    C-contiguous arrays for the outputs, and on a GPU Spanwise's current stream as that of tvm-ffi.
    A read-only input is copied, since tvm-ffi has no read-only tensors. `grad` is as in ``sw.kernel_op``.
    """

    __props__ = ("function", "outputs", "shapes", "gradient")

    def __init__(
        self,
        function: Any,
        outputs: Callable[..., Variable | Sequence[Variable]] | None = None,
        shapes: Callable[..., Any] | None = None,
        grad: Callable[..., Any] | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"TvmFfiOp: expected a tvm_ffi.Function, got {function!r}")
        self.function, self.outputs, self.shapes, self.gradient = function, outputs, shapes, grad

    def make_node(self, *inputs: Any) -> Apply:
        variables = [_core._as_variable(x) for x in inputs]
        if not variables:
            raise ArgumentError("TvmFfiOp: expected at least one input, got none")
        made = self.outputs(*variables) if self.outputs is not None else variables[0].type()
        return Apply(self, variables, [made] if isinstance(made, Variable) else list(made))

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[Any]) -> None:
        shapes: Any = [inputs[0].shape] * len(output_storage)
        if self.shapes is not None:
            shapes = self.shapes(*(x.shape for x in inputs))
            if not shapes or not isinstance(shapes[0], (tuple, list)):
                shapes = [shapes]
        device = inputs[0].device
        results = [
            _core.empty(tuple(shape), y.dtype, device=device)
            for shape, y in zip(shapes, node.outputs, strict=True)
        ]
        self.function(*(x if x.flags.writeable else x.copy() for x in inputs), *results)
        for cell, result in zip(output_storage, results, strict=True):
            cell[0] = result

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> Any:
        if self.gradient is None:
            raise _core.GraphError(f"{self}: has no gradient; pass grad= to TvmFfiOp")
        return self.gradient(inputs, output_gradients)

    def __str__(self) -> str:
        return "TvmFfiOp"
