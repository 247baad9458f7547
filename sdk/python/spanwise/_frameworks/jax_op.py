# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.jax_op``: an op of Spanwise as a function of JAX.

A call is a primitive of JAX, ``spanwise_call``, that XLA computes by a foreign function of the extension
module (sdk/python/graph/xla_call.cpp). A second primitive, ``spanwise_tangent``, is the derivative in a
direction. It is linear in the direction, so JAX makes derivatives of any order, forward and reverse, of
the two: the transpose of ``spanwise_tangent`` is a ``spanwise_call`` of the gradient graph."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _core
from .._core import DTypeError
from ..graph._op import NativeOp
from . import ArrayType, Computation, GraphFunction, imported


def jax_op(op: Callable[..., Any], *, grad: Any = None, outputs: int | None = None) -> Any:
    """`op` as a function of JAX arrays, for use under jax.jit, jax.grad, jax.jvp, jax.vmap and
    jax.shard_map.

    `op` is an op (``sw.kernel_op``, a ``sw.Op``), an ElementwiseKernel declared by values, or a
    function of graph variables with a named parameter for each input. `outputs` is the number of
    outputs where `op` does not declare it, by default 1; several are returned as a tuple.

    XLA calls the op through its foreign function interface, on the device where JAX runs the program,
    the CPU or a GPU: the op reads and writes XLA's buffers, and on a GPU it is queued on the stream of
    the call. Ops in Python get copies and run under the GIL. The dtypes are those that `op` accepts.
    JAX compiles the call for each combination of dtypes and shapes, Spanwise for dtypes and ranks:
    make the function once and keep it.

    The derivatives, forward and reverse and of any order, are those of the graph of `op`, or of
    ``grad(inputs, output_gradients)``, a function of variables as in ``sw.kernel_op``; for a kernel
    op also a dict. jax.vmap makes one call of an elementwise op; another op is called for each
    element of the batch.

    Raises ImportError where JAX is not installed; TypeError for an `op` that is not callable;
    ArgumentError where it does not name its inputs. Tracing raises the errors of `op` for inputs that
    do not fit, DTypeError for 64-bit outputs without jax_enable_x64, and GraphError where a
    derivative is undefined. Errors while the op runs are JAX's errors with the message of the op's.
    """
    jax = imported("jax_op", "JAX", "jax")
    computation = Computation("jax_op", op, None, grad, outputs)
    call = jax.jit(functools.partial(_call, computation))
    known = (jax.Array, jax.core.Tracer)

    def operator(*inputs: Any) -> Any:
        arrays = [x if isinstance(x, known) else jax.numpy.asarray(x) for x in inputs]
        results = call(*arrays)
        return results[0] if len(results) == 1 else tuple(results)

    operator.__name__ = operator.__qualname__ = computation.name
    return operator


def _call(computation: GraphFunction, *arrays: Any) -> list[Any]:
    return _primitives().call.bind(*_equally_varying(arrays), computation=computation)


class _Primitives(NamedTuple):
    call: Any
    tangent: Any


@functools.cache
def _primitives() -> _Primitives:
    """The primitives, registered with JAX."""
    import jax
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    for platform, handler in zip(("cpu", "CUDA"), _core._xla_handlers(), strict=True):
        jax.ffi.register_ffi_target("spanwise_call", handler, platform=platform)
    call, tangent = Primitive("spanwise_call"), Primitive("spanwise_tangent")
    for primitive, computed_by in ((call, _computed), (tangent, _pushforward)):
        primitive.multiple_results = True
        primitive.def_impl(functools.partial(_run_alone, primitive))
        primitive.def_abstract_eval(functools.partial(_abstract_results, computed_by))
        batching.primitive_batchers[primitive] = functools.partial(_batched, primitive, computed_by)
        ad.primitive_jvps[primitive] = functools.partial(_jvp, primitive, computed_by)
        for platform in ("cpu", "cuda"):
            rule = functools.partial(_lower, computed_by, platform)
            mlir.register_lowering(primitive, rule, platform=platform)
    ad.primitive_transposes[tangent] = _transpose
    return _Primitives(call, tangent)


def _computed(computation: GraphFunction) -> GraphFunction:
    return computation


def _pushforward(computation: GraphFunction, wrt: tuple[int, ...]) -> GraphFunction:
    return computation.pushforward(wrt)


