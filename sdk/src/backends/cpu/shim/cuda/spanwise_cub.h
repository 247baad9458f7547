// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces CUB's headers: its block and warp primitives (nvidia.github.io/cccl/cub). Thread
// 0 of a block combines the values of all threads in their order, so sums of reals may differ from
// a GPU's in the last places. CUB's device-wide functions are host code and left out.

#include "spanwise_host_libraries.h"

// An argument of BlockRadixSort without effect; CUDA declares it in driver_types.h.
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};

namespace cub {

// The line of a call. A class, because overloads could take an int for a value.
struct sw_line {
  int value;
  explicit sw_line(int value) : value(value) {}
};

#define SW_OPERATION(name, expression)                                                 \
  struct name {                                                                        \
    template <class SwT>                                                               \
    __attribute__((always_inline)) auto operator()(const SwT& a, const SwT& b) const { \
      return expression;                                                               \
    }                                                                                  \
  };
SW_OPERATION(Sum, SwT(a + b))
SW_OPERATION(Max, SwT(a < b ? b : a))
SW_OPERATION(Min, SwT(b < a ? b : a))
SW_OPERATION(Equality, a == b)
SW_OPERATION(Inequality, a != b)
// Of KeyValuePairs; of equal values, that of the first key.
SW_OPERATION(ArgMax, b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a)
SW_OPERATION(ArgMin, b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a)
#undef SW_OPERATION

struct NullType {};

template <class SwKey, class SwValue>
struct KeyValuePair {
  using Key = SwKey;
  using Value = SwValue;
  SwKey key;
  SwValue value;
  KeyValuePair() = default;
  KeyValuePair(const SwKey& key, const SwValue& value) : key(key), value(value) {}
};

namespace sw_detail {

// Memory for a value, without its constructor: shared variables have none.
template <class SwT>
struct alignas(SwT) storage_of {
  unsigned char bytes[sizeof(SwT)];
  SwT& get() { return *reinterpret_cast<SwT*>(bytes); }
};
template <class SwT, int SwN, class SwOp>
SW_FN SwT combined(const SwT (&values)[SwN], SwOp op) {
  SwT sum = values[0];
  for (int i = 1; i < SwN; ++i) sum = op(sum, values[i]);
  return sum;
}

// The logical warp of SwSize lanes that the calling thread is in, and its rank there.
template <int SwSize>
struct lanes {
  static_assert(SwSize >= 1 && SwSize <= 32 && (SwSize & (SwSize - 1)) == 0,
                "on the CPU a logical warp has 1, 2, 4, 8, 16 or 32 threads");
  const int lane = (int)sw_linear_thread() % 32;
  const int rank = lane % SwSize;
  const unsigned mask = (SwSize == 32 ? ~0u : (1u << SwSize % 32) - 1) << (lane - rank);
  template <class SwT>
  SwT from(SwT value, int source, sw_line line) const {
    return sw_shuffle(line.value, sw_warp_shuffle, mask, value, source, SwSize);
  }
};

}  // namespace sw_detail

template <class SwT, int SwSize = 32, int = 0>
class WarpReduce {
 public:
  struct TempStorage {};
  explicit WarpReduce(TempStorage&) {}

  /// The result is lane 0's.
  template <class SwOp>
  SwT Reduce(SwT value, SwOp op, int valid = SwSize, sw_line line = sw_line(__builtin_LINE())) {
    const sw_detail::lanes<SwSize> self;
    for (int step = 1; step < SwSize; step *= 2) {
      const SwT other = self.from(value, (self.rank + step) % SwSize, line);
      if (self.rank % (2 * step) == 0 && self.rank + step < valid) value = op(value, other);
    }
    return value;
  }
  SwT Sum(SwT value, int valid = SwSize, sw_line line = sw_line(__builtin_LINE())) {
    return Reduce(value, cub::Sum(), valid, line);
  }
  SwT Max(SwT value, int valid = SwSize, sw_line line = sw_line(__builtin_LINE())) {
    return Reduce(value, cub::Max(), valid, line);
  }
  SwT Min(SwT value, int valid = SwSize, sw_line line = sw_line(__builtin_LINE())) {
    return Reduce(value, cub::Min(), valid, line);
  }
};

namespace sw_detail {

// The scans that BlockScan and WarpScan share, for one value a thread and for arrays of values.
// They call two members of SwScan, which store the total of all values, without `first`, at
// `total` unless it is null: inclusive(in, out, op, total, line), exclusive(in, out, first, op,
// total, line).
template <class SwScan, class SwT>
class scans {
 public:
#define SW_UNWRAP(...) __VA_ARGS__
#define SW_SCAN(name, types, parameters, member, arguments)          \
  template <class SwIn, class SwOut SW_UNWRAP types>                 \
  void name(SwIn&& in, SwOut&& out SW_UNWRAP parameters,             \
            sw_line line = sw_line(__builtin_LINE())) {              \
    self().member(in, out, SW_UNWRAP arguments, nullptr, line);      \
  }                                                                  \
  template <class SwIn, class SwOut SW_UNWRAP types>                 \
  void name(SwIn&& in, SwOut&& out SW_UNWRAP parameters, SwT& total, \
            sw_line line = sw_line(__builtin_LINE())) {              \
    self().member(in, out, SW_UNWRAP arguments, &total, line);       \
  }
  SW_SCAN(InclusiveScan, (, class SwOp), (, SwOp op), inclusive, (op))
  SW_SCAN(ExclusiveScan, (, class SwOp), (, SwT first, SwOp op), exclusive, (first, op))
  SW_SCAN(InclusiveSum, (), (), inclusive, (cub::Sum()))
  SW_SCAN(ExclusiveSum, (), (), exclusive, (SwT(0), cub::Sum()))
#undef SW_SCAN
#undef SW_UNWRAP

