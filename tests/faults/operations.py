# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The operations whose allocations fail in turn. Each function prepares its inputs and returns the
call and what it must return, computed by NumPy."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

import spanwise as sw
from spanwise import tensor

Call = Callable[[], Any]
OPERATIONS: dict[str, Callable[[], tuple[Call, Any]]] = {}

A = np.arange(24, dtype=np.float32).reshape(4, 6) / 7
B = np.linspace(-2, 3, 24, dtype=np.float32).reshape(4, 6)

SCALE = r"""
#include <spanwise/view.cuh>
extern "C" __global__ void scale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor;
}
__global__ void add_view(spanwise::View<const float, 2> in, spanwise::View<float, 2> out) {
  for (int i = 0; i < in.shape[0]; ++i)
    for (int j = 0; j < in.shape[1]; ++j) out(i, j) = in(i, j) + 1;
}
template <class T> __global__ void twice(T *a) { a[threadIdx.x] *= 2; }
"""


def operation(make: Callable[[], tuple[Call, Any]]) -> Callable[[], tuple[Call, Any]]:
    OPERATIONS[make.__name__] = make
    return make


def eager(name: str, function: Callable[..., Any], *values: Any) -> None:
    """An operation on arrays, whose value NumPy computes with the same function."""

    def make() -> tuple[Call, Any]:
        arrays = [sw.asarray(value) if isinstance(value, np.ndarray) else value for value in values]
        return lambda: function(sw, *arrays), function(np, *values)

    OPERATIONS[name] = make


eager("add", lambda xp, a, b: a + b, A, B)
eager("add_scalar", lambda xp, a: 2 * a + 1, A)
eager("broadcast", lambda xp, a, b: a * b[:, :1] - b[0], A, B)
eager("compare", lambda xp, a, b: (a > b) & (a < 3), A, B)
eager("sum", lambda xp, a: a.sum(), A)
eager("mean_axis", lambda xp, a: a.mean(axis=1), A)
eager("std", lambda xp, a: xp.std(a, axis=0), A)
eager("argmax", lambda xp, a: xp.argmax(a, axis=1), B)
eager("cumsum", lambda xp, a: xp.cumsum(a, axis=0), A)
eager("where", lambda xp, a, b: xp.where(a > b, a, b), A, B)
eager("matmul", lambda xp, a, b: a @ b.T, A, B)
eager("tensordot", lambda xp, a, b: xp.tensordot(a, b, axes=([1], [1])), A, B)
eager("einsum", lambda xp, a, b: xp.einsum("ij,kj->ik", a, b), A, B)
eager("concat", lambda xp, a, b: xp.concatenate([a, b], axis=1), A, B)
eager("stack", lambda xp, a, b: xp.stack([a, b]), A, B)
eager("transpose_copy", lambda xp, a: xp.ascontiguousarray(a.T), A)
eager("reshape", lambda xp, a: a.T.reshape(-1), A)
eager("index_slice", lambda xp, a: a[1:, ::2] + 0, A)
eager("index_array", lambda xp, a, i: a[i], A, np.array([3, 0, 2]))
eager("index_mask", lambda xp, a: a[a > 1], A)
eager("take", lambda xp, a, i: xp.take(a, i, axis=1), A, np.array([5, 1]))
eager("flip", lambda xp, a: xp.flip(a, axis=1) - a, B)
eager("linspace", lambda xp: xp.linspace(0, 1, 7))
eager("triangle", lambda xp, a: xp.tril(a), B)
eager("nonzero", lambda xp, a: xp.nonzero(a > 0)[0], B)
eager("astype", lambda xp, a: a.astype("int16"), A)
eager("pad", lambda xp, a: xp.pad(a, 1), A)
eager("arange", lambda xp: xp.arange(0, 10, 3))
eager("clip", lambda xp, a: xp.clip(a, 0.5, 2), A)
eager("repeat_tile", lambda xp, a: xp.tile(xp.repeat(a, 2, axis=0), (1, 2)), A)


@operation
def to_and_from_numpy() -> tuple[Call, Any]:
    return lambda: sw.asarray(sw.asarray(A).numpy() * 2), A * 2


@operation
def from_list() -> tuple[Call, Any]:
    return lambda: sw.array([[1, 2], [3, 4.5]]), np.array([[1, 2], [3, 4.5]])


@operation
def assign_slice() -> tuple[Call, Any]:
    def call() -> Any:
        a = sw.zeros((4, 6), dtype="float32")
        a[1:, ::2] = 3
        a[sw.asarray(A) > 2] = 7
        return a

    expected = np.zeros((4, 6), dtype="float32")
    expected[1:, ::2] = 3
    expected[A > 2] = 7
    return call, expected


