// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "arithmetic.hpp"
#include "cuda_source.hpp"
#include "walk.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t block = 256;
constexpr std::int64_t dense_block = 4 * block;  // elements that one block of `dense` does

std::int64_t blocks_for(std::int64_t size, std::int64_t per_block) {
  return size / per_block + (size % per_block != 0);
}

std::vector<DType> operand_dtypes(const Apply& node) {
  std::vector<DType> dtypes;
  for (const Variable& input : node.inputs()) dtypes.push_back(input.type().dtype());
  return dtypes;
}

SourceModule compile(Arithmetic kind, const ThunkContext& context, int rank) {
  ModuleOptions options;
  options.device = context.device();
  const Variable output = context.node().output(0);
  return SourceModule(
      cuda_source(kind, operand_dtypes(context.node()), output.type().dtype(), rank), options);
}

class CudaThunk final : public Thunk {
 public:
  CudaThunk(Arithmetic kind, const ThunkContext& context)
      : rank_(std::max(1, context.node().output(0).type().rank())),
        module_(compile(kind, context, rank_)),
        dense_(module_.get_function("dense")),
        flat_(module_.get_function("flat")),
        strided32_(module_.get_function("strided32")),
        strided64_(module_.get_function("strided64")),
        output_(context.output(0)),
        dtype_(context.node().output(0).type().dtype()),
        device_(context.device()),
        arity_(static_cast<std::size_t>(facts(kind).arity)) {
    for (std::size_t i = 0; i < arity_; ++i) inputs_[i] = context.input(static_cast<int>(i));
  }

  std::vector<int> run() override {
    const Array* operands[2] = {};
    for (std::size_t i = 0; i < arity_; ++i) operands[i] = &operand(i);
    const std::span<const Array* const> all(operands, arity_);
    const Array& result = result_array(*output_, all, result_shape(all), dtype_, device_);
    plan_walk(all, result, walk_);
    if (walk_.size > 0) launch(all, result);
    return {};
  }

 private:
  const Array& operand(std::size_t i) {
    const Array& given = *inputs_[i]->value;
    if (given.device() == device_) return given;
    return moved_[i].value.emplace(to_device(given, device_));
  }

  Shape result_shape(std::span<const Array* const> operands) const {
    if (arity_ == 1 || operands[0]->shape() == operands[1]->shape()) return operands[0]->shape();
    const Shape shapes[] = {operands[0]->shape(), operands[1]->shape()};
    return broadcast_shapes(shapes);
  }

  // The kernels take addresses: what a launch would check of arrays is known here, and strides are
  // what they are for.
  void launch(std::span<const Array* const> operands, const Array& result) {
    const Stream stream = Stream::current(device_);
    for (const Array* operand : operands) order_use(stream, *operand, false);
    order_use(stream, result, true);
    const bool is_flat = walk_.rank() == 1;
    const bool is_dense =
        is_flat && std::all_of(walk_.strides.begin(), walk_.strides.end(),
                               [](const auto& strides) { return strides[0] == 1; });
    arguments_.clear();
    for (std::size_t i = 0; i < arity_; ++i) {
      arguments_.push_back(address(*operands[i]));
      if (is_flat && !is_dense) arguments_.push_back(KernelArg(walk_.strides[i][0]));
    }
    arguments_.push_back(address(result));
    if (!is_flat) arguments_.push_back(KernelArg::bytes(packed_walk()));
    arguments_.push_back(KernelArg(walk_.size));
    const Function& kernel = is_dense                 ? dense_
                             : is_flat                ? flat_
                             : walk_.size < INT32_MAX ? strided32_
                                                      : strided64_;
    const std::int64_t grid = blocks_for(walk_.size, is_dense ? dense_block : block);
    kernel.launch({{grid, 1, 1}, {block, 1, 1}, 0, stream}, arguments_);
  }

  static KernelArg address(const Array& array) {
    return KernelArg::address(reinterpret_cast<std::uintptr_t>(array.data()));
  }

  // Axes that the walk has merged away stand in front, with extent 1.
  std::span<const std::byte> packed_walk() {
    const auto rank = static_cast<std::size_t>(rank_);
    const std::size_t missing = rank - walk_.shape.size();
    packed_.assign(rank * (1 + arity_), 0);
    std::fill_n(packed_.begin(), missing, 1);
    std::copy(walk_.shape.begin(), walk_.shape.end(),
              packed_.begin() + static_cast<std::ptrdiff_t>(missing));
    for (std::size_t i = 0; i < arity_; ++i)
      std::copy(walk_.strides[i].begin(), walk_.strides[i].end(),
                packed_.begin() + static_cast<std::ptrdiff_t>(rank * (1 + i) + missing));
    return std::as_bytes(std::span(packed_));
  }

  int rank_;
  SourceModule module_;
  Function dense_, flat_, strided32_, strided64_;
  std::array<Ref<Cell>, 2> inputs_;
  Ref<Cell> output_;
  DType dtype_;
  Device device_;
  std::size_t arity_;
  std::array<Cell, 2> moved_;
  Walk walk_;
  std::vector<KernelArg> arguments_;
  std::vector<std::int64_t> packed_;
};

}  // namespace

std::unique_ptr<Thunk> make_cuda_thunk(Arithmetic kind, const ThunkContext& context) {
  return std::make_unique<CudaThunk>(kind, context);
}

}  // namespace spanwise::ops
