// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ranges.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops {
namespace {

std::int64_t arange_length(double start, double stop, double step) {
  if (step == 0) fail<ArgumentError>("arange: step is 0");
  const double length = std::ceil((stop - start) / step);
  if (!(std::abs(length) < 0x1p53))
    fail<ArgumentError>("arange: expected finite numbers and fewer than 2^53 elements, got start ",
                        start, ", stop ", stop, ", step ", step);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(length));
}

/// numpy.arange(start, stop, step) of three numbers that the graph computes; they are read on the
/// host.
class Arange final : public NamedOp {
 public:
  explicit Arange(std::string_view dtype)
      : NamedOp(text("Arange{", DType::parse(dtype), '}')), dtype_(DType::parse(dtype)) {}
  bool takes_host_scalars() const override { return true; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 3);
    std::optional<double> numbers[3];
    for (std::size_t i = 0; i < 3; ++i) {
      const TensorType& type = inputs[i].type();
      if (type.rank() != 0 || type.dtype().is_complex() || !type.dtype().is_computable())
        fail<GraphError>(name(), ": input ", i, ": expected a real number of rank 0, got ", type);
      numbers[i] = expression::constant_number(inputs[i]);
    }
    const bool is_known = numbers[0] && numbers[1] && numbers[2];
    const std::int64_t length =
        is_known ? arange_length(*numbers[0], *numbers[1], *numbers[2]) : TensorType::any;
    return make_apply(*this, inputs, TensorType(dtype_, Shape{length}));
  }

  // The result is piecewise constant in the three numbers; Theano's ARange is disconnected, too.
  bool connects(const Apply&, int, int) const override { return false; }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return spanwise::make_thunk([cells = context.inputs(), to = context.output(0), dtype = dtype_,
                                 device = context.device()] {
      const Scalar start = item(*cells[0]->value), stop = item(*cells[1]->value),
                   step = item(*cells[2]->value);
      const std::int64_t length =
          arange_length(start.as_double(), stop.as_double(), step.as_double());
      const bool is_integer = start.dtype().is_integer() && step.dtype().is_integer();
      const Array host =
          is_integer ? integer_range(start.as_int64(), step.as_int64(), length)
                     : float_range(start.as_double(), start.as_double() + step.as_double(), length);
      copy(astype(host, dtype), output_array(*to, Shape{length}, dtype, device));
    });
  }

 private:
  DType dtype_;
};

[[maybe_unused]] const bool arange_registered =
    register_op_with<Arange, std::string>("arange", "dtype");

}  // namespace
}  // namespace spanwise::ops
