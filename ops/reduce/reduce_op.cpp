// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cctype>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda/reduce_kernels.hpp"
#include "reduce.hpp"
#include "reduce_job.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

// Reductions and scans as ops of graphs, and their derivatives.
namespace spanwise::ops::reduce {
namespace {

using namespace expression;

Variable where(const Variable& condition, const Variable& a, const Variable& b) {
  return call("where", condition, a, b);
}

/// One reduction and the variables in which its derivative is written.
class ReductionGradient {
 public:
  ReductionGradient(const Apply& node, const AxisSet& axes, bool keepdims, const Variable& output)
      : x_(node.inputs()[0]),
        axes_(axes),
        keepdims_(keepdims),
        g_(cast(with_axes(output), x_.type().dtype())),
        out_(cast(with_axes(node.output(0)), x_.type().dtype())) {}

  Cotangent of(Operation op, double correction) const {
    switch (op) {
      case Operation::sum:
        return broadcast_like(g_, x_);
      case Operation::nansum:
        return where(apply("isnan", {x_}), number_like(0, x_), broadcast_like(g_, x_));
      case Operation::mean:
        return broadcast_like(g_ / count(), x_);
      case Operation::prod:
        return product();
      case Operation::var:
        return g_ * (2.0 * deviation()) / (count() - correction);
      case Operation::std:
        return g_ * deviation() / (out_ * (count() - correction));
      case Operation::min:
      case Operation::max:
        return extreme(out_);
      case Operation::ptp:
        return extreme(with_keepdims("max")).variable() - extreme(with_keepdims("min")).variable();
      default:
        return Cotangent::undefined("its result is not of a floating dtype");
    }
  }

 private:
  // The value with the reduced axes kept, of extent 1. A number broadcasts without them.
  Variable with_axes(const Variable& value) const {
    if (keepdims_ || value.type().rank() == 0) return value;
    std::vector<std::int64_t> order;
    std::int64_t next = 0;
    for (int axis = 0; axis < x_.type().rank(); ++axis)
      order.push_back(axes_[static_cast<std::size_t>(axis)] ? -1 : next++);
    return dimshuffle(value, std::move(order));
  }

  // The reduction `op` of `value` over the same axes, with keepdims.
  Variable with_keepdims(const char* op, const Variable& value) const {
    std::vector<std::int64_t> listed;
    for (int axis = 0; axis < x_.type().rank(); ++axis)
      if (axes_[static_cast<std::size_t>(axis)]) listed.push_back(axis);
    return cast(apply(op, {value}, {{"axis", std::move(listed)}, {"keepdims", true}}),
                x_.type().dtype());
  }
  Variable with_keepdims(const char* op) const { return with_keepdims(op, x_); }

  // The number of elements per output.
  Variable count() const {
    Variable total = number_like(1, x_);
    for (int axis = 0; axis < x_.type().rank(); ++axis)
      if (axes_[static_cast<std::size_t>(axis)])
        total = total * cast(extent(x_, axis), x_.type().dtype());
    return total;
  }

  Variable deviation() const { return x_ - with_keepdims("mean"); }

  // The derivative is shared by the elements that have the extreme value.
  Cotangent extreme(const Variable& value) const {
    const Variable hits = cast(call("equal", x_, value), x_.type().dtype());
    return g_ / with_keepdims("sum", hits) * hits;
  }

  // The product of the other elements; not product / element, which is undefined where it is 0.
  Cotangent product() const {
    const Variable is_zero = call("equal", x_, number_like(0, x_));
    const Variable nonzero = where(is_zero, number_like(1, x_), x_);
    const Variable of_nonzero = with_keepdims("prod", nonzero);
    const Variable zeros = with_keepdims("sum", cast(is_zero, x_.type().dtype()));
    const Variable zero = number_like(0, x_);
    const Variable at_zero = where(call("equal", zeros, number_like(1, zeros)), of_nonzero, zero);
    const Variable elsewhere = where(call("equal", zeros, zero), of_nonzero / nonzero, zero);
    return g_ * where(is_zero, at_zero, elsewhere);
  }

