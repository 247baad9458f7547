// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "op_sdk/plugin/call.hpp"
#include "op_sdk/plugin/table.hpp"
#include "spanwise/graph/elementwise.hpp"

namespace spanwise::op_sdk {

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

/// The types of `variables` as C structs, which point into the variables.
std::vector<sw_type> plugin_types(std::span<const Variable> variables);

}  // namespace spanwise::op_sdk