# ---- Rules of the primitives. `params` are computation= and, for the tangent, wrt= ----


def _run_alone(primitive: Any, *arrays: Any, **params: Any) -> Any:
    """Outside of jax.jit."""
    return _jitted(primitive, tuple(params.items()))(*arrays)


@functools.lru_cache(maxsize=256)
def _jitted(primitive: Any, params: tuple[tuple[str, Any], ...]) -> Any:
    import jax

    return jax.jit(functools.partial(primitive.bind, **dict(params)))


def _abstract_results(computed_by: Any, *inputs: Any, **params: Any) -> list[Any]:
    computation = computed_by(**params)
    return [_abstract(inputs, *each) for each in _output_types(computation, _types(inputs))]


def _abstract(inputs: Sequence[Any], dtype: str, shape: tuple[int, ...]) -> Any:
    """The type of a result. In jax.shard_map it varies over the axes over which the inputs do."""
    import jax

    if not inputs or not hasattr(inputs[0], "sharding"):
        return jax.core.ShapedArray(shape, jax.numpy.dtype(dtype))
    sharding = inputs[0].sharding
    if sharding is not None:
        sharding = sharding.update(spec=jax.sharding.PartitionSpec(*[None] * len(shape)))
    return inputs[0].update(
        shape=shape, dtype=jax.numpy.dtype(dtype), weak_type=False, sharding=sharding
    )


def _equally_varying(arrays: Sequence[Any]) -> list[Any]:
    """The arrays, in jax.shard_map all varying over the same axes of the mesh."""
    import jax

    types = [jax.typeof(x) for x in arrays]
    axes = [getattr(t, "vma", None) or getattr(t, "mat", None) for t in types]
    varying = [frozenset(getattr(a, "varying", a) or ()) for a in axes]
    every = frozenset().union(*varying)
    return [
        jax.lax.pcast(x, tuple(every - own), to="varying") if every - own else x
        for x, own in zip(arrays, varying, strict=True)
    ]


def _lower(computed_by: Any, platform: str, ctx: Any, *operands: Any, **params: Any) -> Any:
    import jax
    import numpy

    registration = _registration(computed_by(**params), _types(ctx.avals_in), platform)
    # The program holds the registration.
    ctx.module_context.add_keepalive(registration)
    lower = jax.ffi.ffi_lowering("spanwise_call")
    return lower(
        ctx,
        *operands,
        call=numpy.int64(registration.number),
        process=numpy.int64(_core._XlaCall.process),
    )


#: Computation -> (types, platform) -> the registration, while a program holds it.
_registrations: weakref.WeakKeyDictionary[GraphFunction, weakref.WeakValueDictionary[Any, Any]] = (
    weakref.WeakKeyDictionary()
)


def _registration(computation: GraphFunction, types: tuple[ArrayType, ...], platform: str) -> Any:
    """The number by which the handler finds the compiled function. Compiles it now, so that tracing
    raises the errors of compiling."""
    import jax

    known = _registrations.setdefault(computation, weakref.WeakValueDictionary())
    key = (tuple((dtype, len(shape)) for dtype, shape in types), platform)
    registration = known.get(key)
    if registration is None:
        device = "cpu"
        if platform == "cuda":
            device = f"cuda:{jax.local_devices(backend='cuda')[0].local_hardware_id}"
        nodes = computation.compiled(types, device).maker.fgraph.toposort()
        has_python_ops = not all(isinstance(node.op, NativeOp) for node in nodes)
        compiled = functools.partial(computation.compiled, types)
        known[key] = registration = _core._XlaCall(compiled, has_python_ops)
    return registration


def _jvp(
    primitive: Any, computed_by: Any, primals: Any, tangents: Any, **params: Any
) -> tuple[Any, Any]:
    import jax
    from jax.interpreters import ad

    wrt = tuple(i for i, x in enumerate(tangents) if not _is_zero(x))
    results = primitive.bind(*primals, **params)
    changes = iter(
        _primitives().tangent.bind(
            *primals, *(tangents[i] for i in wrt), computation=computed_by(**params), wrt=wrt
        )
    )
    return results, [
        next(changes) if _is_differentiable(y) else ad.Zero(jax.typeof(y).to_tangent_aval())
        for y in results
    ]


