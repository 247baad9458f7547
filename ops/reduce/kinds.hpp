// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/dtype.hpp"

namespace spanwise::ops::reduce {

/// What a kernel does with the elements of an output; bodies.cuh has the text.
enum class Kind { sum, prod, nansum, deviation, min, max, any, all, count, argmin, argmax };
inline constexpr int kind_count = 11;

/// What is done to an accumulator before it is written.
enum class Finish {
  nothing,
  divide,    ///< by a count: a mean
  root,      ///< divide, then the square root
  subtract,  ///< a companion's number
};

/// The facts of one kind.
struct KindFacts {
  const char* body;    ///< in bodies.cuh
  bool keeps_place;    ///< PlaceOf<body>
  bool has_companion;  ///< reads a number for each output
  bool has_identity;   ///< an output without elements has a value
};
const KindFacts& facts(Kind kind) noexcept;

/// How one dtype's elements are reduced.
struct ReductionSpec {
  Kind kind;
  DType element;      ///< what is read
  DType accumulator;  ///< of the values: int64 (also for uint64), float64, complex128, bool, or own
};

/// What the accumulator of `kind` is for `element`; `inexact` where whole numbers are to be taken
/// as real ones (a mean).
/// Starts from -0, which 0 is added to at the end.
constexpr bool is_sum(Kind kind) noexcept { return kind == Kind::sum || kind == Kind::nansum; }

DType accumulator_for(Kind kind, DType element, bool inexact) noexcept;

inline bool is_half(DType dtype) noexcept { return dtype == float16 || dtype == bfloat16; }

}  // namespace spanwise::ops::reduce
