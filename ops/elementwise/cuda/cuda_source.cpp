// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_source.hpp"

#include "cuda_text.hpp"
#include "embedded/elementwise_text.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"

namespace spanwise::ops {
namespace {

// The type in registers.
const char* compute_type(const Signature& signature, DType dtype) {
  const bool is_half = dtype == float16 || dtype == bfloat16;
  if (is_half && (facts(signature.op).traits & native_halves) == 0) return "float";
  return dtype.is_bool() ? "bool" : element_text(dtype);
}

// All threads that write write the same value.
constexpr const char* exponent_check = R"(
template <class T>
__device__ __forceinline__ T checked(T exponent, int* negative) {
  if (exponent < 0) *negative = 1;
  return exponent;
}
)";

std::string dense_kernel(const KernelShape& shape) {
  std::string declare, load;
  for (int i = 0; i < shape.inputs; ++i) {
    if (shape.is_number[static_cast<std::size_t>(i)]) continue;
    declare += text("  Pack<M", i, "> p", i, "[PACKS];\n");
    load += text("      p", i, "[u] = *(const Pack<M", i, ">*)(a", i, " + i);\n");
  }
  const std::string in_pack = result_text(shape, [](int i) { return text("p", i, "[u].x[k]"); });
  const std::string single = result_text(shape, [](int i) { return text("a", i, "[i + k]"); });
  // With a mask, elements are written individually, since the others must not change.
  const std::string store =
      shape.has_mask
          ? text(
                "#pragma unroll\n      for (int k = 0; k < WIDTH; ++k)\n"
                "        if (mask[i + k]) z[i + k] = ",
                in_pack, ";\n")
          : text(
                "      Pack<Z> q;\n#pragma unroll\n      for (int k = 0; k < WIDTH; ++k) q.x[k] = ",
                in_pack, ";\n      *(Pack<Z>*)(z + i) = q;\n");
  const char* wanted = shape.has_mask ? "if (mask[i + k]) " : "";
  return text("#define WIDTH ", shape.width, "\n#define PACKS ", packs_per_thread, R"(
template <class T> struct alignas(sizeof(T) * WIDTH) Pack { T x[WIDTH]; };
extern "C" __global__ void run()",
              parameter_text(shape), R"(long long n) {
  const long long first = (blockIdx.x * (long long)PACKS * blockDim.x + threadIdx.x) * WIDTH;
  const long long stride = (long long)blockDim.x * WIDTH;
)",
              declare, R"(#pragma unroll
  for (int u = 0; u < PACKS; ++u) {
    const long long i = first + u * stride;
    if (i + WIDTH <= n) {
)",
              load, R"(    }
  }
#pragma unroll
  for (int u = 0; u < PACKS; ++u) {
    const long long i = first + u * stride;
    if (i + WIDTH <= n) {
)",
              store, R"(    } else {
      for (int k = 0; i + k < n; ++k) )",
              wanted, "z[i + k] = ", single, R"(;
    }
  }
}
)");
}

std::string kernel_of(const KernelShape& shape) {
  switch (shape.kind) {
    case KernelShape::Kind::dense:
      return dense_kernel(shape);
    case KernelShape::Kind::rows:
      return rows_kernel(shape);
    case KernelShape::Kind::tiles:
      return tiles_kernel(shape);
    default:
      return strided_kernel(shape);
  }
}

}  // namespace

std::string cuda_source(const KernelShape& shape) {
  std::string source = "#define SW_FN __device__ __forceinline__\n";
  for (const auto& file : embedded::elementwise_text) source += file.text;
  for (int i = 0; i < shape.inputs; ++i)
    source += text("typedef ", element_text(shape.operands[static_cast<std::size_t>(i)]), " M", i,
                   ";\ntypedef ", compute_type(shape.signature, shape.signature.operand(i)), " C",
                   i, ";\n");
  source += text("typedef ", element_text(shape.result), " Z;\n");
  if (shape.checks_exponent) source += exponent_check;
  return source + kernel_of(shape);
}

}  // namespace spanwise::ops
