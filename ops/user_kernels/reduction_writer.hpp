// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "reduction_text.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops::user_kernels {

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

}  // namespace spanwise::ops::user_kernels
