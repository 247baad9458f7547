// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUB's operations and its primitives of warps, see spanwise_cub.h.

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

}  // namespace cub
