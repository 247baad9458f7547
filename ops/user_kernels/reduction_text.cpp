// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "expression_text.hpp"
#include "reduction_writer.hpp"

namespace spanwise::ops::user_kernels {

std::string ReductionWriter::write() {
  std::string types = text("typedef ", code_.accumulator, " sw_acc;\n");
  types += text("static_assert(sizeof(sw_acc) <= ", max_accumulator_bytes,
                ", \"a reduction's accumulator has at most 64 bytes\");\n");
  types += on_gpu_ ? text("typedef unsigned ", shape_.is_large ? "long long" : "int",
                          " sw_index;\n#define SW_ADJACENT ", shape_.adjacent_results, "\n")
                   : text("typedef unsigned long long sw_index;\n");
  types += text("typedef spanwise::StridedWalk<", shape_.kept_rank, ", ", kept_operands(),
                "> sw_kept_walk;\ntypedef spanwise::StridedWalk<", shape_.reduced_rank, ", ",
                reduced_operands(), "> sw_reduced_walk;\n");
  const std::string list = parameters(types);
  const std::string& name = code_.spec.common.name;
  const std::string reduce = text(
      "__device__ inline sw_acc sw_reduce(sw_acc a, sw_acc b) {\n  return static_cast<sw_acc>(",
      with_line_directives(text("reduce_expr of ", name), code_.spec.reduce_expr), ");\n}\n");
  return text("#include <spanwise/walk.cuh>\n", prologue(code_.spec.common, operands_, types),
              reduce, kernel(name, list, false), kernel(name + "_fold", list, true));
}

std::string ReductionWriter::parameters(std::string& types) {
  std::string list;
  for (std::size_t i = 0; i < operands_.size(); ++i)
    list += parameter_text(operands_[i], shape_.forms[i], false, types);
  for (const ConvertedArgument& operand : operands_)
    if (operand.is_input_element() && operand.parameter->needs_whole_array)
      list += whole_array_text(operand, shape_.axes, types);
  return list +
         "const sw_kept_walk sw_kept, const sw_reduced_walk sw_reduced, const long long "
         "sw_results, "
         "const long long sw_length, const long long sw_part_length, const long long sw_per_block, "
         "sw_acc* sw_parts";
}

std::string ReductionWriter::mapped() const {
  return text("      return static_cast<sw_acc>(",
              with_line_directives(text("map_expr of ", code_.spec.common.name), code_.map_expr),
              ");\n");
}

std::string ReductionWriter::counts(bool folds) const {
  const std::string all = code_.map_expr + " " + code_.spec.post_map_expr;
  const std::string elements = folds ? "sw_results * sw_part_length" : "sw_results * sw_length";
  std::string out;
  if (has_token(all, "n")) out += text("  const long long n = ", elements, ";\n");
  if (has_token(all, "_in_ind")) out += text("  const sw_count _in_ind{", elements, "};\n");
  if (has_token(all, "_out_ind")) out += "  const sw_count _out_ind{sw_results};\n";
  return out;
}

std::string ReductionWriter::finish() const {
  std::string out = "    const auto sw_finish = [&](sw_acc a) {\n";
  int k = inputs();
  std::string first;
  for (const ConvertedArgument& operand : operands_) {
    if (!is_output(operand)) continue;
    const std::string& name = operand.parameter->name;
    if (first.empty()) first = name;
    out += text("      ", element_type(operand), "& ", name, " = sw_p_", name, "[sw_at_kept.of[",
                k++, "]];\n");
  }
  if (code_.spec.post_map_expr.empty()) return out + text("      ", first, " = a;\n    };\n");
  return out +
         with_line_directives(text("post_map_expr of ", code_.spec.common.name),
                              code_.spec.post_map_expr + "\n;") +
         "    };\n";
}

std::string ReductionWriter::identity_value() const {
  if (code_.spec.identity.empty()) return "sw_acc()";
  return text("static_cast<sw_acc>(", code_.spec.identity, ")");
}

std::string ReductionWriter::kernel(const std::string& name, const std::string& parameters,
                                    bool folds) const {
  return text("extern \"C\" __global__ void ", name, "(", parameters, ") {\n",
              on_gpu_ ? gpu_body(folds) : cpu_body(folds), "}\n");
}

std::string ReductionWriter::store_result(bool folds) const {
  return folds ? "sw_finish(sw_a);\n"
               : "if (gridDim.y == 1) sw_finish(sw_a); else sw_parts[blockIdx.y * sw_results + "
                 "(long long)sw_result] = sw_a;\n";
}

std::string reduction_source(const ReductionCode& code, std::span<const ConvertedArgument> operands,
                             const ReductionShape& shape, bool on_gpu) {
  return ReductionWriter(code, operands, shape, on_gpu).write();
}

std::string ReductionWriter::gpu_body(bool folds) const {
  const std::string adjacent = folds ? "1" : "SW_ADJACENT";
  const std::string map =
      folds ? "      return sw_parts[(long long)sw_r * sw_results + (long long)sw_result];\n"
            : offsets("reduced", "(sw_index)sw_r") +
                  elements([](int k, int) { return text("sw_at_reduced.of[", k, "]"); }) + mapped();
  return text(
      counts(folds), "  constexpr int sw_depth = ", reduction_threads, " / ", adjacent, ";\n",
      "  __shared__ alignas(16) unsigned char sw_bytes[", reduction_threads,
      " * sizeof(sw_acc)];\n  sw_acc* const sw_tile = (sw_acc*)sw_bytes;\n",
      "  const int sw_y = threadIdx.x / ", adjacent, ";\n",
      "  const sw_index sw_result = (sw_index)blockIdx.x * ", adjacent, " + threadIdx.x % ",
      adjacent, ";\n  const long long sw_first = ", folds ? "0" : "blockIdx.y * sw_part_length",
      ";\n", "  const long long sw_end = ",
      folds ? "sw_length"
            : "sw_first + sw_part_length < sw_length ? sw_first + sw_part_length : sw_length",
      ";\n  const bool sw_has_result = sw_result < (sw_index)sw_results;\n",
      offsets("kept", "sw_has_result ? sw_result : 0"),
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
