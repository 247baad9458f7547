// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_source.hpp"

#include <cstddef>
#include <string>

#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"

namespace spanwise::ops {
namespace {

constexpr const char* plan_text = R"(
#if INDICES > 0
#define EACH_INDEX INDICES
#else
#define EACH_INDEX 1
#endif
struct Plan {
  long long shape[RANK], array[RANK], value[RANK], target[RANK];
  long long index[EACH_INDEX][RANK];
  long long extent[EACH_INDEX], stride[EACH_INDEX], target_stride[EACH_INDEX];
  const long long* indices[EACH_INDEX];
};
struct Location { long long array, value, target; };

// The offsets of result element i in the array and in the value, and its number among the elements
// that the indices can select.
template <class I> __device__ __forceinline__ Location location_of(const Plan& plan, I i) {
  Location location = {0, 0, 0};
  long long at[EACH_INDEX] = {};
  I rest = i;
#pragma unroll
  for (int axis = RANK - 1; axis >= 0; --axis) {
    const I extent = (I)plan.shape[axis];
    const long long k = (long long)(axis > 0 ? rest % extent : rest);
    rest = axis > 0 ? rest / extent : 0;
    location.array += k * plan.array[axis];
    location.value += k * plan.value[axis];
    location.target += k * plan.target[axis];
#pragma unroll
    for (int j = 0; j < INDICES; ++j) at[j] += k * plan.index[j][axis];
  }
#pragma unroll
  for (int j = 0; j < INDICES; ++j) {
    long long index = plan.indices[j][at[j]];
    index += index < 0 ? plan.extent[j] : 0;
    location.array += index * plan.stride[j];
    location.target += index * plan.target_stride[j];
  }
  return location;
}

template <class I> __device__ __forceinline__ I thread_index() {
  return (I)blockIdx.x * (I)blockDim.x + (I)threadIdx.x;
}

)";

constexpr const char* move_kernels = R"(
template <class I>
__device__ void read_elements(const Word* array, Word* value, const Plan& plan, I n) {
  const I i = thread_index<I>();
  if (i >= n) return;
  const Location location = location_of<I>(plan, i);
  value[location.value] = array[location.array];
}
template <class I>
__device__ void write_elements(Word* array, const Word* value, const Plan& plan, I n) {
  const I i = thread_index<I>();
  if (i >= n) return;
  const Location location = location_of<I>(plan, i);
  array[location.array] = value[location.value];
}
// last[t] becomes 1 + the greatest i that selects target t.
template <class I>
__device__ void find_last(unsigned long long* last, const Plan& plan, I n) {
  const I i = thread_index<I>();
  if (i >= n) return;
  atomicMax(last + location_of<I>(plan, i).target, (unsigned long long)i + 1);
}
template <class I>
__device__ void write_last(Word* array, const Word* value, const unsigned long long* last,
                           const Plan& plan, I n) {
  const I i = thread_index<I>();
  if (i >= n) return;
  const Location location = location_of<I>(plan, i);
  if (last[location.target] == (unsigned long long)i + 1) array[location.array] = value[location.value];
}

)";

// Instantiated as text, since kernels are found by their declarations in the source.
constexpr const char* move_entries = R"(
extern "C" __global__ void read_elements@(const Word* array, Word* value, const Plan plan,
                                          long long n) {
  read_elements<I@>(array, value, plan, (I@)n);
}
extern "C" __global__ void write_elements@(Word* array, const Word* value, const Plan plan,
                                           long long n) {
  write_elements<I@>(array, value, plan, (I@)n);
}
extern "C" __global__ void find_last@(unsigned long long* last, const Plan plan, long long n) {
  find_last<I@>(last, plan, (I@)n);
}
extern "C" __global__ void write_last@(Word* array, const Word* value,
                                       const unsigned long long* last, const Plan plan,
                                       long long n) {
  write_last<I@>(array, value, last, plan, (I@)n);
}
)";

std::string entries_for(const char* bits) {
  std::string entries = move_entries;
  for (std::size_t at = entries.find('@'); at != std::string::npos; at = entries.find('@', at))
    entries.replace(at, 1, bits);
  return entries;
}

constexpr const char* index_kernels = R"(
extern "C" __global__ void find_outside(const long long* indices, long long n, long long extent,
                                        unsigned long long* found) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const long long index = indices[i];
    if (index >= -extent && index < extent) continue;
    if (atomicCAS(found, 0ULL, 1ULL) == 0ULL) found[1] = (unsigned long long)index;
  }
}

