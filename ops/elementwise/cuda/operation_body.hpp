// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "../compute.hpp"
#include "spanwise/strided/body.hpp"

/// Operations of the table as bodies of CUDA kernels.
namespace spanwise::ops {

/// What determines the body of one operation.
struct OperationKey {
  OpId op{};
  bool mixed = false;        ///< as OpSignature::mixed
  std::uint8_t inputs = 0;   ///< number of operands
  std::uint8_t numbers = 0;  ///< bit i: operand i is passed by value, as signature().operand(i)
  bool has_mask = false;
  bool checks_exponent = false;              ///< for power: negative exponents are reported
  DType compute;                             ///< as OpSignature::compute
  DType result;                              ///< in memory
  std::array<DType, max_inputs> operands{};  ///< in memory, after swapping

  /// `call_operands`: after swapping.
  OperationKey(const OpSignature& signature, std::span<const Operand> call_operands,
               DType result_dtype, bool is_masked) noexcept;

  friend bool operator==(const OperationKey&, const OperationKey&) = default;

  bool is_number(int i) const noexcept { return (numbers >> i & 1) != 0; }
  OpSignature signature() const noexcept {
    return {.op = op, .compute = compute, .result = result, .mixed = mixed};
  }
};

/// Arrays of the body: the operands that are no numbers, the result, the mask. Parameters: the
/// numbers, and the address of an int32 that is set to 1 for a negative exponent, if these are
/// checked.
strided::Body operation_body(const OperationKey& key);

/// The dtype's type in registers: a 16-bit float is a float unless the operation takes its bits.
const char* compute_type(const OpSignature& signature, DType dtype);

/// The functions of all operations, which precede a kernel.
std::string operations_text();

}  // namespace spanwise::ops
