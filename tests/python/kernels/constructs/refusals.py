# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Constructs that run on a GPU only."""

from .construct import Refusal

REFUSALS = [
    Refusal(
        "ptx of compute capability 9 and 10",
        r"""
__global__ void k(int* out) {
  asm volatile("wgmma.fence.sync.aligned;");
}
""",
        (
            "kernel.cu:2",
            "PTX",
            'asm "wgmma.fence.sync.aligned"',
            "SW_CPU",
        ),
    ),
    Refusal(
        "dynamic parallelism",
        r"""
__global__ void a() {}
__global__ void k(int* out) {
  a<<<1, 32>>>();
}
""",
        (
            "kernel.cu:3",
            "<<<",
        ),
    ),
    Refusal(
        "mipmapped textures",
        r"""
__global__ void k(float* out, cudaTextureObject_t t) {
  out[0] = tex2DLod<float>(t, 0, 0, 1);
}
""",
        (
            "kernel.cu:2",
            "texture fetches of levels of detail",
        ),
    ),
    Refusal(
        "cubemap surfaces",
        r"""
__global__ void k(unsigned long long s) {
  surfCubemapwrite(1, s, 0, 0, 0);
}
""",
        (
            "kernel.cu:2",
            "cubemap surfaces",
        ),
    ),
    Refusal(
        "clusters",
        r"""
#include <cooperative_groups.h>
__global__ void __cluster_dims__(2, 1, 1) k(int* out) {
  cooperative_groups::this_cluster().sync();
}
""",
        (
            "kernel.cu:3",
            "clusters",
        ),
    ),
]
