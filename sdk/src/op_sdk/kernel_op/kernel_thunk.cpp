// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "op_sdk/kernel_op/extents.hpp"
#include "op_sdk/kernel_op/kernel_op.hpp"
#include "spanwise/view.hpp"

namespace spanwise::op_sdk {
namespace {

/// One input of a call.
struct BoundInput {
  Ref<Cell> cell;
  Ref<Cell> scratch = make_ref<Cell>();  // a copy in C order, reused by the next call
  const Array* array = nullptr;
  int overwritten_by = -1;  // index of the output that overwrites it, or -1
};

struct BoundOutput {
  Ref<Cell> cell;
  DType dtype;
  BoundInput* overwritten = nullptr;
  const Array* array = nullptr;
};

class KernelThunk final : public Thunk {
 public:
  KernelThunk(Ref<const KernelOp> op, const TypeBindings& bindings, Kernel function,
              const ThunkContext& context)
      : op_(std::move(op)),
        declaration_(op_->declaration()),
        function_(std::move(function)),
        device_(context.device()),
        extents_(declaration_),
        counter_(copy_counter(declaration_.spec.name)) {
    for (std::size_t i = 0; i < declaration_.inputs.size(); ++i)
      inputs_.push_back({context.input(static_cast<int>(i))});
    for (std::size_t i = 0; i < declaration_.outputs.size(); ++i)
      outputs_.push_back(
          {context.output(static_cast<int>(i)), *bindings.dtype_of(declaration_.outputs[i])});
    for (const auto& [output, inputs] : declaration_.overwrites) {
      BoundInput& input = inputs_[static_cast<std::size_t>(inputs.front())];
      input.overwritten_by = output;
      outputs_[static_cast<std::size_t>(output)].overwritten = &input;
    }
    shapes_.resize(inputs_.size());
    arguments_.reserve(declaration_.arguments.size());
    views_.reserve(declaration_.arguments.size());
  }

  bool is_async() const override { return true; }
  std::vector<int> run() override {
    for (std::size_t i = 0; i < inputs_.size(); ++i) shapes_[i] = &inputs_[i].cell->value->shape();
    extents_.bind(shapes_);
    const LaunchConfig config = launch_config();
    if (config.grid.x > 0 && config.grid.y > 0 && config.grid.z > 0) {
      for (std::size_t i = 0; i < inputs_.size(); ++i) prepare(inputs_[i], declaration_.inputs[i]);
      gather_arguments(*config.stream);
      function_.launch(config, arguments_);
      for (BoundInput& input : inputs_) input.array = nullptr;
    }
    return {};
  }

 private:
  // Also allocates the outputs, since the default grid covers the first one.
  LaunchConfig launch_config() {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      BoundOutput& output = outputs_[i];
      output.array = output.overwritten != nullptr
                         ? &taken_over(output, declaration_.outputs[i])
                         : &output_array(*output.cell, extents_.shape(declaration_.outputs[i]),
                                         output.dtype, device_);
    }
    LaunchConfig config{dims(declaration_.grid), dims(declaration_.block), shared_bytes(),
                        Stream::current(device_)};
    if (declaration_.grid.empty()) {
      const std::int64_t threads = config.block.x * config.block.y * config.block.z;
      const std::int64_t size = outputs_.front().array->size();
      config.grid.x = size / threads + (size % threads != 0);
    } else {
      check("grid", declaration_.grid, config.grid, 0);
    }
    return config;
  }

  // The overwritten input itself, or a copy where it is on another device, read-only or in another
  // layout.
  const Array& taken_over(BoundOutput& output, const DeclaredParameter& parameter) {
    const Array& input = *output.overwritten->cell->value;
    const bool serves = input.device() == device_ && !input.readonly() &&
                        (parameter.strided || input.layout().is_row_major());
    if (serves) {
      counter_.shared.fetch_add(1, std::memory_order_relaxed);
      output.cell->value = input;
      return *output.cell->value;
    }
    return copied(input, *output.cell);
  }

  Dim3 dims(const std::vector<Expression>& extents) const {
    Dim3 dims;
    std::int64_t* const places[] = {&dims.x, &dims.y, &dims.z};
    for (std::size_t i = 0; i < std::min(extents.size(), std::size(places)); ++i)
      *places[i] = extents_.value(extents[i]);
    if (&extents == &declaration_.block) check("block", extents, dims, 1);
    return dims;
  }

