// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_text.hpp"

#include "embedded/elementwise_text.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops {
namespace {

bool is_mask(const KernelText& kernel, const ReadArray& array) {
  return kernel.has_mask && &array == &kernel.reads.back();
}

// Element `index` of an array, from memory.
std::string in_memory(const ReadArray& array, std::string_view index) {
  return array.pattern == AccessPattern::constant ? text("p", array.name)
                                                  : text(array.pointer, "[", index, "]");
}

std::vector<std::string> targets_at(const KernelText& kernel, std::string_view index) {
  std::vector<std::string> targets;
  for (const WrittenArray& result : kernel.results)
    targets.push_back(text(result.pointer, "[", index, "]"));
  return targets;
}

// Every array is contiguous, or one element for all.
std::string dense_kernel(const KernelText& kernel) {
  std::string constants, declare, load, packs, store;
  for (const ReadArray& array : kernel.reads) {
    if (is_mask(kernel, array)) continue;
    if (array.pattern == AccessPattern::constant) {
      constants += text("  const ", array.type, " p", array.name, " = *", array.pointer, ";\n");
      continue;
    }
    declare += text("  Pack<", array.type, "> p", array.name, "[PACKS];\n");
    load += text("      p", array.name, "[u] = *(const Pack<", array.type, ">*)(", array.pointer,
                 " + i);\n");
  }
  const auto in_pack = [](const ReadArray& array) {
    return array.pattern == AccessPattern::constant ? text("p", array.name)
                                                    : text("p", array.name, "[u].x[k]");
  };
  std::vector<std::string> pack_targets;
  for (std::size_t i = 0; i < kernel.results.size(); ++i) {
    packs += text("      Pack<", kernel.results[i].type, "> q", i, ";\n");
    pack_targets.push_back(text("q", i, ".x[k]"));
    store += text("      *(Pack<", kernel.results[i].type, ">*)(", kernel.results[i].pointer,
                  " + i) = q", i, ";\n");
  }
  // A masked pack keeps what it is not to write, so it is written element by element.
  const std::string whole =
      kernel.has_mask ? text(
                            "#pragma unroll\n      for (int k = 0; k < WIDTH; ++k)\n        if "
                            "(mask[i + k]) {\n",
                            kernel.compute(in_pack, targets_at(kernel, "i + k")), "        }\n")
                      : text(packs, "#pragma unroll\n      for (int k = 0; k < WIDTH; ++k) {\n",
                             kernel.compute(in_pack, pack_targets), "      }\n", store);
  const std::string single =
      kernel.compute([](const ReadArray& array) { return in_memory(array, "i + k"); },
                     targets_at(kernel, "i + k"));
  return text("#define WIDTH ", kernel.layout.width, "\n#define PACKS ", packs_per_thread, R"(
template <class T> struct alignas(sizeof(T) * WIDTH) Pack { T x[WIDTH]; };
extern "C" __global__ void run()",
              kernel.parameters, R"(long long n) {
  const long long first = (blockIdx.x * (long long)PACKS * blockDim.x + threadIdx.x) * WIDTH;
  const long long stride = (long long)blockDim.x * WIDTH;
)",
              constants, declare, R"(#pragma unroll
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
              whole, R"(    } else {
      for (int k = 0; i + k < n; ++k) )",
              kernel.has_mask ? "if (mask[i + k]) " : "", "{\n", single, R"(      }
    }
  }
}
)");
}

}  // namespace

std::string kernel_text(const KernelText& kernel) {
  switch (kernel.layout.kind) {
    case KernelLayout::Kind::dense:
      return dense_kernel(kernel);
    case KernelLayout::Kind::rows:
      return rows_kernel(kernel);
    case KernelLayout::Kind::tiles:
      return tiles_kernel(kernel);
    default:
      return strided_kernel(kernel);
  }
}

std::string operations_text() {
  std::string source = "#define SW_FN __device__ __forceinline__\n";
  for (const auto& file : embedded::elementwise_text) source += file.text;
  return source;
}

}  // namespace spanwise::ops
