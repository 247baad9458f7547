// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"

/// The table of elementwise operations and the dtypes that they compute in.
namespace spanwise::ops {

/// Sets of dtypes, one bit each in NumPy's order of types.
enum DTypeSet : unsigned {
  t_bool = 1u << 0,
  t_int8 = 1u << 1,
  t_uint8 = 1u << 2,
  t_int16 = 1u << 3,
  t_uint16 = 1u << 4,
  t_int32 = 1u << 5,
  t_uint32 = 1u << 6,
  t_int64 = 1u << 7,
  t_uint64 = 1u << 8,
  t_float16 = 1u << 9,
  t_bfloat16 = 1u << 10,
  t_float32 = 1u << 11,
  t_float64 = 1u << 12,
  t_complex64 = 1u << 13,
  t_complex128 = 1u << 14,

  booleans = t_bool,
  integers = 0xffu << 1,
  floats = t_float16 | t_bfloat16 | t_float32 | t_float64,
  complexes = t_complex64 | t_complex128,
  doubles = t_float64 | t_complex128,
  any_dtype = booleans | integers | floats | complexes,
};
/// The dtypes in the order of the bits.
inline constexpr DType dtypes_in_order[] = {bool_,    int8,    uint8,   int16,     uint16,
                                            int32,    uint32,  int64,   uint64,    float16,
                                            bfloat16, float32, float64, complex64, complex128};
inline constexpr int dtype_count = 15;
/// The index of a computable dtype in dtypes_in_order; -1 for others.
SW_API int dtype_index(DType dtype) noexcept;

/// The dtype of an operation's result: that of the computation, bool, or that of its real part.
enum class Result : std::uint8_t { same, boolean, real_part };

/// Properties of operations, one bit each.
enum Traits : unsigned {
  sign_agnostic = 1u << 0,  ///< the bits of the result do not depend on the signedness of integers
  vectorises = 1u << 1,     ///< has a loop per instruction set
  no_bool = 1u << 2,        ///< an error for bool, as in NumPy; other operations promote it
  integers_as_double = 1u << 3,  ///< bool and integers are computed in float64
  keeps_integers = 1u << 4,      ///< returns bool and integers unchanged
  boolean_inputs = 1u << 5,      ///< operands are converted to bool
  compares = 1u << 6,            ///< a comparison, which has a body for int64 with uint64
  first_is_condition = 1u << 7,  ///< the first operand is bool, independent of the others
  native_halves = 1u << 8,       ///< has bodies for 16-bit floats
};

enum class OpId : std::uint8_t {
#define SW_OP(name, Body, inputs, dtypes, result, traits) name,
#include "elementwise_table.inc"
#undef SW_OP
};

struct OpTraits {
  const char* name;  ///< "floor_divide"
  const char* body;  ///< "FloorDivide": the struct in the .cuh files
  int inputs;
  unsigned dtypes;
  Result result;
  unsigned traits;

  /// Whether it has one of these Traits.
  bool has(unsigned any_of) const noexcept { return (traits & any_of) != 0; }
};
SW_API const OpTraits& traits_of(OpId op) noexcept;
inline constexpr int op_count = 0
#define SW_OP(name, Body, inputs, dtypes, result, traits) +1  // NOLINT: a sum's next term
#include "elementwise_table.inc"
#undef SW_OP
    ;
/// The operation that has the same result, bit by bit, for exchanged operands: `greater` for
/// `less`. nullopt if there is none.
std::optional<OpId> swapped_op(OpId op) noexcept;
/// The name in messages and printed graphs: "FloorDivide".
SW_API std::string display_name(OpId op);

/// How an operation is computed for operands of certain dtypes.
struct OpSignature {
  OpId op;        ///< the operation that computes it, which may be another with the same result
  DType compute;  ///< the dtype that operands are cast to
  DType result;
  bool swapped = false;  ///< the two operands are exchanged
  bool mixed = false;    ///< int64 compared with uint64 without a cast

  friend bool operator==(const OpSignature&, const OpSignature&) = default;

  /// The dtype that operand i (after swapping) is cast to.
  DType operand(int i) const noexcept {
    if (mixed) return i == 0 ? int64 : uint64;
    return traits_of(op).has(first_is_condition) && i == 0 ? bool_ : compute;
  }
};

/// The dtype in which loops and kernels compute on `dtype`: 16-bit floats in float32.
inline DType loop_dtype(DType dtype) noexcept {
  return dtype == float16 || dtype == bfloat16 ? float32 : dtype;
}
/// The same for one operation: 16-bit floats as they are if it has native_halves.
inline DType loop_dtype(const OpSignature& signature, DType dtype) noexcept {
  return traits_of(signature.op).has(native_halves) ? dtype : loop_dtype(dtype);
}

/// The signature for operands of these dtypes; the caller has chosen those of Python numbers. The
/// result has the dtype `requested`, if there is one. Throws DTypeError if NumPy has no such loop.
SW_API OpSignature resolve(OpId op, std::span<const DType> operands,
                           std::optional<DType> requested = {});

}  // namespace spanwise::ops
