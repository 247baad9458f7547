// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_source.hpp"

#include "cuda_text.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"

// The text of one operation's kernel.
namespace spanwise::ops {
namespace {

// Whichever thread writes, it writes the same.
constexpr const char* exponent_check = R"(
template <class T>
__device__ __forceinline__ T checked(T exponent, int* negative) {
  if (exponent < 0) *negative = 1;
  return exponent;
}
)";

bool is_number(const KernelShape& shape, int i) {
  return shape.is_number[static_cast<std::size_t>(i)];
}

// For each operand an address or a number.
std::string parameter_text(const KernelShape& shape) {
  std::string list;
  for (int i = 0; i < shape.inputs; ++i)
    list += is_number(shape, i) ? text("const C", i, " a", i, ", ")
                                : text("const M", i, "* a", i, ", ");
  list += "Z* z, ";
  if (shape.has_mask) list += "const unsigned char* mask, ";
  if (shape.checks_exponent) list += "int* negative, ";
  return list;
}

std::string argument_text(const KernelShape& shape) {
  std::string list;
  for (int i = 0; i < shape.inputs; ++i) list += text("a", i, ", ");
  list += "z, ";
  if (shape.has_mask) list += "mask, ";
  if (shape.checks_exponent) list += "negative, ";
  return list;
}

std::vector<ReadArray> read_arrays(const KernelShape& shape) {
  std::vector<ReadArray> arrays;
  for (int i = 0; i < shape.inputs; ++i)
    if (!is_number(shape, i))
      arrays.push_back({text("a", i), text("M", i), std::to_string(i),
                        shape.patterns[static_cast<std::size_t>(i)]});
  if (shape.has_mask)
    arrays.push_back(
        {"mask", "unsigned char", "mask", shape.patterns[static_cast<std::size_t>(shape.inputs)]});
  return arrays;
}

KernelText text_of(const KernelShape& shape) {
  KernelText made{shape,
                  read_arrays(shape),
                  {{"z", "Z"}},
                  shape.has_mask,
                  parameter_text(shape),
                  argument_text(shape),
                  {}};
  made.compute = [&shape, reads = made.reads](const auto& element, const auto& targets) {
    std::string list;
    std::size_t place = 0;
    for (int i = 0; i < shape.inputs; ++i) {
      std::string operand = is_number(shape, i)
                                ? text("a", i)
                                : text("To<C", i, ">::from(", element(reads[place++]), ")");
      if (shape.checks_exponent && i == 1) operand = text("checked(", operand, ", negative)");
      list += (i > 0 ? ", " : "") + operand;
    }
    return text(targets[0], " = To<Z>::from(", facts(shape.signature.op).body, "::of(", list,
                "));\n");
  };
  return made;
}

}  // namespace

const char* compute_type(const Signature& signature, DType dtype) {
  const bool is_half = dtype == float16 || dtype == bfloat16;
  if (is_half && (facts(signature.op).traits & native_halves) == 0) return "float";
  return dtype.is_bool() ? "bool" : element_text(dtype);
}

std::string cuda_source(const KernelShape& shape) {
  std::string source = operations_text();
  for (int i = 0; i < shape.inputs; ++i)
    source += text("typedef ", element_text(shape.operands[static_cast<std::size_t>(i)]), " M", i,
                   ";\ntypedef ", compute_type(shape.signature, shape.signature.operand(i)), " C",
                   i, ";\n");
  source += text("typedef ", element_text(shape.result), " Z;\n");
  if (shape.checks_exponent) source += exponent_check;
  return source + kernel_text(text_of(shape));
}

}  // namespace spanwise::ops
