// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spanwise/array.hpp"
#include "spanwise/export.hpp"
#include "spanwise/graph/type.hpp"
#include "spanwise/ref.hpp"

namespace spanwise {

class Apply;
class Op;
class SharedValue;
class VariableNode;

/// A value that a graph will compute, is given, or holds as a constant. Copying names the same
/// value;
/// == and hash go by identity. Building one graph from several threads at once is the caller's to
/// prevent; finished graphs may be read from any thread.
class SW_API Variable {
 public:
  /// Names nothing.
  Variable() noexcept = default;
  /// An input.
  explicit Variable(TensorType type, std::string name = {});
  static Variable constant(Array value, std::string name = {});
  /// A constant in the place of a variable of `type`, which `value` fits.
  static Variable constant(Array value, TensorType type, std::string name);
  /// A shared variable: see graph/shared.hpp.
  static Variable shared(Ref<SharedValue> value, std::string name);

  explicit operator bool() const noexcept { return static_cast<bool>(node_); }
  const TensorType& type() const noexcept;
  const std::string& name() const noexcept;
  void set_name(std::string name) const;
  /// The Apply that computes it, or null for an input or a constant.
  Apply* owner() const noexcept;
  /// Which of owner()'s outputs it is; 0 without an owner.
  int index() const noexcept;
  /// The constant's data, or null.
  const Array* value() const noexcept;
  /// Where a shared variable keeps its value; null for any other.
  SharedValue* container() const noexcept;
  /// A place for whoever binds the graph to another language to keep what belongs to this variable
  /// (Theano's `tag`); dies with it.
  std::shared_ptr<void>& attachment() const noexcept;
  /// Its name, else "Op.index", else "TensorConstant{2.0}", else "<Type>".
  std::string label() const;

  /// The variable behind a node that another Variable names.
  explicit Variable(Ref<VariableNode> node) noexcept : node_(std::move(node)) {}
  VariableNode* node() const noexcept { return node_.get(); }
  friend bool operator==(const Variable&, const Variable&) noexcept = default;

 private:
  friend class Apply;
  Ref<VariableNode> node_;
};

/// The node behind Variable. As an output of an Apply it shares that Apply's reference count: node
/// and outputs live and die as one, so graphs have no cycles of ownership.
class SW_API VariableNode {
 public:
  explicit VariableNode(TensorType type, std::string name);
  ~VariableNode();
  VariableNode(const VariableNode&) = delete;
  VariableNode& operator=(const VariableNode&) = delete;
  void add_ref() const noexcept;
  void release() const noexcept;

 private:
  friend class Variable;
  friend class Apply;
  TensorType type_;
  std::string name_;
  std::unique_ptr<Array> value_;
  Ref<SharedValue> container_;
  std::shared_ptr<void> attachment_;
  Apply* owner_ = nullptr;
  int index_ = 0;
  mutable std::atomic<std::int64_t> count_{0};
};

/// One use of an op: which op, on what, giving what. Letting go of a graph of any depth needs no
/// deep stack.
class SW_API Apply final : public RefCounted {
 public:
  /// `outputs` become this node's; throws GraphError where one already has an owner or is an input
  /// too.
  static Ref<Apply> make(Ref<const Op> op, std::vector<Variable> inputs,
                         std::vector<Variable> outputs);

  const Op& op() const noexcept { return *op_; }
  const Ref<const Op>& op_ref() const noexcept { return op_; }
  std::span<const Variable> inputs() const noexcept { return inputs_; }
  int output_count() const noexcept { return static_cast<int>(outputs_.size()); }
  Variable output(int i) const noexcept;
  std::vector<Variable> outputs() const;
  /// "Op(x, y)": the op and its inputs' labels, for messages.
  std::string label() const;
  /// Where the user's program made it, for messages; "" where unknown. Set from the source of
  /// traces (hooks.hpp) when the node is made.
  const std::string& trace() const noexcept { return trace_; }
  void set_trace(std::string trace) { trace_ = std::move(trace); }
  /// As Variable::attachment().
  std::shared_ptr<void>& attachment() const noexcept { return attachment_; }

 private:
  Apply(Ref<const Op> op, std::vector<Variable> inputs);
  ~Apply() override;

  Ref<const Op> op_;
  std::vector<Variable> inputs_;
  std::vector<std::unique_ptr<VariableNode>> outputs_;
  std::string trace_;
  mutable std::shared_ptr<void> attachment_;
};

}  // namespace spanwise

template <>
struct std::hash<spanwise::Variable> {
  std::size_t operator()(const spanwise::Variable& v) const noexcept {
    return std::hash<const void*>()(v.node());
  }
};
