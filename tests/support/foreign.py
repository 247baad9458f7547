# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries for tests: of the real library if it works on this machine, else of a stand-in.

Each class creates, reads and writes arrays with the library's own functions, so that the effects of a
bridge are checked without Spanwise.
"""

import os
import sys
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
from support import cuda_process
from support.foreign_libraries import (
    Cudamat,
    Cupy,
    Gnumpy,
    Jax,
    Library,
    Numba,
    Numpy,
    Pycuda,
    Tensorflow,
    Torch,
    Unavailable,
    Warp,
    has_gpu,
)
from support.peers import fake_pycuda, gnumpy_source

BUILD = Path(__file__).parents[2] / "build" / "foreign"


def _on_gpu(name):
    if not has_gpu():
        raise Unavailable(f"{name} needs a GPU")
    return "cuda:0"


def _import(name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from the library's own code
            return import_module(name)
    except (ImportError, AttributeError) as error:
        raise Unavailable(f"{name} cannot be imported ({error})") from None


def _numpy():
    return Numpy("numpy", np, "cpu")


def _torch():
    torch = _import("torch")
    device = "cuda:0" if has_gpu() and torch.cuda.is_available() else "cpu"
    return Torch("torch", torch, device)


def _jax():
    jax = _import("jax")
    _import("jax.numpy")
    with cuda_process.restored_context():  # JAX does not restore the current context
        platform = jax.devices()[0].platform
    return Jax("jax", jax, "cpu" if platform == "cpu" else "cuda:0")


def _tensorflow():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # no messages about missing GPUs
    tensorflow = _import("tensorflow")
    tensorflow.config.set_visible_devices([], "GPU")  # otherwise it reserves all GPU memory
    return Tensorflow("tensorflow", tensorflow, "cpu")


def _cupy():
    return Cupy("cupy", _import("cupy"), _on_gpu("cupy"))


def _numba():
    return Numba("numba", _import("numba.cuda"), _on_gpu("numba"))


def _warp():
    warp = _import("warp")
    warp.config.quiet = True
    warp.init()
    device = "cuda:0" if has_gpu() and warp.is_cuda_available() else "cpu"
    return Warp("warp", warp, device)


def _pycuda():
    if has_gpu():
        _import("pycuda.autoprimaryctx")
        return Pycuda("pycuda", _import("pycuda.gpuarray"), "cuda:0")
    return Pycuda("pycuda", fake_pycuda.install(), "cpu", is_fake=True)


def _fake_module(name):
    module = import_module(f"support.peers.fake_{name}")
    sys.modules[name] = module
    return module


def _cudamat():
    if has_gpu():
        module = _import("cudamat")
        module.cublas_init()
        return Cudamat("cudamat", module, "cuda:0")
    return Cudamat("cudamat", _fake_module("cudamat"), "cpu", is_fake=True)


def _gnumpy():
    """On a GPU the installed package. Without one gnumpy 0.2 from the package index over npmat, or
    with SPANWISE_TEST_GNUMPY=stand-in the stand-in over the stand-in for CUDAMat."""
    if has_gpu():
        library("cudamat")
        os.environ.setdefault("GNUMPY_USE_GPU", "yes")
        return Gnumpy("gnumpy", _import("gnumpy"), "cuda:0")
    if os.environ.get("SPANWISE_TEST_GNUMPY") == "stand-in":
        library("cudamat")
        return Gnumpy("gnumpy", _fake_module("gnumpy"), "cpu", is_fake=True)
    try:
        folder = gnumpy_source.folder(BUILD)
    except gnumpy_source.Unavailable as error:
        raise Unavailable(str(error)) from None
    os.environ["GNUMPY_USE_GPU"] = "no"
    sys.path.insert(0, str(folder))
    return Gnumpy("gnumpy", _import("gnumpy"), "cpu")


MAKERS = {
    "numpy": _numpy,
    "torch": _torch,
    "jax": _jax,
    "cupy": _cupy,
    "numba": _numba,
    "warp": _warp,
    "tensorflow": _tensorflow,
    "pycuda": _pycuda,
    "cudamat": _cudamat,
    "gnumpy": _gnumpy,
}


@cache
def _library_or_reason(name) -> Library | Unavailable:
    try:
        return MAKERS[name]()
    except Unavailable as reason:
        return reason


def library(name) -> Library:
    """The library of that name; the same object at each call. Raises Unavailable."""
    result = _library_or_reason(name)
    if isinstance(result, Unavailable):
        raise result
    return result