@operation
def in_place() -> tuple[Call, Any]:
    def call() -> Any:
        a = sw.array(A)
        a += 1
        a *= sw.asarray(B)
        return a

    return call, (A + 1) * B


@operation
def dlpack() -> tuple[Call, Any]:
    a = sw.array(A)
    return lambda: (np.from_dlpack(a), sw.from_dlpack(A)), (A, A)


@operation
def array_pickle() -> tuple[Call, Any]:
    a = sw.array(A)
    return lambda: (pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(a, 2))), (A, A)


@operation
def deep_copy() -> tuple[Call, Any]:
    a = sw.array(A)
    return lambda: copy.deepcopy(a), A


@operation
def representation() -> tuple[Call, Any]:
    a = sw.array(A)
    return lambda: repr(a), repr(sw.array(A))


@operation
def random_numbers() -> tuple[Call, Any]:
    def call() -> Any:
        return sw.random.default_rng(7).standard_normal((3, 5))

    return call, np.asarray(call())


@operation
def failed_call() -> tuple[Call, Any]:
    a, b = sw.array(A), sw.array(B).reshape(6, 4)

    def call() -> Any:
        try:
            return a + b
        except ValueError as error:
            return str(error)

    return call, call()


def scale_module() -> Any:
    return sw.SourceModule(SCALE, names=["twice<float>"])


@operation
def source_module() -> tuple[Call, Any]:
    """Of a text that this process has compiled already."""
    scale_module()
    return lambda: sorted(scale_module().function_names), sorted(scale_module().function_names)


@operation
def source_module_from_disk() -> tuple[Call, Any]:
    """Of a text that is in the kernel cache only."""
    names = sorted(scale_module().function_names)

    def call() -> Any:
        with sw.config.change(launch_blocking=not sw.config.launch_blocking):
            return sorted(scale_module().function_names)

    return call, names


@operation
def get_function() -> tuple[Call, Any]:
    module = scale_module()
    return lambda: module.get_function("twice<float>").name, "twice<float>"


@operation
def launch() -> tuple[Call, Any]:
    kernel = scale_module().get_function("scale")
    a = sw.array(A)

    def call() -> Any:
        out = sw.empty_like(a)
        kernel(a, out, np.float32(3), np.int32(A.size), grid=(1, 1, 1), block=(32, 1, 1))
        return out

    return call, A * 3


@operation
def launch_view() -> tuple[Call, Any]:
    kernel = scale_module().get_function("add_view")
    a = sw.array(A)

    def call() -> Any:
        out = sw.empty((6, 4), dtype="float32").T
        kernel(a, out, grid=(1, 1, 1), block=(1, 1, 1))
        return out

    return call, A + 1


@operation
def prepared_launch() -> tuple[Call, Any]:
    kernel = scale_module().get_function("scale")
    a = sw.array(A)

    def call() -> Any:
        out = sw.empty_like(a)
        kernel.prepare("PPfi")
        kernel.prepared_call((1, 1), (32, 1, 1), a.ptr, out.ptr, 2.0, A.size)
        sw.synchronize()
        return out

    return call, A * 2


@operation
def wrong_argument() -> tuple[Call, Any]:
    kernel = scale_module().get_function("scale")

    def call() -> Any:
        try:
            kernel(sw.array(A), 1, grid=(1, 1, 1), block=(1, 1, 1))
        except sw.KernelArgumentError as error:
            return str(error)[:20]
        return "accepted"

    return call, call()


@operation
def elementwise_kernel() -> tuple[Call, Any]:
    kernel = sw.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x * y + 1", "fma1")
    a, b = sw.array(A), sw.array(B)
    return lambda: kernel(a, b), A * B + 1


@operation
def reduction_kernel() -> tuple[Call, Any]:
    kernel = sw.ReductionKernel(
        "float32 x", "float32 y", "x * x", "a + b", "y = a", "0", "sum_of_squares"
    )
    a = sw.array(A)
    return lambda: kernel(a, axis=1), (A * A).sum(axis=1)


@operation
def kernel_pickle() -> tuple[Call, Any]:
    kernel = scale_module().get_function("scale")
    return lambda: pickle.loads(pickle.dumps(kernel)).name, "scale"


def compiled() -> Any:
    x, y = tensor.fmatrix("x"), tensor.fmatrix("y")
    return sw.function([x, y], [tensor.tanh(x * y + 1).sum(axis=1), tensor.dot(x, y.T)])


