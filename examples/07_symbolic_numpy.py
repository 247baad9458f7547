# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A gradient in NumPy's notation, computed by NumPy and by CUDA, and its three programs.

    python examples/07_symbolic_numpy.py [--device cuda:0]

The expressions are those of a back-propagation step written for NumPy; only the arrays are wrapped
by sym.array(). CUDAMat runs as well where it is installed.
"""

import argparse

import numpy as np

import spanwise as sw
from spanwise import sym

SAMPLES, VISIBLE, HIDDEN = 64, 20, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default=str(sw.default_device()))
    device = parser.parse_args().device

    rng = np.random.default_rng(0)
    X = sym.array(rng.random((SAMPLES, VISIBLE), dtype="float32"), name="X")  # noqa: N806
    W = sym.array(rng.random((VISIBLE, HIDDEN), dtype="float32"), name="W")  # noqa: N806

    # A network that reproduces its input through h; no line computes anything.
    h = 1 / (1 + np.exp(-sym.dot(X, W)))
    z = sym.dot(h, W.T)
    delta_o = -(X - z)
    delta_h = sym.dot(delta_o, W) * h * (1.0 - h)
    grad_W = sym.dot(X.T, delta_h)  # noqa: N806
    print(f"grad_W has the shape {grad_W.shape} and the dtype {grad_W.dtype}\n")

    for value, name in ((h, "h"), (delta_o, "delta_o"), (delta_h, "delta_h"), (grad_W, "grad_W")):
        value.name = name
    print("# ---- NumPy ----\n", grad_W.numpy_code(), sep="\n")
    print("# ---- Spanwise: CUDA ----\n", grad_W.cuda_code(), sep="\n")
    print("# ---- CUDAMat ----\n", grad_W.cudamat_code(), sep="\n")

    np_grad_W = grad_W.asNumpy()  # noqa: N806
    cuda_grad_W = grad_W.asCUDA(device)  # noqa: N806
    assert np.allclose(np_grad_W, cuda_grad_W.numpy(), rtol=1e-4, atol=1e-3)
    print(f"NumPy and {cuda_grad_W.device} agree: {sym.check(grad_W, device=device)}")


if __name__ == "__main__":
    main()
