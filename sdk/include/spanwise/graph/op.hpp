// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise {

/// The derivative of a cost with respect to one variable: a variable of the same rank, nothing
/// where the cost does not depend on it (disconnected), or the reason why it is not defined.
class SW_API Cotangent {
 public:
  /// Disconnected.
  Cotangent() noexcept = default;
  Cotangent(Variable variable) noexcept  // NOLINT: rules return variables
      : variable_(std::move(variable)) {}
  /// `reason` is a clause for an error message: "the op is not continuous".
  static Cotangent undefined(std::string reason) {
    Cotangent cotangent;
    cotangent.reason_ = std::move(reason);
    return cotangent;
  }

  bool has_variable() const noexcept { return static_cast<bool>(variable_); }
  bool is_undefined() const noexcept { return !reason_.empty(); }
  bool is_disconnected() const noexcept { return !has_variable() && !is_undefined(); }
  const Variable& variable() const noexcept { return variable_; }
  const std::string& reason() const noexcept { return reason_; }

 private:
  Variable variable_;
  std::string reason_;
};

/// Holds the value of one variable of a compiled function between thunks. The thunk that computes
/// the variable may reuse or replace an array that an earlier call left here; such an array has the
/// right dtype and rank but any shape and strides.
class SW_API Cell final : public RefCounted {
 public:
  std::optional<Array> value;
  /// Theano's compute_map: whether `value` belongs to the current call. Set by the runtime after a
  /// non-lazy thunk has run; lazy thunks set it themselves.
  bool computed = false;
};

/// The computation of one Apply node, bound to its cells when the function is compiled.
class SW_API Thunk {
 public:
  virtual ~Thunk();
  /// Computes the values of the output cells on the current stream of the node's device. A lazy
  /// thunk may be called while inputs are not computed: it returns the indices of the inputs that
  /// it needs next, or an empty list when its outputs are computed. Other thunks return an empty
  /// list.
  virtual std::vector<int> run() = 0;
  /// Whether run() is called before the inputs are computed.
  virtual bool lazy() const { return false; }
  /// Whether run() only queues work on the device, through Spanwise's arrays, kernels and streams.
  /// False for a thunk that uses a stored stream handle or another library, or that waits for
  /// queued work (for example by reading an element of a GPU array). The runtime may batch the
  /// kernel launches of consecutive asynchronous thunks, and may call them with the GIL held.
  virtual bool is_async() const { return false; }
};

/// The arguments of make_thunk: the node's cells and its device.
class SW_API ThunkContext {
 public:
  ThunkContext(const Apply& node, Device device, std::vector<Ref<Cell>> inputs,
               std::vector<Ref<Cell>> outputs, std::vector<bool> recyclable)
      : node_(node),
        device_(device),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        recyclable_(std::move(recyclable)) {}

  const Apply& node() const noexcept { return node_; }
  /// The device the node runs on: the one that all its outputs' types specify, else the function's.
  Device device() const noexcept { return device_; }
  const Ref<Cell>& input(int i) const { return inputs_.at(static_cast<std::size_t>(i)); }
  const Ref<Cell>& output(int i) const { return outputs_.at(static_cast<std::size_t>(i)); }
  /// The cells of the inputs from number `first` on.
  std::vector<Ref<Cell>> inputs(int first = 0) const {
    return {inputs_.begin() + first, inputs_.end()};
  }
  /// The cells of all outputs.
  const std::vector<Ref<Cell>>& outputs() const noexcept { return outputs_; }
  /// False where the output, or a view of it, is returned by the function, so each call needs a new
  /// buffer. The runtime empties such a cell between calls: a thunk that reuses whatever array it
  /// finds in the cell need not look at this flag.
  bool recyclable(int output) const { return recyclable_.at(static_cast<std::size_t>(output)); }

 private:
  const Apply& node_;
  Device device_;
  std::vector<Ref<Cell>> inputs_, outputs_;
  std::vector<bool> recyclable_;
};

/// Output index -> indices of the inputs whose memory it may share (view_map) or overwrites
/// (destroy_map).
using AliasMap = std::map<int, std::vector<int>>;

/// Construction parameter of a registered op, such as an axis or a device. A class, since the copy
/// constructor of libstdc++'s variant of strings and vectors destroys an alternative that does not
/// exist if there is no memory for it; its assignment does not.
struct OpProperty
    : std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>> {
  using variant::variant;
  // NOLINTNEXTLINE(bugprone-copy-constructor-init): see above
  OpProperty(const OpProperty& other) : variant() { variant::operator=(other); }
  OpProperty(OpProperty&&) = default;
  OpProperty& operator=(const OpProperty&) = default;
  OpProperty& operator=(OpProperty&&) = default;
  ~OpProperty() = default;
};
using OpProperties = std::map<std::string, OpProperty, std::less<>>;

/// Arguments with which make_op() creates an equal op, also in another process.
struct OpRecipe {
  std::string name;
  OpProperties properties{};
};

/// Where an extent of an output comes from: axis `axis` of input `input`, or the value of that
/// input, an integer of rank 0.
struct ExtentSource {
  static constexpr int value = -1;  ///< as `axis`: the extent is the value of the input
  int input = 0;
  int axis = value;
};

/// The condition of an input of a lazy thunk: the number in input `input` is not 0, or is 0.
struct InputCondition {
  int input = 0;
  bool is_true = true;
};

