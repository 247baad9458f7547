// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "op_sdk/plugin_table.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/graph/type.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/plugin.h"

namespace spanwise::op_sdk {

class PluginThunk;

/// The output types of one node, as far as the plug-in has set them.
using InferredTypes = std::vector<std::optional<TensorType>>;

}  // namespace spanwise::op_sdk

/// The context of one call into a plug-in, passed to the host functions that it calls.
struct sw_call {
  /// `name`, of the op or library that is called, begins error messages and must outlive the call.
  explicit sw_call(const std::string& name) : callee(name) {}

  const std::string& callee;
  spanwise::op_sdk::InferredTypes* inferred = nullptr;  ///< in infer
  std::optional<spanwise::Device> device{};             ///< in bind and run
  spanwise::op_sdk::PluginThunk* run = nullptr;         ///< in run
  std::exception_ptr failure{};  ///< the last error of a host function, or reported by the plug-in
};

namespace spanwise::op_sdk {

/// The host's function table.
const sw_host& plugin_host() noexcept;

/// Throws the error stored in `call`, or a GraphError if the plug-in returned `status` without one.
[[noreturn]] void throw_plugin_failure(sw_call& call, sw_status status);
[[noreturn]] void throw_plugin_exception(const sw_call& call);

/// Calls function(arguments...) of a plug-in; throws where it returns another status than SW_OK.
template <class Function, class... Arguments>
void call_plugin(sw_call& call, Function function, Arguments... arguments) {
  call.failure = nullptr;
  sw_status status;
  try {
    status = function(arguments...);
  } catch (...) {  // violates the contract; the type may belong to another C++ library
    throw_plugin_exception(call);
  }
  if (status != SW_OK) [[unlikely]]
    throw_plugin_failure(call, status);
}

/// An op created by the plug-in from its properties; destroyed by the plug-in.
class PluginInstance final : public RefCounted {
 public:
  /// Throws ArgumentError for properties that are unknown, missing or of another type, and the
  /// plug-in's errors.
  PluginInstance(const PluginOpTable& table, const OpProperties& properties);
  ~PluginInstance() override;

  const PluginOpTable& table() const noexcept { return table_; }
  const sw_op& functions() const noexcept { return table_.functions; }
  void* op() const noexcept { return op_; }
  const std::vector<OpProperty>& values() const noexcept { return values_; }
  /// "signal.window{length=16}".
  const std::string& name() const noexcept { return name_; }

 private:
  const PluginOpTable& table_;
  std::vector<OpProperty> values_;  ///< in the order of the table
  std::string name_;
  void* op_;
};

/// The graph op of a PluginInstance.
class PluginOp final : public Op, public HasElementBody {
 public:
  static constexpr int overwrites_nothing = -1;

  explicit PluginOp(Ref<const PluginInstance> instance, int overwritten = overwrites_nothing);

  std::string name() const override { return name_; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override;
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override;
  bool equals(const Op& other) const override;
  std::size_t hash() const override;
  AliasMap view_map() const override { return instance_->table().views; }
  AliasMap destroy_map() const override;
  Ref<const Op> overwriting(int input) const override;
  std::optional<InputCondition> needed_if(int input) const override;
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override;
  std::shared_ptr<const ElementBody> element_body(const Apply& node) const override;
  bool foldable(const Apply&) const override { return !instance_->table().has(SW_NOT_PURE); }

  const PluginInstance& instance() const noexcept { return *instance_; }
  /// The input whose memory the output may reuse, or overwrites_nothing.
  int overwritten() const noexcept { return overwritten_; }

 private:
  std::optional<Device> output_device(std::span<const Variable> inputs) const;

  Ref<const PluginInstance> instance_;
  int overwritten_;
  std::string name_;
};

/// The thunk of one node. The members from new_output() to arguments() implement the host functions
/// available during run(); they throw on misuse.
class PluginThunk final : public Thunk {
 public:
  PluginThunk(Ref<const PluginOp> op, const ThunkContext& context);
  ~PluginThunk() override;

  std::vector<int> run() override;
  bool lazy() const override { return !computed_.empty(); }

  const sw_array* new_output(int output, const Shape& shape);
  const sw_array* output_from_input(int output, int input, std::optional<Layout> window);
  const sw_array* scratch(DType dtype, const Shape& shape);
  void need_input(int input);
  /// The Array of an sw_array that this call returned to the plug-in.
  const Array& array_of(const sw_array* array) const;
  /// A buffer for a launch's arguments, reused between launches.
  std::vector<KernelArg>& arguments() noexcept { return arguments_; }

 private:
  struct Input {
    Ref<Cell> cell;
    bool overwritten;  ///< named in sw_op.overwrites
    /// A copy, used where the cell's array is on another device, or read-only and overwritten.
    std::optional<Array> copied{};
    const Array* array = nullptr;  ///< the array of this run; null if not computed
  };
  struct Output {
    Ref<Cell> cell;
    DType dtype;
    bool is_set = false;  ///< in this run; used for lazy ops
  };
  struct Scratch {
    explicit Scratch(Array result) : array(std::move(result)) {}
    Array array;
    sw_array c_array{};
  };

  void bind(const ThunkContext& context);
  void load_input(std::size_t input);
  std::vector<int> run_lazily();
  void call_run();
  void order(const Array& array, bool writes) const;
  std::size_t checked_index(int index, std::size_t count, const char* list) const;
  const sw_array* finish_output(std::size_t output);
  const Array* reusable_input(const Shape& shape, DType dtype) const;

  Ref<const PluginOp> op_;
  std::string name_;
  const sw_op& functions_;
  Device device_;
  runtime::StreamState* stream_ = nullptr;  ///< of the current run; null on the CPU
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<sw_array> c_inputs_, c_outputs_;
  std::vector<std::uint8_t> computed_;  // per input; empty unless the op is lazy
  std::vector<int> needed_;             // inputs requested by a lazy op
  // Pointers, since the plug-in holds addresses of `c_array`.
  std::vector<std::unique_ptr<Scratch>> scratch_;
  std::vector<KernelArg> arguments_;
  sw_call call_;
  sw_run run_{};
};

}  // namespace spanwise::op_sdk
