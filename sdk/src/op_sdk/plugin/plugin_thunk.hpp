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
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::op_sdk {

inline sw_dtype plugin_dtype(DType dtype) noexcept {
  return {static_cast<std::uint8_t>(dtype.code()), static_cast<std::uint8_t>(dtype.bits()),
          static_cast<std::uint16_t>(dtype.lanes())};
}

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