 private:
  SwScan& self() { return static_cast<SwScan&>(*this); }
};

}  // namespace sw_detail

template <class SwT, int SwSize = 32, int SwArchitecture = 0>
class WarpScan : public sw_detail::scans<WarpScan<SwT, SwSize, SwArchitecture>, SwT> {
 public:
  struct TempStorage {};
  explicit WarpScan(TempStorage&) {}
  SwT Broadcast(SwT value, unsigned lane, sw_line line = sw_line(__builtin_LINE())) {
    return sw_detail::lanes<SwSize>().from(value, (int)lane, line);
  }

 private:
  friend sw_detail::scans<WarpScan, SwT>;
  template <class SwOp>
  void inclusive(SwT in, SwT& out, SwOp op, SwT* total, sw_line line) {
    const sw_detail::lanes<SwSize> self;
    for (int step = 1; step < SwSize; step *= 2) {
      const SwT before = self.from(in, self.rank >= step ? self.rank - step : self.rank, line);
      if (self.rank >= step) in = op(before, in);
    }
    out = in;
    if (total != nullptr) *total = Broadcast(out, SwSize - 1, line);
  }
  template <class SwOp>
  void exclusive(SwT in, SwT& out, SwT first, SwOp op, SwT* total, sw_line line) {
    const sw_detail::lanes<SwSize> self;
    SwT sum;
    inclusive(in, sum, op, total, line);
    const SwT before = self.from(sum, self.rank > 0 ? self.rank - 1 : 0, line);
    out = self.rank == 0 ? first : op(first, before);
  }
};

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

namespace sw_detail {
SW_FN int rank_in_block() { return (int)sw_linear_thread(); }
// The values of a block's threads, and one that they share.
template <class SwT, int SwThreads>
struct values_of_block {
  storage_of<SwT> values[SwThreads + 1];
  SwT& operator[](int rank) { return values[rank].get(); }
};
}  // namespace sw_detail

template <class SwT, int SwX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int SwY = 1,
          int SwZ = 1, int = 0>
class BlockReduce {
 public:
  using TempStorage = sw_detail::values_of_block<SwT, SwX * SwY * SwZ>;
  explicit BlockReduce(TempStorage& storage) : values_(storage) {}

  /// The result is thread 0's.
  template <class SwOp>
  SwT Reduce(SwT value, SwOp op, int valid = SwX * SwY * SwZ,
             sw_line line = sw_line(__builtin_LINE())) {
    const int rank = sw_detail::rank_in_block();
    values_[rank] = value;
    ::sw_barrier(line.value);
    if (rank == 0)
      for (int i = 1; i < valid; ++i) value = op(value, values_[i]);
    return value;
  }
  template <int SwN, class SwOp>
  SwT Reduce(SwT (&values)[SwN], SwOp op, sw_line line = sw_line(__builtin_LINE())) {
    return Reduce(sw_detail::combined(values, op), op, SwX * SwY * SwZ, line);
  }
  SwT Sum(SwT value, int valid = SwX * SwY * SwZ, sw_line line = sw_line(__builtin_LINE())) {
    return Reduce(value, cub::Sum(), valid, line);
  }
  template <int SwN>
  SwT Sum(SwT (&values)[SwN], sw_line line = sw_line(__builtin_LINE())) {
    return Reduce(values, cub::Sum(), line);
  }

