// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "graph/compile/memory_plan.hpp"
#include "graph/compile/releases.hpp"
#include "graph/compile/shape_nodes.hpp"
#include "graph/execute/function_state.hpp"
#include "graph/order.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise::graph {

/// The compilation of one function.
class Compilation {
 public:
  Compilation(std::vector<Variable> inputs, std::vector<Variable> outputs, FunctionOptions options);

  Ref<FunctionState> run();

 private:
  void build_graph();
  void build_program();
  const Ref<Cell>& cell_of(const Variable& variable);
  Ref<Cell> leaf_cell(const Variable& variable);
  [[noreturn]] void fail_missing(const Variable& leaf) const;
  CompiledFunction without_rewrites() const;
  void place_on_devices();
  void rewrite();
  void order_nodes();
  void put_host_nodes_first();
  VariableSet scalars_needed_on_device() const;
  void make_input_slots();
  void make_result_slots();
  bool runs_in_order(const std::vector<Step>& steps) const;
  Step make_step(const Ref<Apply>& node);
  void sort_cells(const std::vector<Step>& steps);
  void plan_results(const std::vector<Step>& steps);
  void preallocate();

  FunctionOptions options_;
  Device device_;
  std::vector<Variable> inputs_;
  VariableSet input_set_, mutable_inputs_;
  // the function's outputs, then the new values of shared variables
  std::vector<Variable> outputs_;
  std::size_t output_count_;
  std::vector<Ref<Apply>> nodes_;
  std::vector<OrderEdge> readers_first_;
  VariableSet escaping_;  // variables whose buffers the function returns
  NodeSet shape_nodes_;
  std::unordered_map<Variable, Ref<Cell>> cells_;
  std::vector<KeptResult> kept_;
  bool allow_gc_ = false;
  MemoryPlan plan_;
  Releases releases_;
  Ref<FunctionState> state_ = make_ref<FunctionState>();
};

}  // namespace spanwise::graph
