# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.jax_op``: an op of Spanwise as a function of JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._core import DTypeError, default_device
from . import ArrayType, Computation, imported


def jax_op(op: Callable[..., Any], *, grad: Any = None, outputs: int | None = None) -> Any:
    """`op` as a function of JAX arrays, for use under jax.jit, jax.grad and jax.vmap.

    `op` is an op (``sw.kernel_op``, a ``sw.Op``), an ElementwiseKernel declared by values, or a
    function of graph variables with a named parameter for each input. `outputs` is the number of
    outputs where `op` does not declare it, by default 1; several are returned as a tuple.

    A call is a ``jax.pure_callback``: JAX calls Spanwise on the host with NumPy arrays, which share
    memory with JAX's arrays on the CPU, and the op runs on Spanwise's default device at the time of
    tracing. Arrays of JAX on a GPU are copied to the host and back. The dtypes are those that `op`
    accepts. The first call for each combination of dtypes and ranks compiles the op, and JAX compiles
    the call for each shape: make the function once and keep it.

    The derivatives of jax.grad and jax.vjp are those of `op`, or of ``grad(inputs,
    output_gradients)``, a function of variables as in ``sw.kernel_op``; for a kernel op also a dict.
    jax.jvp is not possible, nor are second derivatives. jax.vmap calls the op for each element of
    the batch.

    Raises ImportError where JAX is not installed; TypeError for an `op` that is not callable;
    ArgumentError where it does not name its inputs. Tracing raises the errors of `op` for inputs that
    do not fit, DTypeError for 64-bit outputs without jax_enable_x64, and GraphError where a
    derivative is undefined.
    """
    jax = imported("jax_op", "JAX", "jax")
    computation = Computation("jax_op", "numpy", op, None, grad, outputs)

    # JAX compiles a callback at the first call, and finds it again by its identity.
    @functools.cache
    def forward_call(types: tuple[ArrayType, ...], device: Any, x64: bool) -> Any:
        results = _output_types(computation, types)
        return _host_call(lambda *x: computation(x, types, device), results)

    @functools.cache
    def backward_call(compiled: Any, types: tuple[ArrayType, ...]) -> Any:
        return _host_call(compiled, types)

    def forward(*inputs: Any) -> Any:
        arrays = [jax.numpy.asarray(x) for x in inputs]
        call = forward_call(_types(arrays), default_device(), jax.config.jax_enable_x64)
        results = call(*arrays)
        return results[0] if len(results) == 1 else results

    # With symbolic_zeros JAX marks the inputs that are differentiated, and passes inputs as
    # CustomVJPPrimal.
    def forward_for_gradient(*inputs: Any) -> Any:
        values = [x.value for x in inputs]
        # The keys of a dict are static in a traced program.
        return forward(*values), (values, {i: () for i, x in enumerate(inputs) if x.perturbed})

    def backward(saved: Any, cotangents: Any) -> Any:
        arrays, wrt = [jax.numpy.asarray(x) for x in saved[0]], tuple(saved[1])
        outputs = _as_arrays(cotangents if isinstance(cotangents, tuple) else (cotangents,))
        given = [dy for dy in outputs if dy is not None]
        derivatives: dict[int, Any] = {}
        if wrt and given:
            types = _types(arrays)
            # Outside the callback, so that tracing raises the error of an undefined derivative.
            compiled = computation.gradient_function(types, outputs, wrt, default_device())
            results = backward_call(compiled, tuple(types[i] for i in wrt))(*arrays, *given)
            derivatives = dict(zip(wrt, results, strict=True))
        return tuple(derivatives.get(i) for i in range(len(arrays)))

    operator = jax.custom_vjp(forward)
    operator.defvjp(forward_for_gradient, backward, symbolic_zeros=True)
    operator.__name__ = computation.name
    return operator


def _host_call(compute: Callable[..., Sequence[Any]], types: Sequence[ArrayType]) -> Any:
    """A function of JAX arrays: the tuple of NumPy arrays ``compute(*arrays)`` of the given types,
    called by JAX."""
    import jax
    import numpy

    # Converts by NumPy: a callback that makes JAX arrays can deadlock with JAX's own threads.
    def callback(*values: Any) -> Any:
        return tuple(compute(*map(numpy.asarray, values)))

    expected = tuple(jax.ShapeDtypeStruct(shape, dtype) for dtype, shape in types)
    # Under jit also what vmap makes of the call is compiled once.
    return jax.jit(lambda *x: jax.pure_callback(callback, expected, *x, vmap_method="sequential"))


def _types(arrays: Sequence[Any]) -> tuple[ArrayType, ...]:
    return tuple((str(x.dtype), tuple(x.shape)) for x in arrays)


def _output_types(computation: Computation, types: Sequence[ArrayType]) -> list[ArrayType]:
    import jax

    outputs = computation.output_types(types)
    for i, (dtype, _) in enumerate(outputs):
        jax_dtype = jax.dtypes.canonicalize_dtype(dtype)
        if str(jax_dtype) != dtype:
            raise DTypeError(
                f"jax_op: {computation.name}: expected outputs of 32 bits, got {dtype} for output {i}, which JAX "
                f'would hold as {jax_dtype}; call jax.config.update("jax_enable_x64", True), or cast the output'
            )
    return outputs


def _as_arrays(cotangents: Sequence[Any]) -> list[Any]:
    """The cotangents as arrays; None for outputs of integers. All None if all are zero."""
    import jax

    zero = jax.custom_derivatives.SymbolicZero
    if all(isinstance(dy, zero) for dy in cotangents):
        return [None] * len(cotangents)
    return [
        None
        if dy.dtype == jax.dtypes.float0
        else jax.numpy.zeros(dy.shape, dy.dtype)
        if isinstance(dy, zero)
        else dy
        for dy in cotangents
    ]