extern "C" __global__ void wrap_indices(const long long* indices, long long* bounded, long long n,
                                        long long extent) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const long long rest = indices[i] % extent;
    bounded[i] = rest < 0 ? rest + extent : rest;
  }
}

extern "C" __global__ void clip_indices(const long long* indices, long long* bounded, long long n,
                                        long long extent) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const long long index = indices[i];
    bounded[i] = index < 0 ? 0 : index >= extent ? extent - 1 : index;
  }
}
)";

// Tiles in memory order; a tile has rows of one byte per thread, so that the true bytes are ordered
// by (row, warp, lane).
constexpr const char* mask_kernels = R"(
#define ROWS (TILE / BLOCK)
#define WARPS (BLOCK / 32)

extern "C" __global__ void count_tiles(const unsigned char* mask, long long n, long long* counts) {
  __shared__ int warps[WARPS];
  const long long start = (long long)blockIdx.x * TILE;
  int found = 0;
  for (int row = 0; row < ROWS; ++row) {
    const long long i = start + row * BLOCK + (int)threadIdx.x;
    found += i < n && mask[i] != 0;
  }
  for (int step = 16; step > 0; step /= 2) found += __shfl_down_sync(0xffffffffu, found, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = found;
  __syncthreads();
  if (threadIdx.x == 0) {
    long long total = 0;
    for (int warp = 0; warp < WARPS; ++warp) total += warps[warp];
    counts[blockIdx.x] = total;
  }
}

// Exclusive scan in one block: counts[i] becomes the sum of counts[0..i), counts[tiles] the total.
extern "C" __global__ void scan_tiles(long long* counts, long long tiles) {
  __shared__ long long sums[SCAN];
  long long before = 0;
  for (long long start = 0; start < tiles; start += SCAN) {
    const long long i = start + threadIdx.x;
    const long long own = i < tiles ? counts[i] : 0;
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int step = 1; step < SCAN; step *= 2) {
      const long long other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
      __syncthreads();
      sums[threadIdx.x] += other;
      __syncthreads();
    }
    if (i < tiles) counts[i] = before + sums[threadIdx.x] - own;
    before += sums[SCAN - 1];
    __syncthreads();
  }
  if (threadIdx.x == 0) counts[tiles] = before;
}

struct MaskShape { long long extents[RANK]; };

// positions has one row of `total` indices per axis.
extern "C" __global__ void write_positions(const unsigned char* mask, long long n,
                                           const long long* before, long long* positions,
                                           long long total, const MaskShape shape) {
  __shared__ int warps[WARPS];
  const long long start = (long long)blockIdx.x * TILE;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  long long done = before[blockIdx.x];
  for (int row = 0; row < ROWS; ++row) {
    const long long i = start + row * BLOCK + (int)threadIdx.x;
    const bool found = i < n && mask[i] != 0;
    const unsigned votes = __ballot_sync(0xffffffffu, found);
    if (lane == 0) warps[warp] = __popc(votes);
    __syncthreads();
    int before_warp = 0, in_row = 0;
    for (int w = 0; w < WARPS; ++w) {
      if (w < warp) before_warp += warps[w];
      in_row += warps[w];
    }
    if (found) {
      const long long column = done + before_warp + __popc(votes & ((1u << lane) - 1u));
      long long rest = i;
#pragma unroll
      for (int axis = RANK - 1; axis >= 0; --axis) {
        const long long extent = shape.extents[axis];
        positions[axis * total + column] = axis > 0 ? rest % extent : rest;
        rest = axis > 0 ? rest / extent : 0;
      }
    }
    done += in_row;
    __syncthreads();
  }
}
)";

// Sixteen bytes as two words: an element of complex128 need not be aligned to more than eight.
std::string word_type(int bytes) {
  if (bytes == 16) return "struct Word { unsigned long long low, high; };\n";
  return text("typedef ", word_text(bytes), " Word;\n");
}

}  // namespace

std::string plan_source(int rank, int indices) {
  return text("#define RANK ", rank, "\n#define INDICES ", indices,
              "\ntypedef unsigned I32;\ntypedef unsigned long long I64;\n", plan_text);
}

std::string move_source(const MoveSource& wanted) {
  return text(word_type(wanted.word), plan_source(wanted.rank, wanted.indices), move_kernels,
              entries_for("32"), entries_for("64"));
}

std::string indices_source() { return index_kernels; }

std::string mask_source(int rank) {
  return text("#define RANK ", rank, "\n#define BLOCK ", mask_block, "\n#define TILE ", mask_tile,
              "\n#define SCAN ", scan_block, "\n", mask_kernels);
}

}  // namespace spanwise::ops
