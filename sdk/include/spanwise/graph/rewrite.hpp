// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "spanwise/device.hpp"
#include "spanwise/export.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise {

/// The graph of a function between two rewrites. A rewrite replaces `outputs` by others of the same
/// types that compute the same from the same inputs; it changes no node in place.
struct RewriteGraph {
  std::vector<Variable> outputs;
  std::unordered_set<Variable> inputs;  ///< of the function; what computes them does not count
  /// Inputs that may be overwritten.
  std::unordered_set<Variable> mutable_inputs;
  Device device;  ///< where what no type fixes runs
  /// True when the time for compiling is over: finish with what is done.
  std::function<bool()> is_late;
};

/// One way to make a graph cheaper. Each runs once, in the order of `position`, over all nodes, so
/// that compiling always ends.
struct Rewrite {
  std::string name;
  double position = 0;
  /// What Mode::including and excluding may call it besides its name; the tags "fast_run" and
  /// "fast_compile" name the modes that it is part of.
  std::vector<std::string> tags{};
  /// Gives how many nodes changed.
  std::function<int(RewriteGraph& graph)> apply;
};

/// Called by a static initialiser of the rewrite's own file. False, and nothing is done, where the
/// name is taken.
SW_API bool register_rewrite(Rewrite rewrite);
/// All of them, in order.
SW_API std::vector<Rewrite> rewrites();

}  // namespace spanwise
