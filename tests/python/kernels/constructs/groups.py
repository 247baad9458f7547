# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Clusters, warps without masks, cooperative groups and CUB."""

from .construct import Construct

RUNS = [
    Construct(
        "cluster and register bounds",
        r"""
__global__ void __cluster_dims__(1, 1, 1) in_clusters(int* out) { out[0] = 0; }
__global__ void __maxnreg__(64) k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
""",
    ),
    Construct(
        "wide shuffle",
        r"""
struct S { double a, b; int c; };
__global__ void k(int* out) {
  int t = threadIdx.x;
  S s = {t + 0.5, t + 1.0, t + 2};
#ifdef SW_CPU
  s = __shfl_xor_sync(~0u, s, 1);
#else
  s = {(t ^ 1) + 0.5, (t ^ 1) + 1.0, (t ^ 1) + 2};
#endif
  int partner = t ^ 1;
  out[t] = s.a == partner + 0.5 && s.b == partner + 1.0 && s.c == partner + 2 ? t + 1 : 0;
}
""",
        note="of any size on the CPU; a GPU moves 8 bytes",
    ),
    Construct(
        "shuffles and votes without masks",
        r"""
#ifdef SW_CPU
__global__ void k(int* out) {
  int t = threadIdx.x, sum = 1, ok = 1;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down(sum, step);
  ok &= __shfl(t, 3) == (t & ~31) + 3;
  ok &= __shfl_up(t, 1, 16) == (t % 16 == 0 ? t : t - 1);
  ok &= __ballot(t % 2) == 0xaaaaaaaau;
  ok &= __all(t < 64);
  ok &= !__any(t > 63);
  if (t % 2 == 0) ok &= __shfl_xor(t, 2) == (t ^ 2);
  if (t % 32 == 0) ok &= sum == 32;
  out[t] = ok ? t + 1 : 0;
}
#else
__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
#endif
""",
        note="CUDA 8's names, which newer GPUs no longer have",
    ),
    Construct(
        "cooperative reductions and scans",
        r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void k(int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int t = threadIdx.x, r = t % 16, ok = 1;
  ok &= cg::reduce(tile, r, cg::plus<int>()) == 120;
  ok &= cg::reduce(tile, t, cg::greater<int>()) == t - r + 15;
  ok &= cg::reduce(tile, 1 << r, cg::bit_or<int>()) == 0xffff;
  ok &= cg::inclusive_scan(tile, r) == r * (r + 1) / 2;
  ok &= cg::exclusive_scan(tile, r, cg::plus<int>()) == r * (r - 1) / 2;
  out[t] = ok ? t + 1 : 0;
}
""",
    ),
    Construct(
        "asynchronous copies of groups",
        r"""
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__device__ int table[64];
__global__ void k(int* out) {
  __shared__ int whole[64], part[2][32];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int t = threadIdx.x, half = t / 32;
  table[t] = t;
  __threadfence();
  cg::sync(block);
  cg::memcpy_async(block, whole, table, sizeof(table));
  cg::memcpy_async(tile, part[half], 32, table + 32 * half, 16);
  cg::wait(block);
  cg::wait(tile);
  int lane = t % 32, ok = whole[63 - t] == 63 - t;
  out[t] = ok && (lane >= 16 || part[half][15 - lane] == 32 * half + 15 - lane) ? t + 1 : 0;
}
""",
    ),
    Construct(
        "cooperative groups by label",
        r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int size_of(cg::thread_group g) { g.sync(); return g.size(); }
__global__ void k(int* out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int t = threadIdx.x, ok = size_of(block) == 64 && size_of(tile) == 32;
  auto labeled = cg::labeled_partition(tile, (int)(t % 32 < 8));
  ok &= (int)labeled.size() == (t % 32 < 8 ? 8 : 24);
  out[t] = ok ? t + 1 : 0;
}
""",
    ),
    Construct(
        "grid group",
        r"""
#include <cooperative_groups.h>
__global__ void k(int* out) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
#ifdef SW_CPU
  grid.sync();
#endif
  out[grid.thread_rank()] = (int)grid.size() - 63 + (int)grid.thread_rank();
}
""",
        note="sync() needs a grid of one block on the CPU",
    ),
    Construct(
        "reductions and scans of CUB",
        r"""
#include <cub/cub.cuh>
struct RunningTotal {
  int total;
  __device__ int operator()(int sum) { int before = total; total += sum; return before; }
};
__global__ void k(int* out) {
  typedef cub::BlockReduce<int, 64> Reduce;
  typedef cub::BlockScan<int, 64> Scan;
  __shared__ typename Reduce::TempStorage sums;
  __shared__ typename Scan::TempStorage scans;
  __shared__ typename cub::WarpReduce<float>::TempStorage warps[2];
  __shared__ typename cub::WarpScan<int, 16>::TempStorage parts[4];
  int t = threadIdx.x, ok = 1, exclusive, inclusive, total, pair[2] = {2 * t, 2 * t + 1};
  int sum = Reduce(sums).Sum(t);
  __syncthreads();
  int largest = Reduce(sums).Reduce(pair, [](int a, int b) { return a > b ? a : b; });
  if (t == 0) ok &= sum == 2016 && largest == 127;
  Scan(scans).ExclusiveSum(t, exclusive, total);
  ok &= exclusive == t * (t - 1) / 2 && total == 2016;
  __syncthreads();
  RunningTotal running{100};
  Scan(scans).ExclusiveSum(1, exclusive, running);
  ok &= exclusive == 100 + t;
  __syncthreads();
  Scan(scans).InclusiveScan(pair, pair, [](int a, int b) { return a > b ? a : b; });
  ok &= pair[0] == 2 * t && pair[1] == 2 * t + 1;
  float of_warp = cub::WarpReduce<float>(warps[t / 32]).Sum(1.0f + t % 32);
  if (t % 32 == 0) ok &= of_warp == 528;
  cub::WarpScan<int, 16>(parts[t / 16]).InclusiveSum(1, inclusive);
  ok &= inclusive == t % 16 + 1;
  out[t] = ok ? t + 1 : 0;
}
""",
        note="on the CPU by small replacements of CUB's primitives of blocks and warps",
    ),
]
