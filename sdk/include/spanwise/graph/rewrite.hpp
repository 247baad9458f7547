// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "spanwise/core/device.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise {

/// The graph of a function between two rewrites. A rewrite replaces `outputs` by variables of the
/// same types that compute the same values from the same inputs; it does not modify existing nodes.
struct RewriteGraph {
  std::vector<Variable> outputs;
  std::unordered_set<Variable> inputs;  ///< of the function; their owners are not part of the graph
  /// Inputs that the function may overwrite.
  std::unordered_set<Variable> mutable_inputs;
  Device device;  ///< the function's device, where nodes run whose types specify none
  /// True once config "rewrite_seconds" have passed: the rewrite then returns without further
  /// changes.
  std::function<bool()> is_late;
};

/// One graph optimization. Each runs once over all nodes, in the order of `position`, so
/// compilation always terminates.
struct Rewrite {
  std::string name;
  double position = 0;
  /// Further names for Mode::including and excluding. The tags "fast_run" and "fast_compile" enable
  /// the rewrite in these modes.
  std::vector<std::string> tags{};
  /// Returns the number of changed nodes.
  std::function<int(RewriteGraph& graph)> apply;
};

/// The graph around the node that a NodeRewrite visits.
class SW_API NodeSurroundings {
 public:
  virtual ~NodeSurroundings();
  /// The nodes that read `variable`, each once, as they were before the rewrite; null stands for
  /// the outputs of the graph. Empty for a variable that the rewrite made inside of a replacement.
  /// Valid until the rewrite returns.
  virtual std::span<const Apply* const> readers(const Variable& variable) const = 0;
  /// RewriteGraph::device.
  virtual Device device() const = 0;
};

/// A rewrite of single nodes. It visits all nodes in topological order, so that the inputs of a
/// node are rewritten before the node.
struct NodeRewrite {
  std::string name;
  double position = 0;              ///< as Rewrite::position
  std::vector<std::string> tags{};  ///< as Rewrite::tags; "stabilize": also before differentiation
  /// Returns a replacement for each output of `node`, of the same dtype and shape as far as both
  /// are known, or nothing if the node stays. A replacement that is computed by a new node is
  /// rewritten again; the nodes before it, which may include `node` itself, are not.
  std::function<std::vector<Variable>(const Apply& node)> apply{};
  /// Instead of `apply`, for a rewrite that depends on more than the node.
  std::function<std::vector<Variable>(const Apply& node, const NodeSurroundings& around)>
      apply_within{};
};

/// A rewrite that replaces groups of nodes by one node each. The nodes of a group have one output
/// and take part element by element: element i of the output depends on the elements i of the
/// inputs, which broadcast to its shape.
struct FusionRewrite {
  std::string name;
  double position = 0;              ///< as Rewrite::position
  std::vector<std::string> tags{};  ///< as Rewrite::tags
  /// Whether the node may be in a group.
  std::function<bool(const Apply& node)> accepts;
  std::size_t max_inputs = 0, max_outputs = 0;  ///< of a group
  /// The op for a group of `nodes`, which are in topological order. It computes `outputs`, each an
  /// output of a node, from `inputs`.
  std::function<Ref<const Op>(std::span<const Ref<Apply>> nodes, std::span<const Variable> inputs,
                              std::span<const Variable> outputs)>
      fuse;
};

/// Registers a rewrite; called by a static initialiser of the rewrite's own file. Returns false and
/// does nothing where the name is taken.
SW_API bool register_rewrite(Rewrite rewrite);
/// The same for a rewrite of nodes. Compiling a function throws GraphError, naming the rewrite,
/// where it gives another number of replacements than outputs or one of another type, and where it
/// replaces its own results without end.
SW_API bool register_node_rewrite(NodeRewrite rewrite);
/// The same for groups of nodes. Groups are as large as possible: nodes of one rank and device that
/// depend on each other or read the same variable, with the same axes of extent 1 as far as types
/// show.
SW_API bool register_fusion_rewrite(FusionRewrite rewrite);
/// Whether a registered fusion rewrite accepts the node.
SW_API bool is_fusible(const Apply& node);
/// Removes the rewrite `name`; returns false where there is none.
SW_API bool remove_rewrite(const std::string& name);
/// All registered rewrites in the order of `position`.
SW_API std::vector<Rewrite> rewrites();

}  // namespace spanwise
