// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce_op.hpp"

#include <cctype>
#include <string>
#include <utility>

#include "check_options.hpp"
#include "computed_elements.hpp"
#include "spanwise/graph/elementwise.hpp"

namespace spanwise::ops::reduce {
namespace {

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
    return transform_reduce_op(std::move(producer), Ref<const spanwise::Op>(this), op_,
                               options_for(node));
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
