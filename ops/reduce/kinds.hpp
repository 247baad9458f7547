// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce.hpp"
#include "spanwise/core/dtype.hpp"

namespace spanwise::ops::reduce {

/// What a kernel computes from the elements of an output; see bodies.cuh.
enum class ReductionKind {
  sum,
  prod,
  nansum,
  deviation,
  min,
  max,
  any,
  all,
  count,
  argmin,
  argmax
};
inline constexpr int kind_count = 11;

/// The operation on an accumulator before it is stored.
enum class Finish {
  nothing,
  divide,    ///< by a count: a mean
  root,      ///< divide, then the square root
  subtract,  ///< subtract ReduceJob::subtrahend
};

/// The properties of a kind.
struct KindInfo {
  const char* body;     ///< name in bodies.cuh
  bool gives_index;     ///< gives indices: IndexOf<body>
  bool has_subtrahend;  ///< reads ReduceJob::subtrahend
};
const KindInfo& info(ReductionKind kind) noexcept;

/// How one dtype's elements are reduced.
struct ReductionTypes {
  ReductionKind kind;
  DType element;      ///< dtype of the input
  DType accumulator;  ///< int64 (also for uint64), float64, complex128, bool, or the element's

  friend bool operator==(const ReductionTypes&, const ReductionTypes&) = default;
};

/// Whether the accumulator starts from -0; 0 is added to it at the end.
constexpr bool is_sum(ReductionKind kind) noexcept {
  return kind == ReductionKind::sum || kind == ReductionKind::nansum;
}

/// The accumulator of `kind` for `element`; `inexact` if integers are accumulated as floating point
/// (for a mean).
DType accumulator_for(ReductionKind kind, DType element, bool inexact) noexcept;

inline bool is_half(DType dtype) noexcept { return dtype == float16 || dtype == bfloat16; }

/// Whether values of the dtype are integers or bools.
inline bool is_whole(DType dtype) noexcept { return dtype.is_bool() || dtype.is_integer(); }

/// The dtype that elements are cast to before they are summed to a result of dtype `result`;
/// `element` if the accumulator makes the cast unnecessary.
DType element_for(DType element, DType result) noexcept;

/// The kind that computes `op`, of those that compute it in one pass; sum for the others.
ReductionKind kind_of(Operation op, DType element) noexcept;

/// The types of a kind; `element` is changed to the dtype that the input is cast to. `inexact`
/// means that integers are accumulated as floating point: only for 64-bit integers are there loops
/// and kernels that do that; sums of narrower ones are exact in 64 bits, and their products need a
/// cast copy.
ReductionTypes types_for(ReductionKind kind, DType& element, bool inexact) noexcept;

}  // namespace spanwise::ops::reduce
