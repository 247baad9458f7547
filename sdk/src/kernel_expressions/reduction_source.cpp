// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_expressions/reduction_source.hpp"

#include <algorithm>
#include <functional>

#include "embedded/kernel_expression_text.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernel_expressions {
namespace {

/// Writes reduction_source(): the user's code as functions, and two kernels that pass them to
/// reduction.cuh.
class ReductionWriter {
 public:
  ReductionWriter(const ReductionCode& code, std::span<const ConvertedArgument> operands,
                  const ReductionShape& shape, bool on_gpu)
      : code_(code), operands_(operands), shape_(shape), on_gpu_(on_gpu) {}

  std::string write();

 private:
  bool has_pointer_style() const { return code_.spec.style == ParameterStyle::pointers; }
  static bool is_output(const ConvertedArgument& operand) { return operand.parameter->is_output; }
  // The numbers of offsets in the walks over the results and over the reduced elements: inputs, the
  // index, outputs.
  int reduced_operands() const {
    return static_cast<int>(std::ranges::count_if(
               operands_, std::mem_fn(&ConvertedArgument::is_input_element))) +
           (code_.needs_index ? 1 : 0);
  }
  int kept_operands() const {
    return reduced_operands() + static_cast<int>(std::ranges::count_if(operands_, is_output));
  }

  std::string constants() const;
  // The list of both kernels' parameters; appends the types that it needs to `types`.
  std::string parameters(std::string& types);
  // The lambda sw_map: map_expr of the elements at the offsets sw_at.
  std::string map() const;
  // The lambda sw_finish: post_map_expr of a result, whose offsets are sw_at.
  std::string finish() const;
  // Declares the numbers of elements and results, with CuPy's names. The fold receives the number
  // of elements in another argument.
  std::string counts(bool folds) const;
  // The kernel "<name>", or "<name>_fold", which combines the results of parts.
  std::string kernel(const std::string& name, const std::string& parameters, bool folds) const;

  const ReductionCode& code_;
  std::span<const ConvertedArgument> operands_;
  const ReductionShape& shape_;
  bool on_gpu_;
};

std::string ReductionWriter::write() {
  std::string types = constants();
  const std::string list = parameters(types);
  const std::string& name = code_.spec.common.name;
  const std::string reduce = text(
      "__device__ inline sw_acc sw_reduce(sw_acc a, sw_acc b) {\n  return static_cast<sw_acc>(",
      with_line_directives(text("reduce_expr of ", name), code_.spec.reduce_expr), ");\n}\n");
  return text(
      "#include <spanwise/walk.cuh>\n", prologue(code_.spec.common, operands_, types), reduce,
      without_user_macros(code_.spec.common,
                          embedded::file_text(embedded::kernel_expression_text, "reduction.cuh")),
      kernel(name, list, false), kernel(name + "_fold", list, true));
}

std::string ReductionWriter::constants() const {
  std::string steps;
  for (std::size_t i = 0; i < operands_.size(); ++i)
    if (operands_[i].is_input_element()) steps += text(int{shape_.forms[i].step}, ", ");
  if (code_.needs_index) steps += "2, ";
  return text("typedef ", code_.accumulator,
              " sw_acc;\nstatic_assert(sizeof(sw_acc) <= ", max_accumulator_bytes,
              ", \"a reduction's accumulator has at most 64 bytes\");\n", "typedef unsigned ",
              on_gpu_ && !shape_.is_large ? "int" : "long long", " sw_index;\n",
              on_gpu_
                  ? text("#define SW_ADJACENT ", shape_.adjacent_results, "\n#define SW_THREADS ",
                         reduction_threads, "\n")
                  : text("#define SW_BY_COLUMNS ", int{shape_.by_columns}, "\n#define SW_COLUMNS ",
                         reduction_columns, "\nconstexpr int sw_steps[] = {", steps, "0};\n"),
              "constexpr int sw_kept_rank = ", shape_.kept_rank,
              ", sw_reduced_rank = ", shape_.reduced_rank, ", sw_operands = ", reduced_operands(),
              ";\ntypedef spanwise::StridedWalk<sw_kept_rank, ", kept_operands(),
              "> sw_kept_walk;\ntypedef spanwise::StridedWalk<sw_reduced_rank, sw_operands> "
              "sw_reduced_walk;\n");
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

std::string ReductionWriter::map() const {
  std::string out =
      "  const auto sw_map = [&](const auto& sw_at) __attribute__((always_inline)) -> sw_acc {\n";
  int k = 0;
  for (const ConvertedArgument& operand : operands_) {
    if (!operand.is_input_element()) continue;
    const std::string type = element_type(operand), &name = operand.parameter->name;
    const std::string address = text("sw_p_", name, " + sw_at.of(", k++, ")");
    out += has_pointer_style()
               ? text("    const ", type, "* const sw_at_", name, " = ", address, ";\n")
               : text("    const ", type, " ", name, " = *(", address, ");\n");
  }
  if (code_.needs_index) out += text("    const long long i = sw_at.of(", k, ");\n");
  return text(out, "    return static_cast<sw_acc>(",
              with_line_directives(text("map_expr of ", code_.spec.common.name), code_.map_expr),
              ");\n  };\n");
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
  std::string out = "  const auto sw_finish = [&](const auto& sw_at, sw_acc a) {\n", first;
  int k = reduced_operands();
  for (const ConvertedArgument& operand : operands_) {
    if (!is_output(operand)) continue;
    const std::string& name = operand.parameter->name;
    if (first.empty()) first = name;
    out += text("    ", element_type(operand), "& ", name, " = sw_p_", name, "[sw_at.of[", k++,
                "]];\n");
  }
  const std::string& post = code_.spec.post_map_expr;
  return text(out,
              post.empty() ? text("    ", first, " = a;\n")
                           : with_line_directives(text("post_map_expr of ", code_.spec.common.name),
                                                  post + "\n;"),
              "  };\n");
}

std::string ReductionWriter::kernel(const std::string& name, const std::string& parameters,
                                    bool folds) const {
  const std::string& identity = code_.spec.identity;
  return text("extern \"C\" __global__ void ", name, "(", parameters, ") {\n", counts(folds), map(),
              finish(), "  sw_reduce_results<", folds ? "true" : "false",
              ">({sw_kept, sw_reduced, sw_results, sw_length, sw_part_length, sw_per_block, "
              "sw_parts}, ",
              identity.empty() ? "sw_acc()" : text("static_cast<sw_acc>(", identity, ")"),
              ", sw_map, sw_finish);\n}\n");
}

}  // namespace

std::string reduction_source(const ReductionCode& code, std::span<const ConvertedArgument> operands,
                             const ReductionShape& shape, bool on_gpu) {
  return ReductionWriter(code, operands, shape, on_gpu).write();
}

}  // namespace spanwise::kernel_expressions
