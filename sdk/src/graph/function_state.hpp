// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "graph/program.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise::graph {

struct InputSlot {
  Ref<Cell> cell;
  TensorType type;
  Device device;
  std::string label;
  bool has_fixed_extents;
};

struct ResultSlot {
  Ref<Cell> cell;
  bool is_leaf;  ///< an input or a constant, which stays where it is
};

/// What CompiledFunction shares: the program and the cells that it works on.
class FunctionState final : public RefCounted {
 public:
  std::string name;
  Device device;
  std::vector<Variable> inputs, outputs;
  std::vector<InputSlot> input_slots;
  std::vector<ResultSlot> result_slots;
  std::vector<Ref<Cell>> constant_cells;
  /// Emptied after each call: what leaves the function or views what does, and what views or
  /// overwrites other cells' memory, so that a thunk never finds another's buffer in its cell.
  std::vector<Ref<Cell>> transient_cells;
  /// Results between nodes, whose buffers stay for the next call where nobody else holds them.
  std::vector<Ref<Cell>> kept_cells;
  Program program;

  std::vector<Array> call(std::span<const Array> arguments);
  void free();

 private:
  class Turn;
  void take_inputs(std::span<const Array> arguments);
  std::vector<Array> give_outputs();
  Array own(Array result, std::span<const Array> earlier);
  bool is_taken(const Array& result, std::span<const Array> earlier) const;
  void tidy() noexcept;

  std::mutex mutex_;
  std::atomic<std::thread::id> caller_{};
};

}  // namespace spanwise::graph
