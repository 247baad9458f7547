# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Host time of importing arrays of other libraries."""

import ctypes

import numpy as np
from harness import Call, Floor, Result, installed, interleave
from native import build

import spanwise as sw


def measure():
    x = np.arange(12, dtype="float32").reshape(3, 4)
    view = x[:, ::-1]
    yield Result(
        "import of a NumPy array",
        "sw.asarray",
        interleave(
            {
                "sw.asarray": Call(sw.asarray, x),
                "sw.from_dlpack": Call(sw.from_dlpack, x),
                "np.from_dlpack": Call(np.from_dlpack, x),
                "memoryview (floor)": Call(memoryview, x),
            }
        ),
        goal=("at most", None, 100e-9),
    )
    yield Result(
        "import of a strided NumPy view",
        "sw.asarray",
        interleave(
            {"sw.asarray": Call(sw.asarray, view), "np.from_dlpack": Call(np.from_dlpack, view)}
        ),
    )
    ours = sw.asarray(x)
    yield Result(
        "a Spanwise array as NumPy's",
        "sw.to_numpy",
        interleave(
            {
                "sw.to_numpy": Call(sw.to_numpy, ours),
                "np.from_dlpack": Call(np.from_dlpack, ours),
            }
        ),
        goal=("at most", None, 250e-9),
    )
    has_gpu = str(sw.devices()[0]) != "cpu"
    if installed("torch"):
        yield from _torch(has_gpu)
    if installed("jax"):
        yield from _jax()
    if installed("cupy") and has_gpu:
        yield from _cupy()
    if installed("pycuda") and has_gpu:
        yield from _pycuda()


def _torch(has_gpu):
    import torch

    for device in ["cpu", "cuda"] if has_gpu else ["cpu"]:
        # The first import of a kind of tensor leaves a reference from C++ to that tensor, which
        # accelerates later imports of it. It is another tensor than `t`, since most tensors are
        # referenced by Python only.
        sw.asarray(torch.ones(1, device=device))
        t = torch.arange(12, dtype=torch.float32, device=device)
        view = torch.arange(12, dtype=torch.float32, device=device).reshape(3, 4)
        mine = sw.asarray(t)
        yield Result(
            f"exchange with PyTorch, {device}",
            "sw.asarray(tensor)",
            interleave(
                {
                    "sw.asarray(tensor)": Call(sw.asarray, t),
                    "sw.asarray(view of a tensor)": Call(sw.asarray, view),
                    "sw.from_torch(tensor)": Call(sw.from_torch, t),
                    "torch.from_dlpack(tensor)": Call(torch.from_dlpack, t),
                    "torch.from_dlpack(sw array)": Call(torch.from_dlpack, mine),
                    "id(tensor) (floor)": Call(id, t),
                }
            ),
            goal=("at most", None, 100e-9),
        )
        yield Result(
            f"a Spanwise array as PyTorch's, {device}",
            "sw.to_torch",
            interleave(
                {
                    "sw.to_torch": Call(sw.to_torch, mine),
                    "torch.from_dlpack": Call(torch.from_dlpack, mine),
                    **_export_floor(torch.Tensor, None if device == "cpu" else mine.ptr),
                }
            ),
            goal=("at most", None, 200e-9),
        )


def _export_floor(array_type, address):
    """The time that the library's own C exchange API takes, as a column; none if it has no such API.

    `array_type` is the library's class of arrays, `address` GPU memory of 12 float32 or None for host
    memory.
    """
    capsule = getattr(array_type, "__dlpack_c_exchange_api__", None)
    if capsule is None:
        return {}
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    api = pointer(capsule, b"dlpack_exchange_api")
    loop = build("exchange_floor", keeps_gil=True).export_floor
    loop.restype, loop.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    return {"PyTorch's part, from C (floor)": Floor(lambda: loop(api, address, 20000))}


def _jax():
    import jax

    x = jax.numpy.arange(12, dtype="float32")
    yield Result(
        f"exchange with JAX, {jax.default_backend()}",
        "sw.asarray(jax array)",
        interleave(
            {
                "sw.asarray(jax array)": Call(sw.asarray, x),
                "jax.dlpack.from_dlpack(jax array)": Call(jax.dlpack.from_dlpack, x),
            }
        ),
    )


def _cupy():
    import cupy

    x = cupy.arange(12, dtype="float32")
    contenders = {
        "sw.asarray(cupy array)": Call(sw.asarray, x),
        "cupy.from_dlpack(cupy array)": Call(cupy.from_dlpack, x),
    }
    if installed("torch"):
        import torch

        contenders["torch.from_dlpack(cupy array)"] = Call(torch.from_dlpack, x)
    goal = ("at most", None, 500e-9)
    yield Result("exchange with CuPy", "sw.asarray(cupy array)", interleave(contenders), goal=goal)
    mine = sw.asarray(x)
    yield Result(
        "a Spanwise array as CuPy's",
        "sw.to_cupy",
        interleave(
            {
                "sw.to_cupy": Call(sw.to_cupy, mine),
                "cupy.from_dlpack": Call(cupy.from_dlpack, mine),
            }
        ),
        goal=("ratio", "cupy.from_dlpack", 1.0),
    )
    if not installed("torch"):
        return
    t = torch.arange(12, dtype=torch.float32, device="cuda")
    yield Result(
        "a PyTorch tensor as CuPy's",
        "sw.convert",
        interleave(
            {
                "sw.convert": lambda: sw.convert(t, "cupy"),
                "cupy.from_dlpack": Call(cupy.from_dlpack, t),
            }
        ),
        goal=("ratio", "cupy.from_dlpack", 1.0),
    )


def _pycuda():
    import pycuda.autoprimaryctx  # noqa: F401
    from pycuda import gpuarray

    x = gpuarray.to_gpu(np.arange(12, dtype="float32"))
    view = gpuarray.GPUArray(x.shape, x.dtype, base=x, gpudata=int(x.gpudata), strides=x.strides)
    mine = sw.asarray(x)
    yield Result(
        "import of a PyCUDA array",
        "sw.asarray(GPUArray)",
        interleave(
            {
                "sw.asarray(GPUArray)": Call(sw.asarray, x),
                "sw.asarray(view)": Call(sw.asarray, view),
                "its __cuda_array_interface__ alone": lambda: x.__cuda_array_interface__,
            }
        ),
        goal=("at most", None, 800e-9),
    )
    yield Result(
        "a Spanwise array as PyCUDA's",
        "sw.to_gpuarray",
        interleave(
            {
                "sw.to_gpuarray": Call(sw.to_gpuarray, mine),
                "GPUArray(base=...)": lambda: gpuarray.GPUArray(
                    x.shape, x.dtype, base=x, gpudata=int(x.gpudata), strides=x.strides
                ),
            }
        ),
    )
