// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/dtype.hpp"

namespace spanwise::ops::reduce {

/// What a kernel computes from the elements of an output; see bodies.cuh.
enum class Kind { sum, prod, nansum, deviation, min, max, any, all, count, argmin, argmax };
inline constexpr int kind_count = 11;

/// The operation on an accumulator before it is stored.
enum class Finish {
  nothing,
  divide,    ///< by a count: a mean
  root,      ///< divide, then the square root
  subtract,  ///< subtract the companion's value
};

/// The properties of a kind.
struct KindInfo {
  const char* body;    ///< name in bodies.cuh
  bool gives_index;    ///< gives indices: IndexOf<body>
  bool has_companion;  ///< reads a value per output: the mean of a deviation
  bool has_identity;   ///< the result for no elements is defined
};
const KindInfo& info(Kind kind) noexcept;

/// How one dtype's elements are reduced.
struct ReductionTypes {
  Kind kind;
  DType element;      ///< dtype of the input
  DType accumulator;  ///< int64 (also for uint64), float64, complex128, bool, or the element's
};

/// Whether the accumulator starts from -0; 0 is added to it at the end.
constexpr bool is_sum(Kind kind) noexcept { return kind == Kind::sum || kind == Kind::nansum; }

/// The accumulator of `kind` for `element`; `inexact` if integers are accumulated as floating point
/// (for a mean).
DType accumulator_for(Kind kind, DType element, bool inexact) noexcept;

inline bool is_half(DType dtype) noexcept { return dtype == float16 || dtype == bfloat16; }

}  // namespace spanwise::ops::reduce
