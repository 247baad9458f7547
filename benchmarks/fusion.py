# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Three float32 inputs and two results, and a sum of squared differences: compiled functions of fused
operations beside single operations and other compilers. Used by the lines fusion_cpu and
fusion_gpu."""

import numpy as np
from harness import Result, installed, interleave

import spanwise as sw

#: From this number of elements on, timings include the wait for the results, which then takes little
#: of the time; those of smaller arrays are the host's time alone.
LARGE = 1 << 20


def both(a, b, c):
    product = a * b + c
    return product * 2 - a, product * c


def squared_distance(a, b):
    return ((a - b) ** 2).sum()


def spanwise_functions(arrays, device):
    inputs = [sw.TensorType("float32", (False,) * a.ndim)() for a in arrays]
    results = list(both(*inputs))
    fused = sw.function(inputs, results, device=device)
    unfused = sw.function(
        inputs, results, device=device, mode=sw.Mode("fast_run").excluding("fuse")
    )
    kernel = sw.ElementwiseKernel(
        "float32 a, float32 b, float32 c",
        "float32 y, float32 z",
        "const float p = a * b + c; y = p * 2 - a; z = p * c",
        "both",
    )
    return {
        "Spanwise, fused": lambda: fused(*arrays),
        "Spanwise, single operations": lambda: unfused(*arrays),
        "Spanwise, ElementwiseKernel": lambda: kernel(*arrays),
    }


def spanwise_sums(arrays, device):
    inputs = [sw.TensorType("float32", (False,) * a.ndim)() for a in arrays]
    result = squared_distance(*inputs)
    fused = sw.function(inputs, result, device=device)
    unfused = sw.function(
        inputs, result, device=device, mode=sw.Mode("fast_run").excluding("transform_reduce")
    )
    return {
        "Spanwise, fused": lambda: fused(*arrays),
        "Spanwise, sum of a fused result": lambda: unfused(*arrays),
    }


def torch_functions(body, arrays, device):
    import torch

    tensors = [torch.from_dlpack(a) if device != "cpu" else torch.from_numpy(a) for a in arrays]
    calls = {"PyTorch": lambda: body(*tensors)}
    compiled = torch.compile(body)
    try:
        compiled(*tensors)
    except Exception as error:  # it needs a compiler that not every machine has
        print(f"torch.compile is left out: {str(error).splitlines()[0][:100]}")
    else:
        calls["PyTorch, compiled"] = lambda: compiled(*tensors)
    return calls


def jax_function(body, arrays, device):
    import jax

    inputs = [jax.device_put(np.asarray(a), device) for a in arrays]
    compiled = jax.jit(body)
    return lambda: jax.block_until_ready(compiled(*inputs))


def numexpr_function(arrays):
    import numexpr

    return lambda: numexpr.evaluate("sum((a - b) ** 2)", dict(zip("ab", arrays, strict=True)))


def inputs_for(layout, size, device):
    """Three arrays of `size` elements: contiguous, or one transposed and one reversed."""
    rng = np.random.default_rng(0)
    side = int(size**0.5)
    shape = (size,) if layout == "contiguous" else (side, side)
    arrays = [sw.asarray(rng.random(shape, dtype="float32"), device=device) for _ in range(3)]
    return arrays if layout == "contiguous" else [arrays[0], arrays[1].T, arrays[2][:, ::-1]]


def finished(call, synchronize):
    """`call` with the wait for its results: otherwise a GPU's queue would be timed."""

    def run():
        call()
        synchronize()

    return run


def peers(body, arrays, device, torch_device, jax_device):
    """Calls of NumPy for arrays on the CPU, and of other compilers."""
    host = [a.numpy() for a in arrays] if str(device) == "cpu" else None
    calls = {"NumPy": lambda: body(*host)} if host is not None else {}
    is_contiguous = all(a.flags.c_contiguous for a in arrays)
    if is_contiguous and torch_device is not None and installed("torch"):
        calls |= torch_functions(body, host or arrays, torch_device)
    if is_contiguous and jax_device is not None and installed("jax"):
        calls["JAX, compiled"] = jax_function(body, [a.numpy() for a in arrays], jax_device)
    return calls


def result(name, calls, size, bytes_moved, synchronize):
    if size >= LARGE:
        calls = {name: finished(call, synchronize) for name, call in calls.items()}
    figures = interleave(calls, seconds=0.02, rounds=11, after=dict.fromkeys(calls, synchronize))
    return Result(
        name,
        "Spanwise, fused",
        figures,
        note=f"{bytes_moved / figures['Spanwise, fused'].median / 1e9:.0f} GB/s",
        goal=("ratio", "PyTorch, compiled", 1.0) if "PyTorch, compiled" in calls else None,
    )


def lines(device, cases, *, torch_device, jax_device, synchronize):
    """Results for each (layout, size) of `cases`."""
    for layout, size in cases:
        arrays = inputs_for(layout, size, device)
        calls = spanwise_functions(arrays, device)
        calls |= peers(both, arrays, device, torch_device, jax_device)
        name = f"three inputs, two results, {layout}, {size} float32, {device}"
        yield result(name, calls, size, size * 20, synchronize)


def sum_lines(device, sizes, *, torch_device, jax_device, synchronize):
    """Results for sums of squared differences of contiguous arrays."""
    for size in sizes:
        arrays = inputs_for("contiguous", size, device)[:2]
        calls = spanwise_sums(arrays, device)
        calls |= peers(squared_distance, arrays, device, torch_device, jax_device)
        if str(device) == "cpu" and installed("numexpr"):
            calls["numexpr"] = numexpr_function([a.numpy() for a in arrays])
        name = f"sum of squared differences, {size} float32, {device}"
        yield result(name, calls, size, size * 8, synchronize)
