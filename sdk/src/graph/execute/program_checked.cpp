// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "graph/execute/program.hpp"
#include "graph/execute/same_values.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"

// The checks of mode "debug" (Theano's DebugMode, theano/compile/debugmode.py): a second run of a
// node gives the same values, only inputs named in destroy_map change, and memory is shared only as
// view_map and destroy_map declare.
namespace spanwise::graph {
namespace {

using Snapshot = std::vector<std::optional<Array>>;

// The values of the cells; with `copied` copies of their arrays.
Snapshot values_of(const std::vector<Ref<Cell>>& cells, bool copied) {
  Snapshot values;
  for (const Ref<Cell>& cell : cells) {
    values.emplace_back();
    if (cell->value) values.back() = copied ? copy(*cell->value) : *cell->value;
  }
  return values;
}

// Whether `map` names the input, or another input that is the same variable.
bool is_mapped(const Step& step, const AliasMap& map, std::size_t input) {
  for (const auto& [output, inputs] : map)
    for (const int mapped : inputs)
      if (step.inputs[static_cast<std::size_t>(mapped)] == step.inputs[input]) return true;
  return false;
}

double largest_magnitude(const Snapshot& inputs) {
  double largest = 0;
  for (const std::optional<Array>& input : inputs)
    if (input) largest = std::max(largest, largest_number(*input));
  return largest;
}

// Restores the contents of cells in its destructor, also if the second run throws.
class CellRestorer {
 public:
  explicit CellRestorer(const std::vector<Ref<Cell>>& cells)
      : cells_(cells), values_(values_of(cells, false)) {}
  ~CellRestorer() {
    for (std::size_t i = 0; i < values_.size(); ++i) cells_[i]->value = std::move(values_[i]);
  }
  CellRestorer(const CellRestorer&) = delete;
  CellRestorer& operator=(const CellRestorer&) = delete;

 private:
  const std::vector<Ref<Cell>>& cells_;
  Snapshot values_;
};

void check_inputs_kept(const Step& step, const Snapshot& before) {
  const Op& op = step.node->op();
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (!before[i] || is_mapped(step, op.destroy_map(), i)) continue;
    if (!step.inputs[i]->value || !have_same_bytes(*before[i], *step.inputs[i]->value))
      fail<GraphError>(op.name(), ": changed its input ", i,
                       ", which its destroy_map does not name; declare it there, or write to a "
                       "copy");
  }
}

void check_sharing(const Step& step, const Snapshot& inputs) {
  const Op& op = step.node->op();
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const auto& output = step.outputs[i]->value;
    if (!output || output->size() == 0) continue;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!inputs[k] || inputs[k]->size() == 0 || !may_share_memory(*output, *inputs[k])) continue;
      const bool declared =
          is_mapped(step, op.view_map(), k) || is_mapped(step, op.destroy_map(), k);
      if (!declared)
        fail<GraphError>(op.name(), ": output ", i, " shares memory with input ", k,
                         ", which neither view_map nor destroy_map says; declare it, or give a "
                         "copy");
    }
    for (std::size_t k = 0; k < i; ++k) {
      const auto& other = step.outputs[k]->value;
      const bool shares = other && other->size() > 0 && may_share_memory(*output, *other);
      if (shares && op.view_map().empty())
        fail<GraphError>(op.name(), ": outputs ", k, " and ", i,
                         " share memory; expected separate memory for each");
    }
  }
}

}  // namespace

void Program::run_checked_step(std::size_t position) {
  const Step& step = steps_[position];
  const Snapshot before = values_of(step.inputs, true), arrays = values_of(step.inputs, false);
  run_thunk(position);
  check_sharing(step, arrays);
  check_inputs_kept(step, before);
  const Snapshot first = values_of(step.outputs, true);
  const CellRestorer inputs(step.inputs), outputs(step.outputs);
  // Runs again on copies of the inputs, into new outputs.
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i]) step.inputs[i]->value = copy(*before[i]);
  for (const Ref<Cell>& cell : step.outputs) cell->value.reset();
  run_thunk(position);
  const double largest = largest_magnitude(before);
  for (std::size_t i = 0; i < first.size(); ++i)
    if (!first[i] || !have_same_values(*first[i], *step.outputs[i]->value, largest))
      fail<GraphError>(step.node->op().name(), ": output ", i,
                       " differs when the node runs again on the same inputs; expected the same "
                       "values each time");
}

}  // namespace spanwise::graph
