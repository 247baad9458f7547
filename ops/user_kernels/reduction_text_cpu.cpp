// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduction_writer.hpp"

// On the CPU a block is a loop over its results, and in it one over elements, in rows.
namespace spanwise::ops::user_kernels {

namespace {

// Combines the partial results of one result.
constexpr const char* cpu_fold = R"(    for (long long sw_r = 0; sw_r < sw_length; ++sw_r) {
      const sw_acc sw_part = sw_parts[sw_r * sw_results + sw_result];
      sw_a = sw_has_value ? sw_reduce(sw_a, sw_part) : sw_part;
      sw_has_value = true;
    }
)";

}  // namespace

std::string ReductionWriter::cpu_body(bool folds) const {
  const std::string block =
      counts(folds) + R"(  const long long sw_from = (long long)blockIdx.x * sw_per_block;
  const long long sw_to = sw_from + sw_per_block < sw_results ? sw_from + sw_per_block : sw_results;
)";
  if (shape_.by_columns && !folds) return block + cpu_columns();
  return text(block, "  for (long long sw_result = sw_from; sw_result < sw_to; ++sw_result) {\n",
              offsets("kept", "sw_result"), finish(), "    sw_acc sw_a = ", identity_value(),
              ";\n    bool sw_has_value = false;\n", folds ? cpu_fold : for_each_run(cpu_row()),
              "    ", store_result(folds), "  }\n");
}

std::string ReductionWriter::cpu_row() const {
  const auto offset = [](int k, int step) {
    return step == 0   ? text("sw_row", k)
           : step == 1 ? text("sw_row", k, " + sw_k")
                       : text("sw_row", k, " + sw_k * sw_step", k);
  };
  return text("      const auto sw_map = [&](long long sw_k) -> sw_acc {\n", elements(offset),
              mapped(), "      };\n", R"(      constexpr int sw_lanes = 32;
      long long sw_k = 0;
      if (sw_run >= 2 * sw_lanes) {
        sw_acc sw_lane[sw_lanes];
        for (int sw_l = 0; sw_l < sw_lanes; ++sw_l) sw_lane[sw_l] = sw_map(sw_l);
        for (sw_k = sw_lanes; sw_k + sw_lanes <= sw_run; sw_k += sw_lanes)
          for (int sw_l = 0; sw_l < sw_lanes; ++sw_l)
            sw_lane[sw_l] = sw_reduce(sw_lane[sw_l], sw_map(sw_k + sw_l));
        for (int sw_half = sw_lanes / 2; sw_half > 0; sw_half /= 2)
          for (int sw_l = 0; sw_l < sw_half; ++sw_l)
            sw_lane[sw_l] = sw_reduce(sw_lane[sw_l], sw_lane[sw_l + sw_half]);
        sw_a = sw_has_value ? sw_reduce(sw_a, sw_lane[0]) : sw_lane[0];
        sw_has_value = true;
      }
      for (; sw_k < sw_run; ++sw_k) {
        const sw_acc sw_b = sw_map(sw_k);
        sw_a = sw_has_value ? sw_reduce(sw_a, sw_b) : sw_b;
        sw_has_value = true;
      }
)");
}

std::string ReductionWriter::cpu_columns() const {
  const int last = shape_.kept_rank - 1;
  const auto offset = [&](int k, int step) {
    const int kept = k < inputs() ? k : inputs() + outputs();
    const std::string row = text("sw_row", k, " + sw_k * sw_step", k);
    return step == 0   ? row
           : step == 1 ? row + " + sw_c"
                       : text(row, " + sw_c * sw_kept.strides[", kept, "][", last, "]");
  };
  const std::string row = text(
      "      for (long long sw_k = 0; sw_k < sw_run; ++sw_k) {\n"
      "      const auto sw_map = [&](long long sw_c) -> sw_acc {\n",
      elements(offset), mapped(), R"(      };
      if (sw_has_value)
        for (long long sw_c = 0; sw_c < sw_width; ++sw_c)
          sw_lane[sw_c] = sw_reduce(sw_lane[sw_c], sw_map(sw_c));
      else
        for (long long sw_c = 0; sw_c < sw_width; ++sw_c) sw_lane[sw_c] = sw_map(sw_c);
      sw_has_value = true;
      }
)");
  return text("  for (long long sw_begin = sw_from; sw_begin < sw_to;) {\n",
              offsets("kept", "sw_begin"), "    long long sw_width = sw_kept.shape[", last,
              "] - sw_begin % sw_kept.shape[", last,
              "];\n    if (sw_width > sw_to - sw_begin) sw_width = sw_to - sw_begin;\n",
              "    if (sw_width > ", reduction_columns, ") sw_width = ", reduction_columns,
              ";\n    sw_acc sw_lane[", reduction_columns, "];\n    bool sw_has_value = false;\n",
              for_each_run(row), "    for (long long sw_c = 0; sw_c < sw_width; ++sw_c) {\n",
              "    const long long sw_result = sw_begin + sw_c;\n", offsets("kept", "sw_result"),
              finish(), "    sw_acc sw_a = sw_has_value ? sw_lane[sw_c] : ", identity_value(),
              ";\n    ", store_result(false), "    }\n    sw_begin += sw_width;\n  }\n");
}

std::string ReductionWriter::for_each_run(const std::string& row) const {
  std::string rows;
  for (int k = 0; k < reduced_operands(); ++k)
    rows += text("      const long long sw_row", k, " = sw_runs.offset(", k, "), sw_step", k,
                 " = sw_runs.step(", k, ");\n");
  return text(R"(    const long long sw_first = blockIdx.y * sw_part_length;
    const long long sw_last = sw_first + sw_part_length < sw_length ? sw_first + sw_part_length : sw_length;
    for (spanwise::StridedRuns<)",
              shape_.reduced_rank, ", ", reduced_operands(),
              R"(> sw_runs(sw_reduced, sw_first, sw_last); sw_runs.left > 0; sw_runs.next()) {
      const long long sw_run = sw_runs.count();
)",
              rows, row, "    }\n");
}

}  // namespace spanwise::ops::user_kernels