  Variable x_;
  AxisSet axes_;
  bool keepdims_;
  Variable g_, out_;  // with the reduced axes
};

// Op::gradient() of a reduction over `axes` applied at `node`; `output` is the derivative with
// respect to its output. `correction` is that of var and std.
Cotangent reduction_gradient(Operation op, const Apply& node, const AxisSet& axes, bool keepdims,
                             double correction, const Variable& output) {
  if (node.inputs()[0].type().dtype().is_complex())
    return Cotangent::undefined("derivatives of complex numbers are not defined");
  return ReductionGradient(node, axes, keepdims, output).of(op, correction);
}

// The same of a cumulative sum or product along `axis`.
Cotangent scan_gradient(Operation op, int axis, const Variable& output) {
  if (op != Operation::sum)
    return Cotangent::undefined(
        "a cumulative product has no derivative here, since its elements may be zero; write it as "
        "the exp of a cumsum of logarithms where they are positive");
  std::string reversed;
  for (int i = 0; i < axis; ++i) reversed += ":, ";
  reversed += "::-1";
  const auto flipped = [&](const Variable& x) {
    return apply("subtensor", {x}, {{"index", reversed}});
  };
  return flipped(apply("cumsum", {flipped(output)}, {{"axis", std::vector<std::int64_t>{axis}}}));
}

// ---- reductions of elements that are computed when they are read

class TransformReduceThunk final : public Thunk {
 public:
  TransformReduceThunk(const spanwise::Op& elements, Operation op, const Options& options,
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
  Operation op_;
  Options options_;
  Ref<Cell> output_;
  Device device_;
  DType result_;
  Array stand_in_;
  std::unique_ptr<ReduceKernelTable> kernels_ = std::make_unique<ReduceKernelTable>();
};

/// The op that computes `op` with `options` of the result of `elements`, an ElementProducer, from
/// the inputs of `elements`, whose result it does not write to memory. `reduction` is the op for
/// the same of an array.
class TransformReduceOp final : public NamedOp {
 public:
  TransformReduceOp(Ref<const spanwise::Op> elements, Ref<const spanwise::Op> reduction,
                    Operation op, const Options& options)
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
  Operation op_;
  Options options_;
};

// ---- the registered ops

/// The properties of an op, parsed from OpProperties.
struct ReduceProperties {
  std::optional<std::vector<std::int64_t>> axes;  ///< nullopt: all
  bool keepdims = false;
  std::optional<DType> dtype;
  double correction = 0;
};

// "Sum{axis=(0,), keepdims=True}".
std::string op_display_name(std::string name, const ReduceProperties& properties) {
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  std::string listed;
  const auto add = [&](const std::string& word) { listed += (listed.empty() ? "" : ", ") + word; };
  if (properties.axes) add(text("axis=", Shape(std::span<const std::int64_t>(*properties.axes))));
  if (properties.keepdims) add("keepdims=True");
  if (properties.dtype) add(text("dtype=", *properties.dtype));
  if (properties.correction != 0) add(text("correction=", properties.correction));
  return name + (listed.empty() ? "" : "{" + listed + "}");
}

ReduceProperties parse_properties(const char* caller, const OpProperties& named) {
  ReduceProperties properties;
  properties.axes = optional_property<std::vector<std::int64_t>>(caller, named, "axis");
  properties.keepdims = optional_property<bool>(caller, named, "keepdims").value_or(false);
  if (const auto dtype = optional_property<std::string>(caller, named, "dtype"))
    properties.dtype = DType::parse(*dtype);
  properties.correction = optional_property<double>(caller, named, "correction").value_or(0);
  return properties;
}

void check_axes(const spanwise::Op& op, const ReduceProperties& properties,
                const TensorType& type) {
  if (!type.dtype().is_computable())
    fail<DTypeError>(op.name(), ": cannot compute on ", type.dtype());
  if (!properties.axes) return;
  for (const std::int64_t axis : *properties.axes)
    if (axis < 0 || axis >= type.rank())
      fail<LayoutError>(op.name(), ": axis ", axis, " is out of bounds for a variable of rank ",
                        type.rank());
}

AxisSet axes_of(const ReduceProperties& properties, int rank) {
  AxisSet axes;
  if (properties.axes)
    for (const std::int64_t axis : *properties.axes) axes.set(static_cast<std::size_t>(axis));
  else
    for (int axis = 0; axis < rank; ++axis) axes.set(static_cast<std::size_t>(axis));
  return axes;
}

class ReduceOp final : public NamedOp, public ElementConsumer {
 public:
  ReduceOp(Operation op, ReduceProperties properties)
      : NamedOp(op_display_name(name_of(op), properties)),
        op_(op),
        properties_(std::move(properties)) {}

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    check_axes(*this, properties_, type);
    return make_apply(*this, inputs,
                      TensorType(result_dtype(op_, type.dtype(), properties_.dtype),
                                 reduced_shape(type.shape(), axes_of(properties_, type.rank()),
                                               properties_.keepdims),
                                 type.device()));
  }