 private:
  TempStorage& values_;
};

template <class SwT, int SwX, BlockScanAlgorithm SwAlgorithm = BLOCK_SCAN_RAKING, int SwY = 1,
          int SwZ = 1, int SwArchitecture = 0>
class BlockScan
    : public sw_detail::scans<BlockScan<SwT, SwX, SwAlgorithm, SwY, SwZ, SwArchitecture>, SwT> {
  static constexpr int threads = SwX * SwY * SwZ;
  using base = sw_detail::scans<BlockScan, SwT>;

 public:
  using TempStorage = sw_detail::values_of_block<SwT, threads>;
  explicit BlockScan(TempStorage& storage) : values_(storage) {}

  using base::ExclusiveScan;
  using base::ExclusiveSum;
  using base::InclusiveSum;
  /// Without an initial value thread 0's result is undefined.
  template <class SwOp>
  void ExclusiveScan(SwT in, SwT& out, SwOp op, sw_line line = sw_line(__builtin_LINE())) {
    scan(in, op, [](SwT) {}, nullptr, line);
    if (const int rank = sw_detail::rank_in_block(); rank > 0) out = values_[rank - 1];
  }
  /// `prefix` is called by thread 0 with the total, and returns the sum of all values before the
  /// block.
  template <class SwPrefix, class = decltype(&SwPrefix::operator())>
  void ExclusiveSum(SwT in, SwT& out, SwPrefix& prefix, sw_line line = sw_line(__builtin_LINE())) {
    scan(in, cub::Sum(), [&](SwT sum) { values_[threads] = prefix(sum); }, nullptr, line);
    const int rank = sw_detail::rank_in_block();
    out = rank == 0 ? values_[threads] : values_[threads] + values_[rank - 1];
  }
  template <class SwPrefix, class = decltype(&SwPrefix::operator())>
  void InclusiveSum(SwT in, SwT& out, SwPrefix& prefix, sw_line line = sw_line(__builtin_LINE())) {
    SwT before;
    ExclusiveSum(in, before, prefix, line);
    out = before + in;
  }

 private:
  friend base;
  template <class SwOp>
  void inclusive(SwT in, SwT& out, SwOp op, SwT* total, sw_line line) {
    scan(in, op, [](SwT) {}, total, line);
    out = values_[sw_detail::rank_in_block()];
  }
  template <class SwOp>
  void exclusive(SwT in, SwT& out, SwT first, SwOp op, SwT* total, sw_line line) {
    scan(in, op, [](SwT) {}, total, line);
    const int rank = sw_detail::rank_in_block();
    out = rank == 0 ? first : op(first, values_[rank - 1]);
  }
  // Several values a thread: the threads' totals are scanned, then each thread's values.
  template <int SwN, class SwOp>
  void inclusive(SwT (&in)[SwN], SwT (&out)[SwN], SwOp op, SwT* total, sw_line line) {
    scan(sw_detail::combined(in, op), op, [](SwT) {}, total, line);
    const int rank = sw_detail::rank_in_block();
    SwT sum = in[0];
    if (rank > 0) sum = op(values_[rank - 1], sum);
    for (int i = 0; i < SwN; ++i) {
      if (i > 0) sum = op(sum, in[i]);
      out[i] = sum;
    }
  }
  template <int SwN, class SwOp>
  void exclusive(SwT (&in)[SwN], SwT (&out)[SwN], SwT first, SwOp op, SwT* total, sw_line line) {
    scan(sw_detail::combined(in, op), op, [](SwT) {}, total, line);
    const int rank = sw_detail::rank_in_block();
    SwT sum = rank == 0 ? first : op(first, values_[rank - 1]);
    for (int i = 0; i < SwN; ++i) {
      const SwT value = in[i];
      out[i] = sum;
      sum = op(sum, value);
    }
  }
  // Leaves the inclusive scan in values_; thread 0 calls with_total with the total first.
  template <class SwOp, class SwWithTotal>
  void scan(SwT in, SwOp op, SwWithTotal with_total, SwT* total, sw_line line) {
    const int rank = sw_detail::rank_in_block();
    values_[rank] = in;
    ::sw_barrier(line.value);
    if (rank == 0) {
      for (int i = 1; i < threads; ++i) values_[i] = op(values_[i - 1], values_[i]);
      with_total(values_[threads - 1]);
    }
    ::sw_barrier(line.value);
    if (total != nullptr) *total = values_[threads - 1];
  }
  TempStorage& values_;
};

// Loads, stores, exchanges and sorts of blocks. With SwN values a thread, value i of thread t is
// element t * SwN + i of a blocked arrangement, i * threads + t of a striped one.

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

template <class SwT, int SwN, class SwFrom>
SW_FN void LoadDirectBlocked(int thread, SwFrom from, SwT (&items)[SwN], int valid = 0x7fffffff) {
  for (int i = 0; i < SwN; ++i)
    if (thread * SwN + i < valid) items[i] = from[thread * SwN + i];
}
template <int SwThreads, class SwT, int SwN, class SwFrom>
SW_FN void LoadDirectStriped(int thread, SwFrom from, SwT (&items)[SwN], int valid = 0x7fffffff) {
  for (int i = 0; i < SwN; ++i)
    if (thread + i * SwThreads < valid) items[i] = from[thread + i * SwThreads];
}
template <class SwT, int SwN, class SwTo>
SW_FN void StoreDirectBlocked(int thread, SwTo to, SwT (&items)[SwN], int valid = 0x7fffffff) {
  for (int i = 0; i < SwN; ++i)
    if (thread * SwN + i < valid) to[thread * SwN + i] = items[i];
}
template <int SwThreads, class SwT, int SwN, class SwTo>
SW_FN void StoreDirectStriped(int thread, SwTo to, SwT (&items)[SwN], int valid = 0x7fffffff) {
  for (int i = 0; i < SwN; ++i)
    if (thread + i * SwThreads < valid) to[thread + i * SwThreads] = items[i];
}

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