def _transpose(cotangents: Any, *inputs: Any, computation: GraphFunction, wrt: Any) -> list[Any]:
    """The derivatives with respect to the directions, which are the last inputs."""
    import jax
    from jax.interpreters import ad

    primals, directions = inputs[: computation.inputs], inputs[computation.inputs :]
    wanted = [i for i, x in enumerate(directions) if ad.is_undefined_primal(x)]
    if all(_is_zero(dy) for dy in cotangents):
        derivatives = [ad.Zero(directions[i].aval) for i in wanted]
    else:
        outputs = computation.output_types(_types(primals))
        gradient = computation.pullback(
            [_is_differentiable(each) for each in outputs], [wrt[i] for i in wanted]
        )
        # Functions for grad= expect a variable for each output.
        values = [
            jax.numpy.zeros(dy.aval.shape, dy.aval.dtype) if _is_zero(dy) else dy
            for dy in cotangents
        ]
        arrays = _equally_varying([*primals, *values])
        derivatives = _primitives().call.bind(*arrays, computation=gradient)
    found = dict(zip(wanted, derivatives, strict=True))
    return [None] * len(primals) + [found.get(i) for i in range(len(directions))]


def _batched(
    primitive: Any, computed_by: Any, arrays: Any, axes: Any, **params: Any
) -> tuple[Any, Any]:
    import jax

    computation = computed_by(**params)
    size = next(x.shape[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None)
    fronts = [
        x if axis is None else jax.numpy.moveaxis(x, axis, 0)
        for x, axis in zip(arrays, axes, strict=True)
    ]
    elements = [
        (str(x.dtype), x.shape if axis is None else x.shape[1:])
        for x, axis in zip(fronts, axes, strict=True)
    ]
    if computation.is_elementwise(elements):
        results = _batched_at_once(primitive, fronts, axes, size, params)
    else:
        batched = [x for x, axis in zip(fronts, axes, strict=True) if axis is not None]

        def one(values: Sequence[Any]) -> Any:
            each = iter(values)
            merged = [
                x if axis is None else next(each) for x, axis in zip(fronts, axes, strict=True)
            ]
            return primitive.bind(*_equally_varying(merged), **params)

        results = jax.lax.map(one, batched)
    return results, [0] * len(results)


def _batched_at_once(
    primitive: Any, arrays: Sequence[Any], axes: Sequence[Any], size: int, params: Any
) -> list[Any]:
    """The results of an elementwise primitive for arrays with the batch as axis 0, or None for an array
    that is the same for all. The batch becomes the first axis of all, with axes of length 1 after it
    where the ranks differ."""
    import jax

    rank = max(x.ndim - (axis is not None) for x, axis in zip(arrays, axes, strict=True))
    padded = []
    for x, axis in zip(arrays, axes, strict=True):
        shape = x.shape if axis is None else x.shape[1:]
        ones = (1,) * (rank - len(shape))
        x = x.reshape((1 if axis is None else size, *ones, *shape))
        padded.append(jax.numpy.broadcast_to(x, (size, *x.shape[1:])))
    return primitive.bind(*_equally_varying(padded), **params)


# ---- Types ----


def _types(arrays: Sequence[Any]) -> tuple[ArrayType, ...]:
    return tuple((str(_aval(x).dtype), tuple(_aval(x).shape)) for x in arrays)


def _aval(x: Any) -> Any:
    return getattr(x, "aval", x)


def _is_differentiable(x: Any) -> bool:
    import jax

    dtype = x[0] if isinstance(x, tuple) else x.dtype
    return bool(jax.numpy.issubdtype(dtype, jax.numpy.inexact))


def _is_zero(tangent: Any) -> bool:
    """Whether JAX knows that a tangent or cotangent is zero, as those of integers are."""
    import jax
    from jax.interpreters import ad

    return isinstance(tangent, ad.Zero) or tangent.dtype == jax.dtypes.float0


def _output_types(computation: GraphFunction, types: Sequence[ArrayType]) -> list[ArrayType]:
    import jax

    outputs = computation.output_types(types)
    for i, (dtype, _) in enumerate(outputs):
        jax_dtype = jax.dtypes.canonicalize_dtype(dtype)
        if str(jax_dtype) != dtype:
            raise DTypeError(
                f"{computation.label}: expected outputs of 32 bits, got {dtype} for output {i}, which JAX "
                f'would hold as {jax_dtype}; call jax.config.update("jax_enable_x64", True), or cast the output'
            )
    return outputs
