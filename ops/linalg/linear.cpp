// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "product_op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk/expression.hpp"

// Collects sums of products: w - 0.01 * (x.T @ g + 0.02 * w) becomes -0.01 * x.T @ g + 0.9998 * w,
// one affine node. The factors of each variable are added in float64, so the result is rounded at
// other places than that of the sum as written, by a few units in the last place of its terms; for
// floating-point dtypes only. Terms whose factors cancel to 0 stay as written, for NaN and
// infinity.
namespace spanwise::ops::linalg {
namespace {

using namespace expression;

struct Term {
  double factor;
  Variable variable;
};

/// A sum of products and of other variables, each with a factor.
class LinearSum {
 public:
  LinearSum(const Apply& root, const NodeSurroundings& around)
      : type_(root.output(0).type()), around_(around) {
    add_inputs(root, 1);
  }

  /// The sum as affine nodes; null where the sum has no product, or where the nodes would be as
  /// many as before.
  Variable collected() const {
    if (products_.empty() || others_.size() > 1) return {};
    if (others_.empty() && products_.size() == 1 && products_[0].factor == 1) return {};
    for (const std::vector<Term>* terms : {&products_, &others_})
      for (const Term& term : *terms)
        if (term.factor == 0 || !std::isfinite(term.factor)) return {};
    std::optional<Term> sum;
    if (!others_.empty()) sum = others_[0];
    for (const Term& product : products_) {
      const auto factors = product.variable.owner()->inputs();
      std::vector<Variable> inputs(factors.begin(), factors.end());
      const double beta = sum ? sum->factor : 1;
      if (sum) inputs.push_back(sum->variable);
      sum = {1, (*affine_op(product.factor, beta))(inputs)[0]};
    }
    return sum->variable;
  }

 private:
  void add(const Variable& variable, double factor) {
    const Apply* node = variable.owner();
    if (node != nullptr && around_.readers(variable).size() == 1) {
      if (node_of(variable, "matmul") != nullptr && has_shape_of_sum(variable.type())) {
        products_.push_back({factor, variable});
        return;
      }
      if (add_inputs(*node, factor)) return;
    }
    const auto known = std::find_if(others_.begin(), others_.end(),
                                    [&](const Term& term) { return term.variable == variable; });
    if (known == others_.end())
      others_.push_back({factor, variable});
    else
      known->factor += factor;
  }

  // Whether a variable of this type has the sum's dtype and is not broadcast to its shape.
  bool has_shape_of_sum(const TensorType& type) const {
    if (type.dtype() != type_.dtype() || type.rank() != type_.rank()) return false;
    for (int axis = 0; axis < type.rank(); ++axis)
      if (type.shape()[axis] == 1 && type_.shape()[axis] != 1) return false;
    return true;
  }

  // Adds the terms of a sum, or of a variable times a number. Returns false for other nodes.
  bool add_inputs(const Apply& node, double factor) {
    if (node.output_count() != 1 || node.output(0).type().dtype() != type_.dtype()) return false;
    const auto inputs = node.inputs();
    for (const Variable& input : inputs)
      if (input.type().dtype() != type_.dtype()) return false;
    const Variable output = node.output(0);
    if (node_of(output, "negative") != nullptr) {
      add(inputs[0], -factor);
    } else if (node_of(output, "add") != nullptr) {
      add(inputs[0], factor);
      add(inputs[1], factor);
    } else if (node_of(output, "subtract") != nullptr) {
      add(inputs[0], factor);
      add(inputs[1], -factor);
    } else if (node_of(output, "multiply") != nullptr && number(inputs[0])) {
      add(inputs[1], factor * *number(inputs[0]));
    } else if (node_of(output, "multiply") != nullptr && number(inputs[1])) {
      add(inputs[0], factor * *number(inputs[1]));
    } else if (node_of(output, "divide") != nullptr && number(inputs[1])) {
      add(inputs[0], factor / *number(inputs[1]));
    } else {
      return false;
    }
    return true;
  }

  static std::optional<double> number(const Variable& x) {
    return x.type().rank() == 0 ? constant_number(x) : std::nullopt;
  }

  TensorType type_;
  const NodeSurroundings& around_;
  std::vector<Term> products_, others_;
};

// A sum that only elementwise operations read becomes part of their pass over memory instead.
bool is_read_by_unfusible(const Apply& node, const NodeSurroundings& around) {
  const auto all = around.readers(node.output(0));
  return std::any_of(all.begin(), all.end(),
                     [](const Apply* reader) { return reader == nullptr || !is_fusible(*reader); });
}

std::vector<Variable> linear(const Apply& node, const NodeSurroundings& around) {
  if (node.output_count() != 1 || !is_read_by_unfusible(node, around)) return {};
  const TensorType& type = node.output(0).type();
  if (!type.dtype().is_floating() || type.rank() == 0) return {};
  const Variable sum = LinearSum(node, around).collected();
  if (!sum || sum.type().dtype() != type.dtype() || sum.type().rank() != type.rank()) return {};
  return {sum};
}

[[maybe_unused]] const bool linear_registered = register_node_rewrite(
    {.name = "linear", .position = 50, .tags = {"fast_run"}, .apply_within = linear});

}  // namespace
}  // namespace spanwise::ops::linalg
