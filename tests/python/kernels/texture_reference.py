# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Texture fetches computed by NumPy, and kernels that fetch from textures."""

import numpy as np

import spanwise as sw

#: rank of the texture -> the fetch at point i.
FETCHES = {
    1: "tex1D<ELEMENT>(t, points[3 * i])",
    2: "tex2D<ELEMENT>(t, points[3 * i], points[3 * i + 1])",
    3: "tex3D<ELEMENT>(t, points[3 * i], points[3 * i + 1], points[3 * i + 2])",
}

SOURCE = """
__global__ void k(ELEMENT *out, const float *points, int n, cudaTextureObject_t t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = EXPRESSION;
}
"""

#: dtype -> the C type of elements and fetches.
C_TYPES = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "uint16": "unsigned short",
    "int16": "short",
    "uint32": "unsigned",
    "int32": "int",
    "float32": "float",
}

SHAPES = [(13,), (5, 9), (3, 4, 7)]


def fetch(device, texture, points, rank, dtype):
    """The elements that a kernel fetches from a texture of `rank` axes at `points`, rows (x, y, z)."""
    source = SOURCE.replace("EXPRESSION", FETCHES[rank])
    kernel = sw.SourceModule(
        source, options=[f"-DELEMENT={C_TYPES[dtype]}"], device=device
    ).get_function("k")
    out = sw.array(np.full(len(points), 99).astype(dtype), device=device)
    kernel(
        out,
        sw.array(points, device=device),
        np.int32(len(points)),
        texture,
        block=64,
        grid=-(-len(points) // 64),
    )
    return out.numpy()


def random_values(shape, dtype):
    rng = np.random.default_rng()
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def random_points(shape, n=500):
    """`n` random points (x, y, z) up to 2 texels outside an array of `shape`, and its extents (x, y, z).

    Coordinates are odd multiples of 1/128, so that none lies on a border of texels, where rounding
    would decide which texel is fetched.
    """
    extent = np.array([*reversed(shape), *[1] * (3 - len(shape))])
    points = np.random.default_rng().uniform(-2, extent + 2, (n, 3))
    points = np.floor(points * 64) / 64 + 1 / 128
    return points.astype("float32"), extent


def texel_indices(index, n, mode):
    """The texels that the address mode `mode` selects for `index` on an axis of n; n is the border."""
    if mode == "clamp":
        return np.clip(index, 0, n - 1)
    if mode == "border":
        return np.where((index < 0) | (index >= n), n, index)
    if mode == "wrap":
        return index % n
    folded = index % (2 * n)
    return np.where(folded < n, folded, 2 * n - 1 - folded)


def sampled(values, points, mode, linear):
    """The values of texture fetches at `points` by the rules of the CUDA programming guide, in float64.

    `points` are rows (x, y, z) of unnormalized coordinates; the border is 0.
    """
    rank = values.ndim
    padded = np.pad(values.astype("float64"), [(0, 1)] * rank)
    total = np.zeros(len(points))
    for corner in range(2**rank if linear else 1):
        index, weight = [], np.ones(len(points))
        for d in range(rank):
            x = points[:, d].astype("float64") - (0.5 if linear else 0)
            low, up = np.floor(x), corner >> d & 1
            if linear:
                weight *= x - low if up else 1 - (x - low)
            index.insert(0, texel_indices(low.astype(int) + up, values.shape[rank - 1 - d], mode))
        total += weight * padded[tuple(index)]
    return total


def fetch_channels(device, texture, points, call, vector, channels, result):
    """The values of `call`, a fetch of C type `vector` at x, y, z, for each of `points`.

    The array has a row for each point and a column for each channel, of the C type `result`.
    """
    stores = "".join(f"out[{channels} * i + {c}] = v.{'xyzw'[c]}; " for c in range(channels))
    source = f"""
        __global__ void k({result} *out, const float *points, int n, cudaTextureObject_t t) {{
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i >= n) return;
          float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
          {vector} v = {call};
          {stores}
        }}
    """
    kernel = sw.SourceModule(source, device=device).get_function("k")
    dtype = {c: d for d, c in C_TYPES.items()}[result]
    out = sw.array(np.full((len(points), channels), 99).astype(dtype), device=device)
    count = np.int32(len(points))
    grid = -(-len(points) // 64)
    kernel(out, sw.array(points, device=device), count, texture, block=64, grid=grid)
    return out.numpy()
