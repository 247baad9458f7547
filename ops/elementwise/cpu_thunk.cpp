// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "arithmetic.hpp"
#include "cpu_loops.hpp"
#include "walk.hpp"

namespace spanwise::ops {
namespace {

class CpuThunk final : public Thunk {
 public:
  CpuThunk(Arithmetic kind, const ThunkContext& context)
      : output_(context.output(0)),
        dtype_(context.node().output(0).type().dtype()),
        device_(context.device()),
        arity_(static_cast<std::size_t>(facts(kind).arity)),
        loop_(find_loop(kind, dtype_)) {
    for (std::size_t i = 0; i < arity_; ++i) inputs_[i] = context.input(static_cast<int>(i));
  }

  std::vector<int> run() override {
    const Array* operands[2] = {};
    for (std::size_t i = 0; i < arity_; ++i) operands[i] = &operand(i);
    const std::span<const Array* const> all(operands, arity_);
    const Array& result = result_array(*output_, all, result_shape(all), dtype_, device_);
    plan_walk(all, result, walk_);
    if (walk_.size > 0) walk_through(all, result);
    return {};
  }

 private:
  // In the dtype and on the device of the result, and aligned: what differs is converted first.
  const Array& operand(std::size_t i) {
    const Array& given = *inputs_[i]->value;
    if (given.dtype() == dtype_ && given.device() == device_ && is_aligned(given)) return given;
    if (given.device() != device_)
      return converted_[i].value.emplace(
          astype(to_device(given, device_), dtype_, CopyMode::if_needed));
    const Array& target = output_array(converted_[i], given.shape(), dtype_, device_);
    copy(given, target);
    return target;
  }

  bool is_aligned(const Array& array) const {
    const int part = dtype_.is_complex() ? dtype_.itemsize() / 2 : dtype_.itemsize();
    return reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(part) == 0;
  }

  Shape result_shape(std::span<const Array* const> operands) const {
    if (arity_ == 1 || operands[0]->shape() == operands[1]->shape()) return operands[0]->shape();
    const Shape shapes[] = {operands[0]->shape(), operands[1]->shape()};
    return broadcast_shapes(shapes);
  }

  // The innermost axis is the loop's; an odometer turns the others.
  void walk_through(std::span<const Array* const> operands, const Array& result) const {
    const int rank = walk_.rank();
    const std::int64_t itemsize = dtype_.itemsize();
    const auto* a = static_cast<const std::byte*>(operands[0]->data());
    const auto* b = static_cast<const std::byte*>(operands[arity_ - 1]->data());
    auto* z = static_cast<std::byte*>(result.data());
    const auto &sa = walk_.strides[0], &sb = walk_.strides[arity_ - 1], &sz = walk_.strides[arity_];
    const auto inner = static_cast<std::size_t>(rank - 1);
    std::int64_t at[max_rank] = {};
    for (;;) {
      loop_(walk_.shape[inner], a, sa[inner], b, sb[inner], z, sz[inner]);
      int axis = rank - 2;
      for (; axis >= 0; --axis) {
        const auto i = static_cast<std::size_t>(axis);
        const std::int64_t steps = ++at[i] < walk_.shape[i] ? 1 : 1 - std::exchange(at[i], 0);
        a += sa[i] * steps * itemsize;
        b += sb[i] * steps * itemsize;
        z += sz[i] * steps * itemsize;
        if (steps == 1) break;
      }
      if (axis < 0) return;
    }
  }

  std::array<Ref<Cell>, 2> inputs_;
  Ref<Cell> output_;
  DType dtype_;
  Device device_;
  std::size_t arity_;
  Loop loop_;
  std::array<Cell, 2> converted_;
  Walk walk_;
};

}  // namespace

std::unique_ptr<Thunk> make_cpu_thunk(Arithmetic kind, const ThunkContext& context) {
  return std::make_unique<CpuThunk>(kind, context);
}

}  // namespace spanwise::ops
