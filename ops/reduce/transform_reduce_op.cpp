// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce_op.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "check_options.hpp"
#include "computed_elements.hpp"
#include "cuda/cuda_module.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::ops::reduce {
namespace {

class TransformReduceThunk final : public Thunk {
 public:
  TransformReduceThunk(const spanwise::Op& elements, reduce::Operation op, const Options& options,
                       const ThunkContext& context)
      : node_(elements.make_node(context.node().inputs())),
        source_(source_of(elements, context)),
        op_(op),
        options_(options),
        output_(context.output(0)),
        device_(context.device()),
        result_(context.node().output(0).type().dtype()),
        stand_in_(stand_in(node_->output(0).type().dtype(), context.device())) {}

  bool is_async() const override { return true; }
  std::vector<int> run() override {
    if (const std::optional<Shape> shape = source_->begin()) {
      set_output(*shape);
      reduce_computed(op_, {*source_, *kernels_}, stand_in_.broadcast_to(*shape), options_);
    } else {
      const Array whole = source_->compute_all();
      set_output(whole.shape());
      reduce(op_, whole, options_);
    }
    options_.out = nullptr;
    return {};
  }

 private:
  // An array for its dtype, whose one element is never read. Its memory is static, so that a
  // function holds none of an allocator for it.
  static Array stand_in(DType dtype, Device device) {
    alignas(16) static std::byte element[16];
    return Array(Array::Inside{}, Storage::adopt(element, sizeof element, device, nullptr, nullptr),
                 Layout::row_major(Shape()), dtype);
  }

  std::unique_ptr<ElementSource> source_of(const spanwise::Op& elements,
                                           const ThunkContext& context) const {
    const ThunkContext node_context(*node_, context.device(), context.inputs(), {make_ref<Cell>()},
                                    {true});
    return dynamic_cast<const ElementProducer&>(elements).element_source(node_context);
  }

  void set_output(const Shape& shape) {
    options_.out = &output_array(*output_, reduced_shape(shape, options_.axes, options_.keepdims),
                                 result_, device_);
  }

  Ref<Apply> node_;
  std::unique_ptr<ElementSource> source_;
  reduce::Operation op_;
  Options options_;
  Ref<Cell> output_;
  Device device_;
  DType result_;
  Array stand_in_;
  std::unique_ptr<ReduceKernelTable> kernels_ = std::make_unique<ReduceKernelTable>();
};

class TransformReduceOp final : public NamedOp {
 public:
  TransformReduceOp(Ref<const spanwise::Op> elements, Ref<const spanwise::Op> reduction,
                    reduce::Operation op, const Options& options)
      : NamedOp(text(reduction->name(), "(", elements->name(), ")")),
        elements_(std::move(elements)),
        reduction_(std::move(reduction)),
        op_(op),
        options_(options) {}

  bool equals(const spanwise::Op& other) const override {
    const auto* same = dynamic_cast<const TransformReduceOp*>(&other);
    return same != nullptr && same->elements_->equals(*elements_) &&
           same->reduction_->equals(*reduction_);
  }
  std::size_t hash() const override { return elements_->hash() * 31 + reduction_->hash(); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    const Variable elements = elements_->make_node(inputs)->output(0);
    const Ref<Apply> reduced = reduction_->make_node(std::span(&elements, 1));
    return make_apply(*this, inputs, reduced->output(0).type());
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<TransformReduceThunk>(*elements_, op_, options_, context);
  }
  bool takes_host_scalars() const override { return elements_->takes_host_scalars(); }

 private:
  Ref<const spanwise::Op> elements_, reduction_;
  reduce::Operation op_;
  Options options_;
};

}  // namespace

Ref<const spanwise::Op> transform_reduce_op(Ref<const spanwise::Op> elements,
                                            Ref<const spanwise::Op> reduction, Operation op,
                                            const Options& options) {
  return make_ref<const TransformReduceOp>(std::move(elements), std::move(reduction), op, options);
}

}  // namespace spanwise::ops::reduce
