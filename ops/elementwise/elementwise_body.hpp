// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "element_program.hpp"
#include "elementwise_compute.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/strided/strided_call.hpp"

/// Operations of the table, and programs of them, as bodies of CUDA kernels.
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

/// The program as a body of CUDA kernels. Bit i of `numbers`: input i is passed by value. Arrays:
/// the other inputs, then the outputs; parameters: the numbers. `program` must outlive the body.
strided::Body program_body(const ElementProgram& program, std::uint64_t numbers);

/// The program as a function of CUDA C, `name`::run, which follows operations_text(). Its
/// parameters are the value of each input, of type `name`::M<input>, then a reference for each
/// output, of type `name`::V<value>.
std::string program_function(const ElementProgram& program, std::string_view name);

/// A program on GPUs: a kernel for each plan of arrays. One thread at a time.
class CudaProgram {
 public:
  explicit CudaProgram(const ElementProgram& program) : program_(program) {}

  /// As CpuProgram::run(), for arrays on the outputs' GPU; inputs of rank 0 may be on the host and
  /// are passed by value. Queued on the current stream.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);

 private:
  const ElementProgram& program_;
  std::map<std::uint64_t, strided::BodyKernels> kernels_;  ///< by `numbers`
};

}  // namespace spanwise::ops
