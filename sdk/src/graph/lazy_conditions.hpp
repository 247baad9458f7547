// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/traversal.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise::graph {

/// The conditions under which a graph with lazy ops needs its variables. A condition is a number;
/// equal conditions have equal numbers. Each adds one link to the condition around it.
class LazyConditions {
 public:
  static constexpr int always = 0;

  /// The variable `number`, of rank 0, is not 0 (`is_true`), or is 0, where `outer` holds.
  struct Link {
    int outer = always;
    Variable number{};
    bool is_true = true;
    int depth = 0;
  };

  /// `outer`, and the number is not 0 (`is_true`), or is 0.
  int within(int outer, const Variable& number, bool is_true);
  /// `a` or `b`. `number_of` makes a variable that is not 0 where one of them holds, provided that
  /// common(a, b) does; it is called only where no present condition is the result.
  int either(int a, int b, const std::function<Variable()>& number_of);
  /// The innermost condition around both.
  int common(int a, int b) const;
  /// Whether `a` and `b` are the two values of one number.
  bool are_opposite(int a, int b) const;
  const Link& link(int condition) const { return links_[static_cast<std::size_t>(condition)]; }

 private:
  std::vector<Link> links_{Link{}};
  std::map<std::tuple<int, const VariableNode*, bool>, int> known_;
  std::map<std::pair<int, int>, int> unions_;
};

/// The condition under which each of `nodes`, which are in topological order, is needed for
/// `outputs`; empty if all are needed always.
std::unordered_map<const Apply*, int> conditions_of(const std::vector<Ref<Apply>>& nodes,
                                                    std::span<const Variable> outputs);

}  // namespace spanwise::graph
