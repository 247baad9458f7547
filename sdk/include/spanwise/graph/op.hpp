// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spanwise/array.hpp"
#include "spanwise/device.hpp"
#include "spanwise/export.hpp"
#include "spanwise/graph/variable.hpp"
#include "spanwise/ref.hpp"

namespace spanwise {

/// Where a compiled function keeps one variable's value between thunks. Empty until computed; what
/// an earlier call left in it may be reused or replaced by the thunk that computes it, and has the
/// right dtype and rank but any shape and strides.
class SW_API Cell final : public RefCounted {
 public:
  std::optional<Array> value;
  /// Theano's compute_map: set by the runtime after a thunk that is not lazy, by lazy thunks
  /// themselves.
  bool computed = false;
};

/// The work of one Apply, bound to its cells once and then called without further checks.
class SW_API Thunk {
 public:
  virtual ~Thunk();
  /// Computes the outputs' cells on the current stream of the function's device. A lazy thunk may
  /// be called while inputs are missing: it returns the indices of the inputs that it needs now,
  /// and nothing when it is done. Others return nothing.
  virtual std::vector<int> run() = 0;
  /// Lazy thunks are called before their inputs are computed.
  virtual bool lazy() const { return false; }
  /// Whether run() reaches the device through Spanwise's arrays, kernels and streams alone: not
  /// through a stream's handle that it has kept, nor another library; nor does it wait for what is
  /// queued, as reading an element of a GPU's array does. The runtime may then keep back the
  /// kernels of several such thunks and give them to a GPU at once, and call them with Python's
  /// lock held.
  virtual bool is_async() const { return false; }
};

/// What make_thunk may use: the cells of the node, and where the function runs.
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
  /// Where the node runs: the device that its outputs' types fix, else the function's.
  Device device() const noexcept { return device_; }
  const Ref<Cell>& input(int i) const { return inputs_.at(static_cast<std::size_t>(i)); }
  const Ref<Cell>& output(int i) const { return outputs_.at(static_cast<std::size_t>(i)); }
  /// False where the output leaves the function: its buffer must be a new one at each call. The
  /// runtime empties such a cell before the call, so a thunk that looks at the cell is right.
  bool recyclable(int output) const { return recyclable_.at(static_cast<std::size_t>(output)); }

 private:
  const Apply& node_;
  Device device_;
  std::vector<Ref<Cell>> inputs_, outputs_;
  std::vector<bool> recyclable_;
};

/// Output index -> the input indices whose memory it may view, or overwrites.
using AliasMap = std::map<int, std::vector<int>>;

/// What an op of a registered kind is made with besides its inputs, such as an axis or a device.
using OpProperty = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;
using OpProperties = std::map<std::string, OpProperty, std::less<>>;

/// How make_op() makes an equal op, in another process too.
struct OpRecipe {
  std::string name;
  OpProperties properties{};
};

/// An operation: checks its inputs when a graph is built (make_node), and binds the work when a
/// function is compiled (make_thunk). Ops are immutable and shared; equal ops on equal inputs
/// compute equal values, which lets the runtime merge them. Contract after Theano's Op
/// (theano/gof/op.py).
class SW_API Op : public RefCounted {
 public:
  /// "Add", or "Name{property=value}"; what messages and printed graphs show.
  virtual std::string name() const = 0;
  /// One use on `inputs`. Throws GraphError or DTypeError saying which input and what was expected.
  virtual Ref<Apply> make_node(std::span<const Variable> inputs) const = 0;
  virtual std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const = 0;
  /// Same kind and same properties. The default is identity.
  virtual bool equals(const Op& other) const { return this == &other; }
  virtual std::size_t hash() const { return std::hash<const void*>()(this); }
  virtual AliasMap view_map() const { return {}; }
  /// The runtime runs a node that overwrites an input after all that read the input, and gives it a
  /// copy where the input is the function's own or is one of its results.
  virtual AliasMap destroy_map() const { return {}; }
  /// The same op but that its one output may overwrite input `input`, for the rewrite "inplace"; or
  /// null. Where the input does not serve at run time, the thunk makes a new array.
  virtual Ref<const Op> overwriting(int input) const;
  /// Whether it may overwrite an input that it is also given as another: it reads each element
  /// before it writes there. For other ops the runtime hands over a copy to overwrite.
  virtual bool allows_aliased_inplace() const { return false; }
  /// Whether a node on constants alone may be computed while a function is compiled. Not so for ops
  /// that give another result each time.
  virtual bool foldable(const Apply& node) const;
  /// Whether the arrays that it gives are held by its outputs' cells alone, so that another node
  /// may overwrite them, but for those that view_map names.
  virtual bool gives_own_memory() const { return true; }
  /// Whether what it gives must not be written to, such as a broadcast value, whose elements share
  /// memory: a node that overwrites it, or a view of it, gets a copy.
  virtual bool gives_readonly() const { return false; }
  /// Whether inputs of rank 0 may stay on the host where the node runs elsewhere.
  virtual bool takes_host_scalars() const { return false; }
  /// Whether nothing but the shape of input `input` is looked at: it may be on any device.
  virtual bool reads_only_shape(int input) const;

  /// make_node(inputs)'s outputs.
  std::vector<Variable> operator()(std::span<const Variable> inputs) const;

  /// What make_op() made it from, or set_recipe() said; null where nobody did.
  std::shared_ptr<const OpRecipe> recipe() const;
  /// The first recipe of an op stays.
  void set_recipe(OpRecipe recipe) const;
  /// A place for whoever binds the graph to another language; dies with the op.
  std::shared_ptr<void>& attachment() const noexcept { return attachment_; }

 private:
  mutable std::shared_ptr<const OpRecipe> recipe_;
  mutable std::shared_ptr<void> attachment_;
};

/// A Thunk from a callable without arguments.
SW_API std::unique_ptr<Thunk> make_thunk(std::function<void()> run);
/// The same for a callable of which is_async() is true, or is `is_async`.
SW_API std::unique_ptr<Thunk> make_async_thunk(std::function<void()> run, bool is_async = true);

}  // namespace spanwise
