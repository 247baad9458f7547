// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "op_sdk/plugin/plugin_op.hpp"
#include "runtime/backend.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::op_sdk {

inline sw_dtype plugin_dtype(DType dtype) noexcept {
  return {static_cast<std::uint8_t>(dtype.code()), static_cast<std::uint8_t>(dtype.bits()),
          static_cast<std::uint16_t>(dtype.lanes())};
}

/// One node of a function. What the plug-in may do while it runs are the members between run() and
/// the private ones; each throws what is wrong.
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
  /// The array behind one that this call gave.
  const Array& array_of(const sw_array* array) const;
  /// Room for a launch's arguments, kept from one to the next.
  std::vector<KernelArg>& arguments() noexcept { return arguments_; }

 private:
  struct Input {
    Ref<Cell> cell;
    bool overwritten;              ///< by the plug-in itself
    std::optional<Array> moved{};  ///< where what the cell holds does not serve
    const Array* array = nullptr;  ///< null where it is not computed
  };
  struct Output {
    Ref<Cell> cell;
    DType dtype;
    bool is_given = false;  ///< in this run; looked at for lazy ops
  };
  struct Scratch {
    explicit Scratch(Array made) : array(std::move(made)) {}
    Array array;
    sw_array shown{};
  };

  void bind(const ThunkContext& context);
  void take(std::size_t input);
  std::vector<int> run_lazily();
  void call();
  void order(const Array& array, bool writes) const;
  std::size_t checked(int index, std::size_t count, const char* what) const;
  const sw_array* give(std::size_t output);
  const Array* reusable(const Shape& shape, DType dtype) const;

  Ref<const PluginOp> op_;
  std::string name_;
  const sw_op& functions_;
  Device device_;
  runtime::StreamState* stream_ = nullptr;  ///< of the run; null on the CPU
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<sw_array> shown_inputs_, shown_outputs_;
  std::vector<std::uint8_t> computed_;             // of each input; empty but for lazy ops
  std::vector<int> needed_;                        // what a lazy op asked for
  std::vector<std::unique_ptr<Scratch>> scratch_;  // what is shown must not move
  std::vector<KernelArg> arguments_;
  sw_call call_;
  sw_run run_{};
};

}  // namespace spanwise::op_sdk
