// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUB's loads, stores, exchanges and sorts of blocks, see spanwise_cub.h. With SwN values a thread,
// value i of thread t is element t * SwN + i of a blocked arrangement, i * threads + t of a striped
// one.

// An argument of BlockRadixSort without effect; CUDA declares it in driver_types.h.
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class SwT, int SwX, int SwN, BlockLoadAlgorithm SwAlgorithm = BLOCK_LOAD_DIRECT,
          int SwY = 1, int SwZ = 1, int = 0>
class BlockLoad {
 public:
  struct TempStorage {};
  BlockLoad() = default;
  explicit BlockLoad(TempStorage&) {}
  template <class SwFrom>
  void Load(SwFrom from, SwT (&items)[SwN], int valid = 0x7fffffff) {
    for (int i = 0; i < SwN; ++i)
      if (index(i) < valid) items[i] = from[index(i)];
  }
  template <class SwFrom, class SwOther>
  void Load(SwFrom from, SwT (&items)[SwN], int valid, SwOther other) {
    for (int i = 0; i < SwN; ++i) items[i] = index(i) < valid ? SwT(from[index(i)]) : SwT(other);
  }

 private:
  static int index(int i) {
    const int rank = sw_detail::rank_in_block();
    return SwAlgorithm == BLOCK_LOAD_STRIPED ? i * SwX * SwY * SwZ + rank : rank * SwN + i;
  }
};

template <class SwT, int SwX, int SwN, BlockStoreAlgorithm SwAlgorithm = BLOCK_STORE_DIRECT,
          int SwY = 1, int SwZ = 1, int = 0>
class BlockStore {
 public:
  struct TempStorage {};
  BlockStore() = default;
  explicit BlockStore(TempStorage&) {}
  template <class SwTo>
  void Store(SwTo to, SwT (&items)[SwN], int valid = 0x7fffffff) {
    const int rank = sw_detail::rank_in_block();
    for (int i = 0; i < SwN; ++i) {
      const int index =
          SwAlgorithm == BLOCK_STORE_STRIPED ? i * SwX * SwY * SwZ + rank : rank * SwN + i;
      if (index < valid) to[index] = items[i];
    }
  }
};

template <class SwT, int SwX, int SwN, bool = false, int SwY = 1, int SwZ = 1, int = 0>
class BlockExchange {
  static constexpr int threads = SwX * SwY * SwZ;

 public:
  using TempStorage = sw_detail::values_of_block<SwT, threads * SwN>;
  explicit BlockExchange(TempStorage& storage) : values_(storage) {}
  void BlockedToStriped(SwT (&in)[SwN], SwT (&out)[SwN], sw_line line = sw_line(__builtin_LINE())) {
    exchange(in, out, SwN, 1, 1, threads, line);
  }
  void StripedToBlocked(SwT (&in)[SwN], SwT (&out)[SwN], sw_line line = sw_line(__builtin_LINE())) {
    exchange(in, out, 1, threads, SwN, 1, line);
  }
  void BlockedToStriped(SwT (&items)[SwN], sw_line line = sw_line(__builtin_LINE())) {
    BlockedToStriped(items, items, line);
  }
  void StripedToBlocked(SwT (&items)[SwN], sw_line line = sw_line(__builtin_LINE())) {
    StripedToBlocked(items, items, line);
  }

 private:
  void exchange(SwT (&in)[SwN], SwT (&out)[SwN], int in_rank, int in_step, int out_rank,
                int out_step, sw_line line) {
    const int rank = sw_detail::rank_in_block();
    for (int i = 0; i < SwN; ++i) values_[rank * in_rank + i * in_step] = in[i];
    ::sw_barrier(line.value);
    for (int i = 0; i < SwN; ++i) out[i] = values_[rank * out_rank + i * out_step];
  }
  TempStorage& values_;
};

namespace sw_detail {
// Bits of a key that order as unsigned numbers as the keys do.
template <class SwT>
SW_FN unsigned long long ordered_bits(const SwT& key) {
  static_assert(sizeof(SwT) <= 8, "keys have at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &key, sizeof(SwT));
  const unsigned long long top = 1ull << (8 * sizeof(SwT) - 1);
  const bool is_real = (SwT)0.5 != (SwT)0, is_signed = (SwT)-1 < (SwT)0;
  if (is_real && (bits & top) != 0) return ~bits & (top | (top - 1));
  return is_signed ? bits ^ top : bits;
}
}  // namespace sw_detail

/// Stable sorts of the keys of a block, in a blocked arrangement, by bits [first, last) of the
/// keys.
template <class SwKey, int SwX, int SwN, class SwValue = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig = cudaSharedMemBankSizeFourByte, int SwY = 1, int SwZ = 1, int = 0>
class BlockRadixSort {
  static constexpr int count = SwX * SwY * SwZ * SwN;

 public:
  struct TempStorage {
    sw_detail::values_of_block<SwKey, count> keys[2];
    sw_detail::values_of_block<SwValue, count> values[2];
  };
  explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

#define SW_SORT(name, flip)                                                                        \
  void name(SwKey(&keys)[SwN], int first = 0, int last = 8 * sizeof(SwKey),                        \
            sw_line line = sw_line(__builtin_LINE())) {                                            \
    sort(keys, static_cast<SwValue*>(nullptr), first, last, flip, line);                           \
  }                                                                                                \
  void name(SwKey(&keys)[SwN], SwValue(&values)[SwN], int first = 0, int last = 8 * sizeof(SwKey), \
            sw_line line = sw_line(__builtin_LINE())) {                                            \
    sort(keys, values, first, last, flip, line);                                                   \
  }
  SW_SORT(Sort, 0)
  SW_SORT(SortDescending, ~0ull)
#undef SW_SORT

 private:
  void sort(SwKey* keys, SwValue* values, int first, int last, unsigned long long flip,
            sw_line line) {
    const int rank = sw_detail::rank_in_block();
    for (int i = 0; i < SwN; ++i) {
      storage_.keys[0][rank * SwN + i] = keys[i];
      if (values != nullptr) storage_.values[0][rank * SwN + i] = values[i];
    }
    ::sw_barrier(line.value);
    const int bits = last - first;
    const unsigned long long mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
    int from = 0;
    if (rank == 0)
      for (int width = 1; width < count; width *= 2, from = 1 - from)
        for (int start = 0; start < count; start += 2 * width)
          merge(from, start, width, first, mask, flip, values != nullptr);
    else
      for (int width = 1; width < count; width *= 2) from = 1 - from;
    ::sw_barrier(line.value);
    for (int i = 0; i < SwN; ++i) {
      keys[i] = storage_.keys[from][rank * SwN + i];
      if (values != nullptr) values[i] = storage_.values[from][rank * SwN + i];
    }
  }
  void merge(int from, int start, int width, int first, unsigned long long mask,
             unsigned long long flip, bool has_values) {
    const auto bits = [&](int i) {
      return ((sw_detail::ordered_bits(storage_.keys[from][i]) ^ flip) >> first) & mask;
    };
    const int middle = start + width < count ? start + width : count;
    const int end = start + 2 * width < count ? start + 2 * width : count;
    for (int a = start, b = middle, out = start; out < end; ++out) {
      const int taken = b >= end || (a < middle && bits(a) <= bits(b)) ? a++ : b++;
      storage_.keys[1 - from][out] = storage_.keys[from][taken];
      if (has_values) storage_.values[1 - from][out] = storage_.values[from][taken];
    }
  }
  TempStorage& storage_;
};

}  // namespace cub
