// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduction_writer.hpp"

// On a GPU the threads of a block are side by side over results, and in depth over elements.
namespace spanwise::ops::user_kernels {

std::string ReductionText::gpu_body(bool folds) const {
  const std::string adjacent = folds ? "1" : "SW_ADJACENT";
  const std::string map =
      folds ? "      return sw_parts[(long long)sw_r * sw_results + (long long)sw_result];\n"
            : offsets("sw_reduced", "sw_reduced", "(sw_index)sw_r", shape_.reduced_rank,
                      reduced_operands()) +
                  elements([](int k, int) { return text("sw_reduced", k); }) + mapped();
  return text(
      counts_for(folds), "  constexpr int sw_depth = ", reduction_block, " / ", adjacent, ";\n",
      "  __shared__ alignas(16) unsigned char sw_bytes[", reduction_block,
      " * sizeof(sw_acc)];\n  sw_acc* const sw_tile = (sw_acc*)sw_bytes;\n",
      "  const int sw_y = threadIdx.x / ", adjacent, ";\n",
      "  const sw_index sw_result = (sw_index)blockIdx.x * ", adjacent, " + threadIdx.x % ",
      adjacent, ";\n  const long long sw_first = ", folds ? "0" : "blockIdx.y * sw_part_length",
      ";\n", "  const long long sw_end = ",
      folds ? "sw_length"
            : "sw_first + sw_part_length < sw_length ? sw_first + sw_part_length : sw_length",
      ";\n  const bool sw_has_result = sw_result < (sw_index)sw_results;\n",
      offsets("sw_kept", "sw_kept", "sw_has_result ? sw_result : 0", shape_.kept_rank,
              kept_operands()),
      "    const auto sw_map = [&](long long sw_r) -> sw_acc {\n", map, "    };\n", finish(),
      R"(  if (sw_has_result && sw_first + sw_y < sw_end) {
    long long sw_r = sw_first + sw_y;
    sw_acc sw_a = sw_map(sw_r);
#pragma unroll 4
    for (sw_r += sw_depth; sw_r < sw_end; sw_r += sw_depth) sw_a = sw_reduce(sw_a, sw_map(sw_r));
    sw_tile[threadIdx.x] = sw_a;
  }
  __syncthreads();
  const long long sw_left = sw_end - sw_first;
#pragma unroll
  for (int sw_half = sw_depth / 2; sw_half > 0; sw_half /= 2) {
    if (sw_has_result && sw_y < sw_half && sw_y + sw_half < sw_left)
      sw_tile[threadIdx.x] =
          sw_reduce(sw_tile[threadIdx.x], sw_tile[threadIdx.x + sw_half * )",
      adjacent, R"(]);
    __syncthreads();
  }
  if (sw_has_result && sw_y == 0) {
    sw_acc sw_a = sw_left > 0 ? sw_tile[threadIdx.x] : )",
      identity_value(), ";\n    ", store_result(folds), "  }\n");
}

}  // namespace spanwise::ops::user_kernels
