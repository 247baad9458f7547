// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"

/// The elementwise operations: which there are, and which dtypes they compute in.
namespace spanwise::ops {

/// Sets of dtypes, one bit each in NumPy's order of types.
enum Types : unsigned {
  t_bool = 1u << 0,
  t_int8 = 1u << 1,
  t_uint8 = 1u << 2,
  t_int16 = 1u << 3,
  t_uint16 = 1u << 4,
  t_int32 = 1u << 5,
  t_uint32 = 1u << 6,
  t_int64 = 1u << 7,
  t_uint64 = 1u << 8,
  t_half = 1u << 9,
  t_bfloat = 1u << 10,
  t_float32 = 1u << 11,
  t_float64 = 1u << 12,
  t_complex64 = 1u << 13,
  t_complex128 = 1u << 14,

  booleans = t_bool,
  integers = 0xffu << 1,
  floats = t_half | t_bfloat | t_float32 | t_float64,
  complexes = t_complex64 | t_complex128,
  doubles = t_float64 | t_complex128,
  anything = booleans | integers | floats | complexes,
};
/// The dtypes in the order of the bits; null-terminated by count.
inline constexpr DType dtypes_in_order[] = {bool_,    int8,    uint8,   int16,     uint16,
                                            int32,    uint32,  int64,   uint64,    float16,
                                            bfloat16, float32, float64, complex64, complex128};
inline constexpr int dtype_count = 15;
/// The place of a computable dtype among them; -1 for others.
SW_API int place_of(DType dtype) noexcept;

enum class Result : std::uint8_t { same, boolean, real_part };

enum Traits : unsigned {
  sign_agnostic = 1u << 0,    ///< the bits of the result do not depend on integers' signs
  vectorises = 1u << 1,       ///< worth a loop for each instruction set
  no_bool = 1u << 2,          ///< NumPy refuses bool rather than promote it
  exact_is_double = 1u << 3,  ///< bool and integers are computed in float64
  exact_is_kept = 1u << 4,    ///< bool and integers come out as they went in
  boolean_inputs = 1u << 5,   ///< any operand counts as its truth
  compares = 1u << 6,         ///< int64 with uint64 has a body of its own
  chooses = 1u << 7,          ///< the first operand is a truth, whatever the others are
  native_halves = 1u << 8,    ///< the 16-bit floats have bodies of their own
};

enum class OpId : std::uint8_t {
#define SW_OP(name, Body, inputs, dtypes, result, traits) name,
#include "table.inc"
#undef SW_OP
};

struct OpTraits {
  const char* name;  ///< "floor_divide"
  const char* body;  ///< "FloorDivide": the struct in the .cuh files
  int inputs;
  unsigned dtypes;
  Result result;
  unsigned traits;
};
SW_API const OpTraits& facts(OpId op) noexcept;
inline constexpr int op_count = 0
#define SW_OP(name, Body, inputs, dtypes, result, traits) +1  // NOLINT: a sum's next term
#include "table.inc"
#undef SW_OP
    ;
/// By NumPy's name.
SW_API std::optional<OpId> find_op(std::string_view name) noexcept;
/// "FloorDivide": how messages and printed graphs say it.
SW_API std::string display_name(OpId op);

/// How one operation is done on operands of certain dtypes.
struct Signature {
  OpId op;        ///< that computes it: another one where that has the same answer
  DType compute;  ///< what operands are cast to
  DType result;
  bool swapped = false;  ///< the two operands change places
  bool mixed = false;    ///< int64 compared with uint64, as they are

  friend bool operator==(const Signature&, const Signature&) = default;

  /// What operand i (after swapping) is cast to.
  DType operand(int i) const noexcept {
    if (mixed) return i == 0 ? int64 : uint64;
    return (facts(op).traits & chooses) != 0 && i == 0 ? bool_ : compute;
  }
};

/// For operands of these dtypes; weak ones (Python numbers) have been given a dtype already. With
/// `wanted` the result has that dtype. Throws DTypeError where NumPy has no such operation.
SW_API Signature resolve(OpId op, std::span<const DType> operands,
                         std::optional<DType> wanted = {});

}  // namespace spanwise::ops
