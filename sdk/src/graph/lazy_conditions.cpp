// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/lazy_conditions.hpp"

#include <algorithm>

namespace spanwise::graph {

int LazyConditions::within(int outer, const Variable& number, bool is_true) {
  const auto [entry, is_new] =
      known_.try_emplace({outer, number.node(), is_true}, static_cast<int>(links_.size()));
  if (is_new) links_.push_back({outer, number, is_true, link(outer).depth + 1});
  return entry->second;
}

int LazyConditions::common(int a, int b) const {
  while (a != b) {
    int& deeper = link(a).depth >= link(b).depth ? a : b;
    deeper = link(deeper).outer;
  }
  return a;
}

bool LazyConditions::are_opposite(int a, int b) const {
  const Link &first = link(a), &second = link(b);
  return a != always && b != always && first.outer == second.outer &&
         first.number == second.number && first.is_true != second.is_true;
}

int LazyConditions::either(int a, int b, const std::function<Variable()>& number_of) {
  const int outer = common(a, b);
  if (outer == a || outer == b || are_opposite(a, b)) return outer;
  const auto [entry, is_new] = unions_.try_emplace(std::minmax(a, b), always);
  if (is_new) entry->second = within(outer, number_of(), true);
  return entry->second;
}

std::unordered_map<const Apply*, int> conditions_of(const std::vector<Ref<Apply>>& nodes,
                                                    std::span<const Variable> outputs) {
  const auto is_lazy = [](const Ref<Apply>& node) {
    for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i)
      if (node->op().needed_if(i)) return true;
    return false;
  };
  if (std::ranges::none_of(nodes, is_lazy)) return {};
  LazyConditions conditions;
  std::unordered_map<const Apply*, int> needed;
  const auto need = [&](const Variable& variable, int condition) {
    if (variable.owner() == nullptr) return;
    const auto [entry, is_new] = needed.try_emplace(variable.owner(), condition);
    // A number of its own stands for the union: only the identity of conditions matters here.
    if (!is_new)
      entry->second = conditions.either(entry->second, condition,
                                        [] { return Variable(TensorType(bool_, Shape())); });
  };
  for (const Variable& output : outputs) need(output, LazyConditions::always);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const int condition = needed.try_emplace(node->get(), LazyConditions::always).first->second;
    const auto inputs = (*node)->inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto choice = (*node)->op().needed_if(static_cast<int>(i));
      need(inputs[i],
           choice ? conditions.within(condition, inputs[static_cast<std::size_t>(choice->input)],
                                      choice->is_true)
                  : condition);
    }
  }
  return needed;
}

}  // namespace spanwise::graph
