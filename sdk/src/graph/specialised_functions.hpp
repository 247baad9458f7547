// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "spanwise/core/layout.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise::graph {

class FunctionState;

/// The graph of a function, compiled again for the shapes at hand: of inputs and shared values
/// whose types leave extents open. Nodes that compute shapes are constants then, and broadcasts are
/// decided. Compiled when the calls with these shapes have taken longer than compiling, so that it
/// at most doubles their time (config "specialise"); the last few are kept.
class SpecialisedFunctions {
 public:
  /// `outputs`: the outputs and the new values of shared variables, as the program wrote them, with
  /// givens replaced. `options` are those of the function.
  SpecialisedFunctions(std::vector<Variable> inputs, std::vector<Variable> outputs,
                       FunctionOptions options);
  ~SpecialisedFunctions();

  /// The function for the shapes in the cells of `general`; null where there is none yet.
  FunctionState* find(const FunctionState& general);
  /// Call with the duration of a call of the program after find() has returned null.
  void add_time(const FunctionState& general, std::chrono::steady_clock::duration duration);
  void clear();
  std::int64_t repeated_calls() const;
  /// Whether a call with the shapes of the last find() is still measured.
  bool measures() const noexcept { return measures_; }
  /// Whether config "specialise" allows any.
  static bool is_enabled();

 private:
  struct Entry {
    Entry();
    ~Entry();
    Entry(Entry&&) noexcept;
    Entry& operator=(Entry&&) noexcept;

    std::vector<Shape> shapes;
    double seconds = 0;           ///< of calls that the program ran
    Ref<FunctionState> function;  ///< null: not compiled, or not possible
    bool is_final = false;        ///< compiled, or not possible
  };
  Ref<FunctionState> compiled(const FunctionState& general) const;

  std::vector<Variable> inputs_, outputs_;
  FunctionOptions options_;
  std::vector<Entry> entries_;         // the last used comes first
  std::int64_t released_repeats_ = 0;  // of functions that are not kept any more
  bool measures_ = false;
};

}  // namespace spanwise::graph
