// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "reduction_text.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops::user_kernels {

/// One text in the making: what both devices have, and a body for each.
class ReductionText {
 public:
  ReductionText(const ReductionWords& words, std::span<const Operand> operands,
                const ReductionShape& shape, bool on_gpu)
      : words_(words), operands_(operands), shape_(shape), on_gpu_(on_gpu) {}

  std::string write();

 private:
  bool is_pointers() const { return words_.spec.spelling == Spelling::pointers; }
  static bool is_input_element(const Operand& operand) {
    return operand.is_element() && !operand.parameter->is_output;
  }
  static bool is_output(const Operand& operand) { return operand.parameter->is_output; }
  int inputs() const {
    return static_cast<int>(std::count_if(operands_.begin(), operands_.end(), is_input_element));
  }
  int outputs() const {
    return static_cast<int>(std::count_if(operands_.begin(), operands_.end(), is_output));
  }
  int kept_operands() const { return inputs() + outputs() + (words_.needs_index ? 1 : 0); }
  int gone_operands() const { return inputs() + (words_.needs_index ? 1 : 0); }

  std::string parameters(std::string& types);
  // long long <prefix>0, ... : where each operand of a walk is at step `index`.
  std::string places(const std::string& walk, const std::string& prefix, const std::string& index,
                     int rank, int count) const;
  // The elements that map_expr names, at what `offset(k, step)` says for operand k of the walk.
  template <class F>
  std::string elements(F&& offset) const {
    std::string out;
    int k = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Operand& operand = operands_[i];
      if (!is_input_element(operand)) continue;
      const std::string type = element_type(operand), &name = operand.parameter->name;
      const std::string place =
          text("sw_p_", name, " + sw_kept", k, " + ", offset(k, int{shape_.forms[i].step}));
      out += is_pointers() ? text("      const ", type, "* const sw_at_", name, " = ", place, ";\n")
                           : text("      const ", type, " ", name, " = *(", place, ");\n");
      ++k;
    }
    if (words_.needs_index)
      out += text("      const long long i = sw_kept", inputs() + outputs(), " + ", offset(k, 2),
                  ";\n");
    return out;
  }
  std::string mapped() const;
  // How many elements each result is made of, under CuPy's names.
  std::string counts() const;
  std::string finish() const;
  std::string nothing() const;
  std::string kernel(const std::string& name, const std::string& list, bool folds) const;
  // The number of elements a result, of the reduction itself, also where parts are folded.
  std::string partial(bool folds) const;

  std::string gpu_body(bool folds) const;
  // _in_ind counts elements of the arrays, which a fold does not know.
  std::string counts_of(bool folds) const;

  std::string cpu_body(bool folds) const;
  static std::string cpu_fold();
  // Lanes of a row are combined at once, which a processor's vectors can do, and then with one
  // another.
  std::string cpu_row() const;
  // Results that are neighbours in memory, all of them for one element after the other.
  std::string cpu_columns() const;
  // `row` for each stretch of `sw_many` elements along the last axis that goes: operand k's first
  // is at sw_row<k>, the next sw_step<k> further.
  std::string over_gone(const std::string& row) const;

  const ReductionWords& words_;
  std::span<const Operand> operands_;
  const ReductionShape& shape_;
  bool on_gpu_;
};

}  // namespace spanwise::ops::user_kernels
