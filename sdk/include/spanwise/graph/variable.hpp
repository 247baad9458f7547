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

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/graph/type.hpp"

namespace spanwise {

class Apply;
class Op;
class SharedValue;
class VariableNode;

/// A symbolic value: an input, a constant, a shared variable, or an output of an Apply node.
/// Copying refers to the same node; == and hash compare identity. Not thread-safe while a graph is
/// being built; finished graphs may be read from any thread.
class SW_API Variable {
 public:
  /// A null variable.
  Variable() noexcept = default;
  /// An input of the given type.
  explicit Variable(TensorType type, std::string name = {});
  static Variable constant(Array value, std::string name = {});
  /// A constant of type `type`, which `value` must match (not checked).
  static Variable constant(Array value, TensorType type, std::string name);
  /// A shared variable: see graph/shared.hpp.
  static Variable shared(Ref<SharedValue> value, std::string name);
  /// The same with a type that also fixes extents, which the value has to have at each use.
  static Variable shared(Ref<SharedValue> value, TensorType type, std::string name);

  explicit operator bool() const noexcept { return static_cast<bool>(node_); }
  const TensorType& type() const noexcept;
  const std::string& name() const noexcept;
  void set_name(std::string name) const;
  /// The Apply node that computes it; null for an input, a constant or a shared variable.
  Apply* owner() const noexcept;
  /// Its index among owner()'s outputs; 0 without an owner.
  int index() const noexcept;
  /// The constant's data, or null.
  const Array* value() const noexcept;
  /// The object that holds the value of a shared variable; null for any other variable.
  SharedValue* container() const noexcept;
  /// User data of a language binding (Theano's `tag`), destroyed with the variable.
  std::shared_ptr<void>& attachment() const noexcept;
  /// The stack trace of the user's code that made the variable or its node; "" where unknown.
  const std::string& trace() const noexcept;
  void set_trace(std::string trace) const;
  /// "\nx was made here:\n" and the trace, for the end of a message; "" where unknown.
  std::string trace_note() const;
  /// Its name, else "Op.index", else "TensorConstant{2.0}", else "<Type>".
  std::string label() const;

  /// A handle to an existing node.
  explicit Variable(Ref<VariableNode> node) noexcept : node_(std::move(node)) {}
  VariableNode* node() const noexcept { return node_.get(); }
  friend bool operator==(const Variable&, const Variable&) noexcept = default;

 private:
  friend class Apply;
  Ref<VariableNode> node_;
};

/// The node behind Variable. An output of an Apply shares the Apply's reference count: the node and
/// its outputs are destroyed together, so graphs contain no ownership cycles.
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
  std::string name_, trace_;
  std::unique_ptr<Array> value_;
  Ref<SharedValue> container_;
  std::shared_ptr<void> attachment_;
  Apply* owner_ = nullptr;
  int index_ = 0;
  mutable std::atomic<std::int64_t> count_{0};
};

/// One application of an op: the op, its inputs and its outputs. Destroying a graph of any depth
/// does not recurse.
class SW_API Apply final : public RefCounted {
 public:
  /// Makes `outputs` the outputs of the new node. Throws GraphError where `op`, an input or an
  /// output is null, or where an output is a constant, already has an owner, or is also an input or
  /// another output.
  static Ref<Apply> make(Ref<const Op> op, std::vector<Variable> inputs,
                         std::vector<Variable> outputs);

  const Op& op() const noexcept { return *op_; }
  const Ref<const Op>& op_ref() const noexcept { return op_; }
  std::span<const Variable> inputs() const noexcept { return inputs_; }
  int output_count() const noexcept { return static_cast<int>(outputs_.size()); }
  Variable output(int i) const noexcept;
  std::vector<Variable> outputs() const;
  /// "Op(x, y)": the op's name and its inputs' labels, for messages.
  std::string label() const;
  /// The stack trace of the user's code that made the node, for messages; "" where unknown. Set by
  /// make() from the trace source (hooks.hpp).
  const std::string& trace() const noexcept { return trace_; }
  void set_trace(std::string trace) { trace_ = std::move(trace); }
  /// The number of nodes that were made before it in the process.
  std::uint64_t serial() const noexcept { return serial_; }
  /// The serial() of the next node.
  static std::uint64_t next_serial() noexcept;
  /// As Variable::attachment().
  std::shared_ptr<void>& attachment() const noexcept { return attachment_; }
  /// For a reference that does not keep the node alive, which its attachment's destructor ends.
  using RefCounted::try_add_ref;
  void release() const noexcept { release_findable(); }

 private:
  Apply(Ref<const Op> op, std::vector<Variable> inputs);
  ~Apply() override;

  Ref<const Op> op_;
  std::vector<Variable> inputs_;
  std::vector<std::unique_ptr<VariableNode>> outputs_;
  std::string trace_;
  std::uint64_t serial_;
  mutable std::shared_ptr<void> attachment_;
};

}  // namespace spanwise

template <>
struct std::hash<spanwise::Variable> {
  std::size_t operator()(const spanwise::Variable& v) const noexcept {
    return std::hash<const void*>()(v.node());
  }
};
