// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_expressions/reduction_source.hpp"

#include <algorithm>
#include <functional>

#include "spanwise/core/error.hpp"

namespace spanwise::kernel_expressions {
namespace {

/// Writes reduction_source(): common parts, and a kernel body per device. With `folds` a function
/// writes for the kernel "<name>_fold", which combines the results of parts, instead of the kernel
/// "<name>".
class ReductionWriter {
 public:
  ReductionWriter(const ReductionCode& code, std::span<const ConvertedArgument> operands,
                  const ReductionShape& shape, bool on_gpu)
      : code_(code), operands_(operands), shape_(shape), on_gpu_(on_gpu) {}

  std::string write();

 private:
  static constexpr int any_step = 2;  // OperandForm::step

  bool has_pointer_style() const { return code_.spec.style == ParameterStyle::pointers; }
  static bool is_output(const ConvertedArgument& operand) { return operand.parameter->is_output; }
  int inputs() const {
    return static_cast<int>(std::count_if(operands_.begin(), operands_.end(),
                                          std::mem_fn(&ConvertedArgument::is_input_element)));
  }
  int outputs() const {
    return static_cast<int>(std::count_if(operands_.begin(), operands_.end(), is_output));
  }
  // The numbers of offsets in the walks over the results and over the reduced elements.
  int kept_operands() const { return inputs() + outputs() + (code_.needs_index ? 1 : 0); }
  int reduced_operands() const { return inputs() + (code_.needs_index ? 1 : 0); }

  // The list of both kernels' parameters; appends the types that it needs to `types`.
  std::string parameters(std::string& types);
  // Declares sw_at_kept or sw_at_reduced, the offsets of a walk's operands at element `index`.
  static std::string offsets(const std::string& walk, const std::string& index) {
    return text("    const auto sw_at_", walk, " = spanwise::walk_offsets<sw_index>(sw_", walk,
                ", ", index, ");\n");
  }
  // Declares the elements that map_expr uses. `offset(k, step)` is the offset of operand k of the
  // walk over reduced elements, with OperandForm::step.
  template <class F>
  std::string elements(F&& offset) const {
    std::string out;
    int k = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const ConvertedArgument& operand = operands_[i];
      if (!operand.is_input_element()) continue;
      const std::string type = element_type(operand), &name = operand.parameter->name;
      const std::string expression =
          text("sw_p_", name, " + sw_at_kept.of[", k, "] + ", offset(k, int{shape_.forms[i].step}));
      out += has_pointer_style()
                 ? text("      const ", type, "* const sw_at_", name, " = ", expression, ";\n")
                 : text("      const ", type, " ", name, " = *(", expression, ");\n");
      ++k;
    }
    if (code_.needs_index)
      out += text("      const long long i = sw_at_kept.of[", inputs() + outputs(), "] + ",
                  offset(k, any_step), ";\n");
    return out;
  }
  // The statement that returns the value of map_expr, as the accumulator's type.
  std::string mapped() const;
  // Declares the numbers of elements and results, with CuPy's names. The fold receives the number
  // of elements in another argument.
  std::string counts(bool folds) const;
  // Declares the function sw_finish, which computes the outputs by post_map_expr.
  std::string finish() const;
  std::string identity_value() const;
  std::string kernel(const std::string& name, const std::string& parameters, bool folds) const;
  // Stores a result, or the result of a part in the first kernel.
  std::string store_result(bool folds) const;

  std::string gpu_body(bool folds) const;

  std::string cpu_body(bool folds) const;
  // Combines a row in independent lanes, which the compiler vectorizes, then the lanes.
  std::string cpu_row() const;
  // Computes results that are adjacent in memory together, element by element.
  std::string cpu_columns() const;
  // Loops over runs of `sw_run` elements along the last reduced axis; `row` is the loop's body.
  // Operand k begins at sw_row<k>, with step sw_step<k>.
  std::string for_each_run(const std::string& row) const;

  const ReductionCode& code_;
  std::span<const ConvertedArgument> operands_;
  const ReductionShape& shape_;
  bool on_gpu_;
};

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

// On the CPU a block is a loop over its results, and in it one over elements, in rows.

// Combines the partial results of one result.
constexpr const char* cpu_fold = R"(    for (long long sw_r = 0; sw_r < sw_length; ++sw_r) {
      const sw_acc sw_part = sw_parts[sw_r * sw_results + sw_result];
      sw_a = sw_has_value ? sw_reduce(sw_a, sw_part) : sw_part;
      sw_has_value = true;
    }
)";

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

}  // namespace

std::string reduction_source(const ReductionCode& code, std::span<const ConvertedArgument> operands,
                             const ReductionShape& shape, bool on_gpu) {
  return ReductionWriter(code, operands, shape, on_gpu).write();
}

}  // namespace spanwise::kernel_expressions
