// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "op_sdk/kernel_op/extents.hpp"
#include "op_sdk/kernel_op/kernel_op.hpp"
#include "spanwise/core/view.hpp"

namespace spanwise::op_sdk {
namespace {

/// An input of the node.
struct BoundInput {
  Ref<Cell> cell;
  Ref<Cell> scratch = make_ref<Cell>();  // a copy in C order, reused by the next call
  const Array* array = nullptr;          // what the running call passes to the kernel
  int overwritten_by = -1;               // index of the output that overwrites it, or -1
};

/// An output of the node.
struct BoundOutput {
  Ref<Cell> cell;
  DType dtype;
  BoundInput* overwritten = nullptr;  // the input in whose memory it is computed, or null
  const Array* array = nullptr;       // what the running call passes to the kernel
};

class KernelThunk final : public Thunk {
 public:
  KernelThunk(Ref<const KernelOp> op, const TypeBindings& bindings, Kernel kernel,
              const ThunkContext& context)
      : op_(std::move(op)),
        declaration_(op_->declaration()),
        kernel_(std::move(kernel)),
        device_(context.device()),
        extents_(declaration_),
        counter_(copy_counter(declaration_.spec.name)) {
    for (std::size_t i = 0; i < declaration_.inputs.size(); ++i)
      inputs_.push_back({context.input(static_cast<int>(i))});
    for (std::size_t i = 0; i < declaration_.outputs.size(); ++i)
      outputs_.push_back(
          {context.output(static_cast<int>(i)), dtype_of(declaration_.outputs[i], bindings)});
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
      kernel_.launch(config, arguments_);
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
                         ? &array_to_overwrite(output, declaration_.outputs[i])
                         : &output_array(*output.cell, extents_.shape(declaration_.outputs[i]),
                                         output.dtype, device_);
    }
    LaunchConfig config{dims("grid", declaration_.grid, 0), dims("block", declaration_.block, 1),
                        value_from(0, "shared", declaration_.shared), Stream::current(device_)};
    if (declaration_.grid.empty()) {
      const std::int64_t threads = config.block.x * config.block.y * config.block.z;
      const std::int64_t size = outputs_.front().array->size();
      config.grid.x = size / threads + (size % threads != 0);
    }
    return config;
  }

  // The overwritten input itself, or a copy where it is on another device, read-only or in another
  // layout.
  const Array& array_to_overwrite(BoundOutput& output, const DeclaredParameter& parameter) {
    const Array& input = *output.overwritten->cell->value;
    const bool is_usable = input.device() == device_ && !input.readonly() &&
                           (parameter.strided || input.layout().is_row_major());
    if (is_usable) {
      counter_.shared.fetch_add(1, std::memory_order_relaxed);
      output.cell->value = input;
      return *output.cell->value;
    }
    return copy_in_c_order(input, *output.cell);
  }

  Dim3 dims(const char* field, const std::vector<Expression>& extents, std::int64_t min) const {
    Dim3 dims;
    std::int64_t* const components[] = {&dims.x, &dims.y, &dims.z};
    for (std::size_t i = 0; i < extents.size(); ++i)
      *components[i] = value_from(min, field, extents[i]);
    return dims;
  }

  // The value of an expression of the launch configuration, which must be at least `min`.
  std::int64_t value_from(std::int64_t min, const char* field, const Expression& expression) const {
    const std::int64_t value = extents_.value(expression);
    if (value < min)
      fail<ArgumentError>(declaration_.spec.name, ": ", field, ": ", expression.text(), " = ",
                          value, "; expected at least ", min);
    return value;
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
        array = &copy_in_c_order(*array, *input.scratch);
      }
    }
    input.array = array;
  }

  // Copies `array`, which may be the one in `scratch`, into `scratch`.
  const Array& copy_in_c_order(const Array& array, Cell& scratch) {
    counter_.copied.fetch_add(1, std::memory_order_relaxed);
    counter_.bytes_copied.fetch_add(array.nbytes(), std::memory_order_relaxed);
    if (&array == (scratch.value ? &*scratch.value : nullptr))
      return scratch.value.emplace(contiguous(Array(array)));
    const Array& target = output_array(scratch, array.shape(), array.dtype(), device_);
    copy(array, target);
    return target;
  }

  // Arrays are passed as addresses, which the launch does not check again, since the declaration
  // was checked against the kernel's parameters. An input is ordered as a read, even if the
  // kernel's parameter is not const.
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
  Kernel kernel_;
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
                                         Kernel kernel, const ThunkContext& context) {
  return std::make_unique<KernelThunk>(std::move(op), bindings, std::move(kernel), context);
}

}  // namespace spanwise::op_sdk