  std::vector<ExtentSource> extent_sources(const Apply& node, int, int axis) const override {
    if (properties_.keepdims) return {{0, axis}};
    const int rank = node.inputs()[0].type().rank();
    const AxisSet reduced = axes_of(properties_, rank);
    for (int from = 0, kept = 0; from < rank; ++from)
      if (!reduced[static_cast<std::size_t>(from)] && kept++ == axis) return {{0, from}};
    return {};
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    const AxisSet axes = axes_of(properties_, node.inputs()[0].type().rank());
    return {reduction_gradient(op_, node, axes, properties_.keepdims, properties_.correction,
                               outputs[0].variable())};
  }

  Ref<const spanwise::Op> fused_with(Ref<const spanwise::Op> producer,
                                     const Apply& node) const override {
    if (!reads_once(op_)) return {};
    return make_ref<const TransformReduceOp>(std::move(producer), Ref<const spanwise::Op>(this),
                                             op_, options_for(node));
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([op = op_, options = options_for(context.node()),
                             from = context.input(0), to = context.output(0),
                             device = context.device(),
                             dtype = context.node().output(0).type().dtype()]() mutable {
      const Array source = to_device(*from->value, device);
      const Shape shape = reduced_shape(source.shape(), options.axes, options.keepdims);
      options.out = &output_array(*to, shape, dtype, device);
      reduce(op, source, options);
    });
  }

 private:
  Options options_for(const Apply& node) const {
    return {.axes = axes_of(properties_, node.inputs()[0].type().rank()),
            .keepdims = properties_.keepdims,
            .dtype = properties_.dtype,
            .correction = properties_.correction};
  }

  Operation op_;
  ReduceProperties properties_;
};

class ScanOp final : public SameShapeOp {
 public:
  ScanOp(Operation op, ReduceProperties properties)
      : SameShapeOp(op_display_name(registered_name(op), properties)),
        op_(op),
        properties_(std::move(properties)) {
    if (!properties_.axes || properties_.axes->size() != 1)
      fail<ArgumentError>(name(), ": expected one axis");
  }
  static const char* registered_name(Operation op) {
    return op == Operation::sum ? "cumsum" : "cumprod";
  }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    check_axes(*this, properties_, type);
    return make_apply(*this, inputs,
                      TensorType(result_dtype(op_, type.dtype(), properties_.dtype), type.shape(),
                                 type.device()));
  }

  std::vector<Cotangent> gradient(const Apply&, std::span<const Cotangent> outputs) const override {
    return {scan_gradient(op_, static_cast<int>(properties_.axes->front()), outputs[0].variable())};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return spanwise::make_thunk([op = op_, axis = static_cast<int>(properties_.axes->front()),
                                 requested = properties_.dtype, from = context.input(0),
                                 to = context.output(0), device = context.device(),
                                 dtype = context.node().output(0).type().dtype()] {
      const Array source = to_device(*from->value, device);
      scan(op, source, axis, requested, &output_array(*to, source.shape(), dtype, device));
    });
  }

