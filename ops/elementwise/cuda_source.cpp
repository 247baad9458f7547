// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_source.hpp"

#include <string_view>

#include "embedded/elementwise_text.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops {
namespace {

constexpr const char* cuda_memory_types[] = {
    "Bool",         "signed char",    "unsigned char",      "short", "unsigned short", "int",
    "unsigned int", "long long",      "unsigned long long", "Half",  "BFloat",         "float",
    "double",       "Complex<float>", "Complex<double>"};

const char* memory_type(DType dtype) { return cuda_memory_types[place_of(dtype)]; }

// In registers.
const char* compute_type(const Signature& signature, DType dtype) {
  const bool is_half = dtype == float16 || dtype == bfloat16;
  if (is_half && (facts(signature.op).traits & native_halves) == 0) return "float";
  return dtype.is_bool() ? "bool" : memory_type(dtype);
}

// run()'s parameters up to the count, for each operand given as an address or a number.
std::string parameter_text(const KernelShape& shape) {
  std::string list;
  for (int i = 0; i < shape.inputs; ++i) {
    const bool is_number = shape.is_number[static_cast<std::size_t>(i)];
    list += is_number ? text("const C", i, " a", i, ", ") : text("const M", i, "* a", i, ", ");
  }
  list += "Z* z, ";
  if (shape.has_mask) list += "const unsigned char* mask, ";
  if (shape.checks_exponent) list += "int* negative, ";
  return list;
}

// The body's arguments; `element(i)` is how operand i is read from memory.
template <class F>
std::string result_text(const KernelShape& shape, F&& element) {
  std::string list;
  for (int i = 0; i < shape.inputs; ++i) {
    std::string operand = shape.is_number[static_cast<std::size_t>(i)]
                              ? text("a", i)
                              : text("To<C", i, ">::from(", element(i), ")");
    if (shape.checks_exponent && i == 1) operand = text("checked(", operand, ", negative)");
    list += (i > 0 ? ", " : "") + operand;
  }
  return text("To<Z>::from(", facts(shape.signature.op).body, "::of(", list, "))");
}

// Whichever thread writes, it writes the same.
constexpr const char* exponent_check = R"(
template <class T>
__device__ __forceinline__ T checked(T exponent, int* negative) {
  if (exponent < 0) *negative = 1;
  return exponent;
}
)";

std::string dense_kernel(const KernelShape& shape) {
  std::string declare, load, pack;
  for (int i = 0; i < shape.inputs; ++i) {
    if (shape.is_number[static_cast<std::size_t>(i)]) continue;
    declare += text("  Pack<M", i, "> p", i, "[PACKS];\n");
    load += text("      p", i, "[u] = *(const Pack<M", i, ">*)(a", i, " + i);\n");
  }
  const std::string in_pack = result_text(shape, [](int i) { return text("p", i, "[u].x[k]"); });
  const std::string single = result_text(shape, [](int i) { return text("a", i, "[i + k]"); });
  // A masked pack keeps what it is not to write, so it is written element by element.
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
  const long long apart = (long long)blockDim.x * WIDTH;
)",
              declare, R"(#pragma unroll
  for (int u = 0; u < PACKS; ++u) {
    const long long i = first + u * apart;
    if (i + WIDTH <= n) {
)",
              load, R"(    }
  }