COMPILED = (np.tanh(A * B + 1).sum(axis=1), A @ B.T)


@operation
def build_graph() -> tuple[Call, Any]:
    def call() -> Any:
        x = tensor.fmatrix("x")
        y = tensor.exp(x).sum(axis=0) * 2 + x[0]
        return y.ndim

    return call, 1


@operation
def graph_function() -> tuple[Call, Any]:
    return lambda: compiled()(A, B), COMPILED


@operation
def graph_call() -> tuple[Call, Any]:
    function = compiled()
    a, b = sw.array(A), sw.array(B)
    return lambda: function(a, b), COMPILED


@operation
def graph_gradient() -> tuple[Call, Any]:
    def call() -> Any:
        x = tensor.fmatrix("x")
        return sw.function([x], tensor.grad((x * x * x).sum(), x))(A)

    return call, 3 * A * A


@operation
def graph_shared() -> tuple[Call, Any]:
    def call() -> Any:
        w = sw.shared(np.zeros(6, np.float32), name="w")
        x = tensor.fmatrix("x")
        step = sw.function([x], w.sum(), updates=[(w, w + x.sum(axis=0))])
        step(A)
        return step(A), w.get_value()

    return call, (A.sum(), 2 * A.sum(axis=0))


@operation
def graph_scan() -> tuple[Call, Any]:
    def call() -> Any:
        x = tensor.fvector("x")
        out = sw.graph.scan(lambda s: s * 2 + 1, outputs_info=[x], n_steps=3)
        return sw.function([x], out[-1])(A[0])

    return call, ((A[0] * 2 + 1) * 2 + 1) * 2 + 1


@operation
def graph_ifelse() -> tuple[Call, Any]:
    x = tensor.fvector("x")
    function = sw.function([x], tensor.ifelse(x.sum() > 0, x * 2, x - 1))
    return lambda: (function(A[0]), function(-A[0])), (A[0] * 2, -A[0] - 1)


@operation
def graph_from_graph() -> tuple[Call, Any]:
    def call() -> Any:
        x, y = tensor.fvector("x"), tensor.fvector("y")
        op = sw.graph.OpFromGraph([x, y], [x * y + x])
        return sw.function([x, y], op(x, y))(A[0], B[0])

    return call, A[0] * B[0] + A[0]


@operation
def graph_random() -> tuple[Call, Any]:
    def call() -> Any:
        stream = tensor.RandomStreams(seed=3)
        return sw.function([], stream.uniform((4,)))()

    return call, np.asarray(call())


@operation
def graph_dumps() -> tuple[Call, Any]:
    function = compiled()
    return lambda: pickle.loads(pickle.dumps(function))(A, B), COMPILED


@operation
def graph_loads() -> tuple[Call, Any]:
    text = pickle.dumps(compiled())
    return lambda: pickle.loads(text)(A, B), COMPILED


@operation
def variable_pickle() -> tuple[Call, Any]:
    x = tensor.fvector("x")
    y = (x * 2).sum()
    return lambda: pickle.loads(pickle.dumps(y)).ndim, 0


@operation
def kernel_op() -> tuple[Call, Any]:
    def call() -> Any:
        op = sw.kernel_op(
            "doubled",
            "__global__ void doubled(const float *x, float *y, int n) {"
            " int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }",
            inputs=["x: contiguous float32[n]"],
            outputs=["y: contiguous float32[n]"],
            arguments=["x", "y", "n"],
            block=32,
            grid=1,
        )
        return op(sw.array(A[0]))

    return call, A[0] * 2


@operation
def debugprint() -> tuple[Call, Any]:
    x = tensor.fvector("x")
    text = sw.printing.debugprint(tensor.exp(x + 1), file="str")
    return lambda: sw.printing.debugprint(tensor.exp(x + 1), file="str"), text


@operation
def config_change() -> tuple[Call, Any]:
    def call() -> Any:
        with sw.config.change(compile_timeout_s=17):
            return sw.config.compile_timeout_s

    return call, 17


@operation
def streams_and_events() -> tuple[Call, Any]:
    def call() -> Any:
        stream = sw.Stream()
        with stream:
            out = sw.array(A) + 1
            event = sw.Event()
            event.record(stream)
        event.synchronize()
        return out

    return call, A + 1


@operation
def cache_info() -> tuple[Call, Any]:
    return lambda: sw.kernel_cache.info().path, sw.kernel_cache.path