 private:
  Operation op_;
  ReduceProperties properties_;
};

/// The sum of input 0 over the axes along which input 1 would broadcast to its shape; a view of
/// input 0 where the shapes are equal. Reads only the shape of input 1.
class SumTo final : public NamedOp {
 public:
  SumTo() : NamedOp("SumTo") {}
  AliasMap view_map() const override { return {{0, {0}}}; }
  bool reads_only_shape(int input) const override { return input == 1; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 2);
    const TensorType &from = inputs[0].type(), &like = inputs[1].type();
    if (like.rank() > from.rank())
      fail<LayoutError>(name(), ": expected a shape of at most ", from.rank(), " axes, got ", like);
    return make_apply(*this, inputs, TensorType(from.dtype(), like.shape(), from.device()));
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    return {broadcast_like(outputs[0].variable(), node.inputs()[0]), Cotangent()};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([from = context.input(0), like = context.input(1),
                             to = context.output(0), device = context.device()] {
      const Array source = to_device(*from->value, device);
      to->value = summed(source, like->value->shape());
    });
  }

 private:
  static Array summed(const Array& source, const Shape& shape) {
    const int leading = source.rank() - shape.size();
    Options options{.keepdims = true, .dtype = source.dtype()};
    for (int axis = 0; axis < source.rank(); ++axis) {
      const std::int64_t extent = axis < leading ? 1 : shape[axis - leading];
      if (axis < leading || (extent == 1 && source.shape()[axis] != 1))
        options.axes.set(static_cast<std::size_t>(axis));
      else if (extent != source.shape()[axis])
        fail<LayoutError>("SumTo: shape ", shape, " does not broadcast to ", source.shape());
    }
    if (options.axes.none()) return source;
    return reshape(reduce(Operation::sum, source, options), shape);
  }
};

bool register_reductions() {
  for (int i = 0; i <= static_cast<int>(Operation::argmax); ++i) {
    const auto op = static_cast<Operation>(i);
    register_op(name_of(op), [op](const OpProperties& properties) -> Ref<const spanwise::Op> {
      expect_properties(name_of(op), properties, {"axis", "keepdims", "dtype", "correction"});
      return make_ref<const ReduceOp>(op, parse_properties(name_of(op), properties));
    });
  }
  for (const Operation op : {Operation::sum, Operation::prod}) {
    const char* caller = ScanOp::registered_name(op);
    register_op(caller, [op, caller](const OpProperties& properties) -> Ref<const spanwise::Op> {
      expect_properties(caller, properties, {"axis", "dtype"});
      return make_ref<const ScanOp>(op, parse_properties(caller, properties));
    });
  }
  return true;
}

[[maybe_unused]] const bool reductions_registered = register_reductions();
[[maybe_unused]] const bool sum_to_registered =
    register_op("sum_to", [] { return Ref<const spanwise::Op>(make_ref<const SumTo>()); });

}  // namespace

OpProperties properties_for(Operation op, int rank, const Options& options) {
  OpProperties properties;
  std::vector<std::int64_t> axes;
  for (int axis = 0; axis < rank; ++axis)
    if (options.axes[static_cast<std::size_t>(axis)]) axes.push_back(axis);
  if (static_cast<int>(axes.size()) < rank) properties.emplace("axis", std::move(axes));
  if (options.keepdims) properties.emplace("keepdims", true);
  // Default values are left out.
  if (options.dtype) properties.emplace("dtype", text(*options.dtype));
  const bool is_spread = op == Operation::var || op == Operation::std;
  if (is_spread && options.correction != 0) properties.emplace("correction", options.correction);
  return properties;
}

}  // namespace spanwise::ops::reduce