#pragma unroll
  for (int u = 0; u < PACKS; ++u) {
    const long long i = first + u * apart;
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

// Declares struct Walk and finds where each array is at step `i`: at_s0, ..., at_sz, at_smask.
struct WalkText {
  std::string declaration, find;
};
WalkText walk_text(const KernelShape& shape) {
  std::string names, zeros, steps;
  const auto add = [&](const std::string& name) {
    names += text(", ", name, "[RANK]");
    zeros += text("  long long at_", name, " = 0;\n");
    steps += text("    at_", name, " += (long long)index * walk.", name, "[axis];\n");
  };
  for (int i = 0; i < shape.inputs; ++i)
    if (!shape.is_number[static_cast<std::size_t>(i)]) add(text("s", i));
  add("sz");
  if (shape.has_mask) add("smask");
  const char* index = shape.is_large ? "unsigned long long" : "unsigned int";
  return {text("#define RANK ", shape.rank, "\ntypedef ", index,
               " Index;\nstruct Walk { long long shape[RANK]", names, "; };\n"),
          text(R"(  const Index i = (Index)blockIdx.x * (Index)blockDim.x + (Index)threadIdx.x;
  if (i >= (Index)n) return;
  Index rest = i;
)",
               zeros, R"(#pragma unroll
  for (int axis = RANK - 1; axis >= 0; --axis) {
    const Index extent = (Index)walk.shape[axis], index = axis > 0 ? rest % extent : rest;
    rest = axis > 0 ? rest / extent : 0;
)",
               steps, "  }\n")};
}

std::string rows_kernel(const KernelShape& shape) {
  const WalkText walk = walk_text(shape);
  const auto stays = [&](int i) { return shape.stays[static_cast<std::size_t>(i)]; };
  std::string load;
  for (int i = 0; i < shape.inputs; ++i) {
    if (shape.is_number[static_cast<std::size_t>(i)]) continue;
    load += stays(i) ? text("  const M", i, " p", i, " = a", i, "[at_s", i, "];\n")
                     : text("  const Pack<M", i, "> p", i, " = *(const Pack<M", i, ">*)(a", i,
                            " + at_s", i, ");\n");
  }
  const std::string result =
      result_text(shape, [&](int i) { return text("p", i, stays(i) ? "" : ".x[k]"); });
  const char* masked = stays(shape.inputs) ? "mask[at_smask]" : "mask[at_smask + k]";
  const std::string store =
      shape.has_mask
          ? text("#pragma unroll\n  for (int k = 0; k < WIDTH; ++k)\n    if (", masked,
                 ") z[at_sz + k] = ", result, ";\n")
          : text("  Pack<Z> q;\n#pragma unroll\n  for (int k = 0; k < WIDTH; ++k) q.x[k] = ",
                 result, ";\n  *(Pack<Z>*)(z + at_sz) = q;\n");
  return text("#define WIDTH ", shape.width,
              "\ntemplate <class T> struct alignas(sizeof(T) * WIDTH) Pack { T x[WIDTH]; };\n",
              walk.declaration, "extern \"C\" __global__ void run(", parameter_text(shape),
              "const Walk walk, long long n) {\n", walk.find, load, store, "}\n");
}

std::string strided_kernel(const KernelShape& shape) {
  const WalkText walk = walk_text(shape);
  return text(walk.declaration, "extern \"C\" __global__ void run(", parameter_text(shape),
              "const Walk walk, long long n) {\n", walk.find,
              shape.has_mask ? "  if (!mask[at_smask]) return;\n" : "", "  z[at_sz] = ",
              result_text(shape, [](int i) { return text("a", i, "[at_s", i, "]"); }), ";\n}\n");
}

std::string kernel_of(const KernelShape& shape) {
  switch (shape.kind) {
    case KernelShape::Kind::dense:
      return dense_kernel(shape);
    case KernelShape::Kind::rows:
      return rows_kernel(shape);
    default:
      return strided_kernel(shape);
  }
}

}  // namespace

std::string cuda_source(const KernelShape& shape) {
  std::string source = "#define SW_FN __device__ __forceinline__\n";
  for (const auto& file : embedded::elementwise_text) source += file.text;
  for (int i = 0; i < shape.inputs; ++i)
    source += text("typedef ", memory_type(shape.operands[static_cast<std::size_t>(i)]), " M", i,
                   ";\ntypedef ", compute_type(shape.signature, shape.signature.operand(i)), " C",
                   i, ";\n");
  source += text("typedef ", memory_type(shape.result), " Z;\n");
  if (shape.checks_exponent) source += exponent_check;
  return source + kernel_of(shape);
}

}  // namespace spanwise::ops