  void check(const char* what, const std::vector<Expression>& extents, const Dim3& got,
             std::int64_t min_extent) const {
    if (got.x >= min_extent && got.y >= min_extent && got.z >= min_extent) return;
    const std::int64_t values[] = {got.x, got.y, got.z};
    for (std::size_t i = 0; i < extents.size(); ++i)
      if (values[i] < min_extent)
        fail<ArgumentError>(declaration_.spec.name, ": ", what, ": ", extents[i].text(), " = ",
                            values[i], "; expected at least ", min_extent);
  }

  std::int64_t shared_bytes() const {
    const std::int64_t bytes = extents_.value(declaration_.shared);
    if (bytes < 0)
      fail<ArgumentError>(declaration_.spec.name, ": shared: ", declaration_.shared.text(), " = ",
                          bytes, "; expected at least 0");
    return bytes;
  }

  void prepare(BoundInput& input, const DeclaredParameter& parameter) {
    if (input.overwritten_by >= 0) {
      input.array = outputs_[static_cast<std::size_t>(input.overwritten_by)].array;
      return;
    }
    const Array* array = &*input.cell->value;
    if (array->device() != device_)
      array = &input.scratch->value.emplace(to_device(*array, device_));
    if (!parameter.strided) {
      if (array->layout().is_row_major()) {
        counter_.shared.fetch_add(1, std::memory_order_relaxed);
      } else {
        array = &copied(*array, *input.scratch);
      }
    }
    input.array = array;
  }

  const Array& copied(const Array& array, Cell& scratch) {
    counter_.copied.fetch_add(1, std::memory_order_relaxed);
    counter_.bytes_copied.fetch_add(array.nbytes(), std::memory_order_relaxed);
    if (&array == (scratch.value ? &*scratch.value : nullptr))
      return scratch.value.emplace(contiguous(Array(array)));
    const Array& target = output_array(scratch, array.shape(), array.dtype(), device_);
    copy(array, target);
    return target;
  }

  // Arrays are passed as addresses without another check, since the declaration was checked against
  // the kernel's parameters. An input is ordered as a read, even if the kernel's parameter is not
  // const.
  void gather_arguments(const Stream& stream) {
    arguments_.clear();
    views_.clear();
    for (const KernelArgument& argument : declaration_.arguments) {
      const auto index = static_cast<std::size_t>(argument.index);
      switch (argument.kind) {
        case KernelArgument::Kind::input:
          add(stream, *inputs_[index].array, declaration_.inputs[index], false);
          break;
        case KernelArgument::Kind::output:
          add(stream, *outputs_[index].array, declaration_.outputs[index], true);
          break;
        case KernelArgument::Kind::scalar:
          add(argument.scalar);
          break;
        case KernelArgument::Kind::expression:
          arguments_.push_back(KernelArg::integer(extents_.value(argument.expression)));
      }
    }
  }

  void add(const Stream& stream, const Array& array, const DeclaredParameter& parameter,
           bool writes) {
    order_use(stream, array, writes);
    if (parameter.strided)
      arguments_.push_back(KernelArg::bytes(views_.emplace_back(array).bytes()));
    else
      arguments_.push_back(KernelArg::address(reinterpret_cast<std::uintptr_t>(array.data())));
  }

  // Passed like a Python number: converted to the parameter's type if that keeps its value.
  void add(const Scalar& scalar) {
    if (scalar.dtype().is_integer() && scalar.fits(int64))
      arguments_.push_back(KernelArg::integer(scalar.as_int64()));
    else if (scalar.dtype().is_floating())
      arguments_.push_back(KernelArg::real(scalar.as_double()));
    else
      arguments_.emplace_back(scalar);
  }

  Ref<const KernelOp> op_;
  const KernelDeclaration& declaration_;
  Kernel function_;
  Device device_;
  NamedExtents extents_;
  CopyCounter& counter_;
  std::vector<BoundInput> inputs_;
  std::vector<BoundOutput> outputs_;
  std::vector<const Shape*> shapes_;
  std::vector<KernelArg> arguments_;
  std::vector<PackedView> views_;
};

}  // namespace

std::unique_ptr<Thunk> make_kernel_thunk(Ref<const KernelOp> op, const TypeBindings& bindings,
                                         Kernel function, const ThunkContext& context) {
  return std::make_unique<KernelThunk>(std::move(op), bindings, std::move(function), context);
}

}  // namespace spanwise::op_sdk