/// An operation: checks its inputs when a graph is built (make_node) and creates the computation
/// when a function is compiled (make_thunk). Ops are immutable and shared. Equal ops on equal
/// inputs compute equal values, so the runtime may merge their nodes if they are foldable().
/// Contract after Theano's Op (theano/gof/op.py).
class SW_API Op : public RefCounted {
 public:
  /// "Add", or "Name{property=value}"; shown in messages and printed graphs.
  virtual std::string name() const = 0;
  /// Makes a node that applies the op to `inputs`. Throws GraphError or DTypeError saying which
  /// input is wrong and what was expected.
  virtual Ref<Apply> make_node(std::span<const Variable> inputs) const = 0;
  /// Makes the computation of one node; called once when a function is compiled. Errors are
  /// rethrown with a note that names the node.
  virtual std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const = 0;
  /// True for an op of the same class with the same properties. The default compares identity.
  virtual bool equals(const Op& other) const { return this == &other; }
  virtual std::size_t hash() const { return std::hash<const void*>()(this); }
  /// The outputs that may be views of inputs.
  virtual AliasMap view_map() const { return {}; }
  /// The outputs that are computed in the memory of inputs. The runtime runs a node that overwrites
  /// an input after all other readers of the input. The node gets a copy where the input is, or is
  /// a view of, a function output, a constant, a shared variable, or a function input that is not
  /// in FunctionOptions::mutable_inputs.
  virtual AliasMap destroy_map() const { return {}; }
  /// The variant of this op of which one output, or one more output, may overwrite input `input`,
  /// for the rewrite "inplace"; null where there is none. Where the input array is unsuitable at
  /// run time (read-only, or another layout), the thunk allocates a new array.
  virtual Ref<const Op> overwriting(int input) const;
  /// Whether the overwritten input may also be another input of the node: true where each element
  /// is read before it is written. For other ops the runtime overwrites a copy.
  virtual bool allows_aliased_inplace() const { return false; }
  /// Whether a node with only constant inputs may be evaluated while a function is compiled. False
  /// for ops that have an effect or give another result at each evaluation.
  virtual bool foldable(const Apply& node) const;
  /// Whether only the output cells refer to the arrays that the op produces, so that another node
  /// may overwrite them. Outputs named in view_map are not included.
  virtual bool has_unshared_outputs() const { return true; }
  /// Whether the outputs must not be written to, as a broadcast array whose elements share memory:
  /// a node that overwrites an output or a view of it gets a copy.
  virtual bool outputs_are_read_only() const { return false; }
  /// Whether inputs of rank 0 may be on the host while the node runs on another device.
  virtual bool takes_host_scalars() const { return false; }
  /// Whether the op reads only the shape of input `input`, so the input may be on any device.
  virtual bool reads_only_shape(int input) const;
  /// Of an op with a lazy thunk: the condition under which it needs input `input`; nullopt: always.
  /// Its derivative with respect to the input, which gradient() gives for the case that the
  /// condition holds, is 0 elsewhere, and is computed only where the condition holds.
  virtual std::optional<InputCondition> needed_if(int input) const;

  /// Where an extent that the type of output `output` leaves open comes from, so that it is known
  /// without the output. Of several sources, some may be 1 and are then broadcast; the others are
  /// equal. Empty where the extent depends on other values.
  virtual std::vector<ExtentSource> extent_sources(const Apply& node, int output, int axis) const;
  /// An extent without extent_sources() as an expression of the extents of the inputs, an int64 of
  /// rank 0 on the host (see expression::inferred_extent()); null where that is not possible.
  virtual Variable inferred_extent(const Apply& node, int output, int axis) const;

  /// The derivatives of a cost with respect to the inputs of `node`, from those with respect to its
  /// outputs, at least one of which is a variable: the vector-Jacobian product (Theano's L_op).
  /// Each has the rank of its input; gradients() casts it to the input's dtype. Inputs that are not
  /// of a floating or complex dtype are disconnected, whatever is returned for them. The default:
  /// undefined for all inputs. See op_sdk/expression.hpp for building the result.
  virtual std::vector<Cotangent> gradient(const Apply& node,
                                          std::span<const Cotangent> outputs) const;
  /// The inputs of which the first output consists: each of its elements is one of theirs, cast to
  /// its dtype, which other inputs or properties select. A function of single elements may then be
  /// computed before the op. Empty for other ops.
  virtual std::vector<int> moved_inputs(const Apply& node) const;
  /// Whether output `output` depends on the values of input `input`, not only on its shape.
  virtual bool connects(const Apply& node, int input, int output) const;

  /// The outputs of make_node(inputs).
  std::vector<Variable> operator()(std::span<const Variable> inputs) const;

  /// The recipe set by make_op() or set_recipe(); null without one.
  std::shared_ptr<const OpRecipe> recipe() const;
  /// Does nothing if the op has a recipe already.
  void set_recipe(OpRecipe recipe) const;
  /// User data of a language binding, destroyed with the op.
  std::shared_ptr<void>& attachment() const noexcept { return attachment_; }

 private:
  mutable std::shared_ptr<const OpRecipe> recipe_;
  mutable std::shared_ptr<void> attachment_;
};

/// A Thunk from a callable without arguments.
SW_API std::unique_ptr<Thunk> make_thunk(std::function<void()> run);
/// The same with the given is_async(); see Thunk::is_async().
SW_API std::unique_ptr<Thunk> make_async_thunk(std::function<void()> run, bool is_async = true);

/// An op whose nodes run in a fixed order in every function, such as a collective operation, which
/// all processes must start in the same order whatever order their functions' outputs have.
class SW_API SequencedOp : public Op {
 public:
  /// Nodes of one sequence run in ascending order of position().
  virtual std::string_view sequence() const = 0;
  virtual std::int64_t position() const = 0;
};

/// The op that moves its input to `target`, whatever the function's device (Theano's
/// x.transfer(target)). The output shares the input's memory where it is on `target` already.
SW_API Ref<const Op> transfer_op(Device target);
/// The target device of a transfer op; nullopt for any other op.
SW_API std::optional<Device> transfer_target(const Op& op) noexcept;

}  // namespace spanwise
