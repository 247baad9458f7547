// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_program.hpp"

#include <algorithm>
#include <optional>

#include "../cuda/cuda_plan.hpp"
#include "../cuda/cuda_walk.hpp"
#include "spanwise/interpreter_lock.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {
namespace {

constexpr int pack_bytes = 16;

bool fits_packs(const Array& array) {
  return reinterpret_cast<std::uintptr_t>(array.data()) % pack_bytes == 0;
}

}  // namespace

/// One run.
class CudaProgram::Launch {
 public:
  Launch(std::span<const Array* const> inputs, std::span<const Array> outputs)
      : inputs_(inputs), outputs_(outputs) {
    layout_.patterns.reserve(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i]->device().is_cuda())
        layout_.patterns.push_back(AccessPattern::contiguous);
      else
        layout_.numbers |= std::uint64_t{1} << i;
    }
    for (const Array& output : outputs) widest_ = std::max(widest_, output.dtype().itemsize());
    if (!is_dense()) plan();
  }

  const ProgramLayout& layout() const noexcept { return layout_; }

  void run(const Kernel& kernel) {
    const Stream stream = Stream::current(outputs_[0].device());
    std::vector<KernelArg> arguments;
    arguments.reserve(inputs_.size() + outputs_.size() + 2);
    int place = 0;  // among the arrays of the walk
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Array& input = *inputs_[i];
      if (is_number(i)) {
        order_host_use(input, false);  // the number may be on its way from a GPU
        arguments.push_back(
            KernelArg::bytes(std::span(static_cast<const std::byte*>(input.data()),
                                       static_cast<std::size_t>(input.dtype().itemsize()))));
        continue;
      }
      order_use(stream, input, false);
      arguments.push_back(address(input, place++));
    }
    for (const Array& output : outputs_) {
      order_use(stream, output, true);
      arguments.push_back(address(output, place));
    }
    if (walk_) arguments.push_back(KernelArg::bytes(walk_->bytes()));
    const std::int64_t steps = walk_ ? steps_of(layout_.kernel, *walk_) : outputs_[0].size();
    if (layout_.kernel.kind != KernelLayout::Kind::tiles) arguments.push_back(KernelArg(steps));
    const std::int64_t grid = (steps - 1) / steps_per_block(layout_.kernel) + 1;
    kernel.launch({{grid, 1, 1}, {cuda_block, 1, 1}, 0, stream}, arguments);
  }

 private:
  bool is_number(std::size_t i) const { return (layout_.numbers >> i & 1) != 0; }

  // Every array contiguous and aligned, or one element.
  bool is_dense() {
    const Shape& shape = outputs_[0].shape();
    for (const Array& output : outputs_)
      if (!output.layout().is_row_major() || !fits_packs(output)) return false;
    std::size_t read = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (is_number(i)) continue;
      const Array& input = *inputs_[i];
      AccessPattern& pattern = layout_.patterns[read++];
      widest_ = std::max(widest_, input.dtype().itemsize());
      if (input.size() == 1)
        pattern = AccessPattern::constant;
      else if (input.shape() != shape || !input.layout().is_row_major() || !fits_packs(input))
        return false;
    }
    layout_.kernel.kind = KernelLayout::Kind::dense;
    layout_.kernel.width = std::max(1, pack_bytes / widest_);
    return true;
  }

  void plan() {
    std::vector<const Layout*> layouts;
    std::vector<OperandInfo> operands;
    std::size_t read = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (is_number(i)) continue;
      layouts.push_back(&inputs_[i]->layout());
      operands.push_back({reinterpret_cast<std::uintptr_t>(inputs_[i]->data()),
                          inputs_[i]->dtype().itemsize(), &layout_.patterns[read++]});
    }
    layouts.push_back(&outputs_[0].layout());
    int widest_output = 1;
    for (const Array& output : outputs_)
      widest_output = std::max(widest_output, output.dtype().itemsize());
    operands.push_back(
        {reinterpret_cast<std::uintptr_t>(outputs_[0].data()), widest_output, nullptr});
    const Walk walk(outputs_[0].shape(), layouts, static_cast<int>(layouts.size()) - 1);
    layout_.kernel = {.kind = KernelLayout::Kind::strided};
    layout_.kernel.is_large = walk.size() > INT32_MAX;
    plan_on_cuda(layout_.kernel, walk_.emplace(walk), operands);
    if (layout_.kernel.kind == KernelLayout::Kind::strided)
      std::fill(layout_.patterns.begin(), layout_.patterns.end(), AccessPattern::contiguous);
  }

  // Of the walk's array at `place`: where its first element is.
  KernelArg address(const Array& array, int place) const {
    const std::int64_t first = walk_ ? walk_->offset(place) * array.dtype().itemsize() : 0;
    return KernelArg::address(reinterpret_cast<std::uintptr_t>(array.data()) +
                              static_cast<std::uintptr_t>(first));
  }

  std::span<const Array* const> inputs_;
  std::span<const Array> outputs_;
  ProgramLayout layout_;
  std::optional<CudaWalk> walk_;  // of all kinds but dense
  int widest_ = 1;
};

const Kernel& CudaProgram::kernel_for(const ProgramLayout& layout, Device device) {
  for (const Compiled& known : kernels_)
    if (known.layout == layout && known.device == device) return known.kernel;
  const InterpreterUnlocked unlocked;
  ModuleOptions options;
  options.device = device;
  // As on the host, products are rounded before they are added.
  options.options = {"--fmad=false"};
  SourceModule module(program_source(program_, layout), options);
  return kernels_.emplace_back(layout, device, module.get_function("run")).kernel;
}

void CudaProgram::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  if (outputs[0].size() == 0) return;
  Launch launch(inputs, outputs);
  launch.run(kernel_for(launch.layout(), outputs[0].device()));
}

}  // namespace spanwise::ops
