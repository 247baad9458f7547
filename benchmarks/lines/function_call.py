# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A compiled function of one custom op, compared with the kernel call alone and JAX's jitted call."""

import numpy as np
from harness import Result, installed, interleave

import spanwise as sw

SOURCE = """
__global__ void twice(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
"""


def measure():
    T = sw.tensor  # noqa: N806  (the usual alias)
    for device in map(str, sw.devices()):
        x = sw.array(np.arange(256, dtype="float32"), device=device)
        y = sw.empty(256, dtype="float32", device=device)
        kernel = sw.SourceModule(SOURCE, device=device).get_function("twice")
        twice = sw.kernel_op(
            "twice",
            SOURCE,
            inputs=["x: contiguous float32[n]"],
            outputs=["y: contiguous float32[n]"],
            arguments=["x", "y", "n"],
        )
        v = T.vector("v", dtype="float32")
        f = sw.function([v], twice(v), device=device)
        np.testing.assert_array_equal(f(x).numpy(), 2 * x.numpy())
        wait = lambda device=device: sw.synchronize(device)  # noqa: E731
        contenders = {
            "compiled function": lambda f=f, x=x: f(x),
            "kernel call alone": lambda k=kernel, x=x, y=y: k(
                x, y, np.int32(256), block=256, grid=1
            ),
        }
        if installed("jax"):
            import jax

            if (jax.default_backend() == "cpu") == (device == "cpu"):
                g, xj = jax.jit(lambda a: 2 * a), jax.numpy.arange(256, dtype="float32")
                contenders["jax.jit call"] = lambda g=g, xj=xj: g(xj)
        yield Result(
            f"call of a compiled one-node function on {device}, 256 float32",
            "compiled function",
            interleave(contenders, after=dict.fromkeys(contenders, wait)),
        )
    v = T.matrix("v", dtype="float32")
    unused = sw.function([v], [], device="cpu", on_unused_input="ignore")
    host = np.ones((1000, 1000), "float32")
    ours = sw.asarray(host, device="cpu")
    yield Result(
        "NumPy input of a compiled function without outputs on cpu, 1000 x 1000 float32",
        "NumPy array",
        interleave({"NumPy array": lambda: unused(host), "Spanwise array": lambda: unused(ours)}),
        goal=("over", "Spanwise array", 1e-6),
    )
