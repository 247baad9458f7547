// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "operation_body.hpp"

#include "embedded/elementwise_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/element_text.hpp"

namespace spanwise::ops {
namespace {

// Threads write without synchronisation, since all write 1.
constexpr const char* exponent_check = R"(
template <class T>
__device__ __forceinline__ T checked(T exponent, int* has_negative) {
  if (exponent < 0) *has_negative = 1;
  return exponent;
}
)";

// The call of the operation. `elements` are those of the operands in memory, then the result's.
std::string computation(const OperationKey& key, std::span<const std::string> elements) {
  std::string arguments;
  std::size_t next_element = 0;
  for (int i = 0; i < key.inputs; ++i) {
    std::string operand = key.is_number(i)
                              ? text("a", i)
                              : text("To<C", i, ">::from(", elements[next_element++], ")");
    if (key.checks_exponent && i == 1) operand = text("checked(", operand, ", has_negative)");
    arguments += (i > 0 ? ", " : "") + operand;
  }
  return text("      ", elements[next_element], " = To<Z>::from(", traits_of(key.op).body, "::of(",
              arguments, "));\n");
}

}  // namespace

OperationKey::OperationKey(const OpSignature& signature, std::span<const Operand> call_operands,
                           DType result_dtype, bool is_masked) noexcept
    : op(signature.op),
      mixed(signature.mixed),
      inputs(static_cast<std::uint8_t>(call_operands.size())),
      has_mask(is_masked),
      compute(signature.compute),
      result(result_dtype) {
  for (std::size_t i = 0; i < call_operands.size(); ++i) {
    operands[i] = call_operands[i].dtype();
    if (call_operands[i].array == nullptr) numbers |= static_cast<std::uint8_t>(1u << i);
  }
}

strided::Body operation_body(const OperationKey& key) {
  const OpSignature signature = key.signature();
  strided::Body body;
  body.prelude = operations_text();
  for (int i = 0; i < key.inputs; ++i) {
    body.prelude += text("typedef ", compute_type(signature, signature.operand(i)), " C", i, ";\n");
    if (key.is_number(i)) {
      body.parameters += text("const C", i, " a", i, ", ");
      body.arguments += text("a", i, ", ");
    } else {
      body.arrays.push_back(
          {element_text(key.operands[static_cast<std::size_t>(i)]), strided::ArrayRole::read});
    }
  }
  body.prelude += text("typedef ", element_text(key.result), " Z;\n");
  body.arrays.push_back({"Z", strided::ArrayRole::write});
  if (key.has_mask) body.arrays.push_back({"unsigned char", strided::ArrayRole::mask});
  if (key.checks_exponent) {
    body.prelude += exponent_check;
    body.parameters += "int* has_negative, ";
    body.arguments += "has_negative, ";
  }
  body.compute = [key](std::span<const std::string> elements) {
    return computation(key, elements);
  };
  return body;
}

const char* compute_type(const OpSignature& signature, DType dtype) {
  return dtype.is_bool() ? "bool" : element_text(loop_dtype(signature, dtype));
}

std::string operations_text() {
  std::string source = "#define SW_FN __device__ __forceinline__\n";
  for (const auto& file : embedded::elementwise_text) source += file.text;
  return source;
}

}  // namespace spanwise::ops
