// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "shape_functions.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/strided/strided_call.hpp"
#include "spanwise/strided/walk.hpp"

// concatenate, of arrays and in graphs.
namespace spanwise::ops {
namespace {

// Such arrays are copied by memcpy, since planning a copy would take longer.
bool is_small_and_idle_on_host(const Array& array) {
  return array.device().is_cpu() && array.nbytes() < 1 << 14 && array.layout().is_row_major() &&
         array.storage().uses().none();
}

// ---- On a GPU: all parts by one kernel, which takes less time than a copy for each of small
// arrays.

using strided::ArrayRole;

strided::Body join_body(int itemsize, int parts) {
  strided::Body body;
  body.prelude = itemsize == 16 ? "struct Word { unsigned long long low, high; };\n"
                                : text("typedef ", word_text(itemsize), " Word;\n");
  body.prelude += text("struct Parts { long long begin[", parts, "], step[", parts, "]; };\n");
  body.parameters = "const Parts parts, ";
  body.arrays = {{"Word", ArrayRole::write}};
  body.arrays.insert(body.arrays.end(), static_cast<std::size_t>(parts),
                     {"Word", ArrayRole::read_in_place});
  body.arrays.push_back({"long long", ArrayRole::index});
  body.statements = text("    const long long at = sw_e", parts + 1, ";\n    ");
  for (int i = parts - 1; i > 0; --i)
    body.statements += text("if (at >= parts.begin[", i, "]) sw_e0 = (&sw_e", i + 1,
                            ")[(at - parts.begin[", i, "]) * parts.step[", i, "]];\n    else ");
  body.statements += "sw_e0 = (&sw_e1)[at * parts.step[0]];\n";
  return body;
}

constexpr std::size_t max_joined_parts = 8;

// Whether join_by_kernel() takes the arrays, and one kernel less is worth more than wider accesses.
bool fits_kernel(const Array& target, std::span<const Array> arrays) {
  constexpr std::int64_t max_bytes = 4 << 20;
  return !runs_on_host(target.device()) && arrays.size() > 1 && arrays.size() <= max_joined_parts &&
         target.nbytes() <= max_bytes && is_item_aligned(target) &&
         std::all_of(arrays.begin(), arrays.end(), [&](const Array& array) {
           return array.size() > 0 && array.dtype() == target.dtype() && is_item_aligned(array) &&
                  array.device() == target.device();
         });
}

// Copies the arrays to adjacent parts of `target` along `axis`.
void copy_parts(const Array& target, std::span<const Array> arrays, int axis) {
  if (fits_kernel(target, arrays)) return join_by_kernel(arrays, axis, target);
  Layout part = target.layout();
  // Whether the parts follow one another in memory: all axes before `axis` have extent 1.
  const bool are_parts_dense = target.device().is_cpu() && target.storage().uses().none() &&
                               target.layout().is_row_major() &&
                               std::all_of(target.shape().begin(), target.shape().begin() + axis,
                                           [](std::int64_t extent) { return extent == 1; });
  auto* data = static_cast<std::byte*>(target.storage().data());
  const std::int64_t itemsize = target.dtype().itemsize();
  for (const Array& array : arrays) {
    part.shape[axis] = array.shape()[axis];
    if (array.size() > 0) {
      if (are_parts_dense && array.dtype() == target.dtype() && is_small_and_idle_on_host(array))
        std::memcpy(data + part.offset * itemsize, array.data(),
                    static_cast<std::size_t>(array.nbytes()));
      else
        copy(array, target.with_layout(part));
    }
    part.offset += part.shape[axis] * part.strides[axis];
  }
}

std::vector<Shape> shapes_of(std::span<const Array> arrays) {
  std::vector<Shape> shapes;
  shapes.reserve(arrays.size());
  for (const Array& array : arrays) shapes.push_back(array.shape());
  return shapes;
}

}  // namespace

void join_by_kernel(std::span<const Array> arrays, int axis, const Array& target) {
  static auto& bodies = *new strided::BodyTable<std::tuple<int, int>>;
  const int itemsize = target.dtype().itemsize(), parts = static_cast<int>(arrays.size());
  Layout position{target.shape(), Strides(target.rank())};
  position.strides[axis] = 1;
  strided::StridedCall call(target.shape());
  call.add(target, ArrayRole::write);
  std::vector<Layout> lines;  // the first element of each line along the axis
  lines.reserve(arrays.size());
  std::vector<std::int64_t> numbers(2 * arrays.size());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    Layout line = arrays[i].layout();
    numbers[i] = begin;
    numbers[arrays.size() + i] = line.strides[axis];
    begin += line.shape[axis];
    line.shape[axis] = 1;
    lines.push_back(std::move(line));
    call.add(arrays[i], lines.back(), arrays[i].data(), itemsize, ArrayRole::read_in_place);
  }
  call.add_index(position);
  call.plan();
  void* const parameters[] = {numbers.data()};
  call.launch(call.kernel(bodies[{itemsize, parts}], target.device(),
                          [=] { return join_body(itemsize, parts); }),
              parameters);
}

DType common_dtype(std::span<const Array> arrays, std::optional<DType> dtype) {
  if (arrays.empty()) fail<ArgumentError>("concatenate: need at least one array to concatenate");
  bool is_mixed = false;
  for (const Array& array : arrays) {
    if (array.device() != arrays[0].device())
      fail<DeviceError>("concatenate: the arrays are on ", arrays[0].device(), " and on ",
                        array.device(), "; expected one device, move them there: a.to(\"",
                        arrays[0].device(), "\")");
    is_mixed |= array.dtype() != arrays[0].dtype();
  }
  if (dtype || !is_mixed) return dtype.value_or(arrays[0].dtype());
  std::vector<DType> dtypes;
  for (const Array& array : arrays) dtypes.push_back(array.dtype());
  return promote(dtypes);
}

Shape joined_shape(std::span<const Shape> shapes, int axis) {
  Shape shape = shapes[0];
  if (axis < 0 || axis >= shape.size())
    fail<LayoutError>("concatenate: axis ", axis, " is out of bounds for ", shape.size(),
                      " dimension(s)");
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    const Shape& other = shapes[i];
    if (other.size() != shape.size())
      fail<LayoutError>(
          "concatenate: all the input array dimensions must match in number, but "
          "the array at index 0 has ",
          shape.size(), " dimension(s) and the array at index ", i, " has ", other.size(),
          " (shapes ", shapes_text(std::array{shapes[0], other}), ")");
    for (int k = 0; k < shape.size(); ++k) {
      if (k == axis) continue;
      if (shape[k] == -1) shape[k] = other[k];
      if (other[k] != -1 && other[k] != shape[k])
        fail<LayoutError>(
            "concatenate: all the input array dimensions except for the "
            "concatenation axis must match exactly, but along dimension ",
            k, ", the array at index 0 has size ", shape[k], " and the array at index ", i,
            " has size ", other[k], " (shapes ", shapes_text(std::array{shapes[0], other}), ")");
    }
    if (shape[axis] == -1 || other[axis] == -1)
      shape[axis] = -1;
    else if (__builtin_add_overflow(shape[axis], other[axis], &shape[axis]))
      fail<LayoutError>("concatenate: the extents along axis ", axis, " exceed 2^63 - 1 in total");
  }
  return shape;
}

Array concatenate(std::span<const Array> arrays, int axis, DType dtype) {
  const Device device = arrays[0].device();
  Array result = empty(joined_shape(shapes_of(arrays), axis), dtype, working_device(device));
  copy_parts(result, arrays, axis);
  return result;
}

void concatenate_into(std::span<const Array> arrays, int axis, const Array& out) {
  const Shape shape = joined_shape(shapes_of(arrays), axis);
  if (out.shape() != shape)
    fail<LayoutError>("concatenate: output array is the wrong shape: expected ", shape, ", got ",
                      out.shape());
  const bool overlaps = std::any_of(arrays.begin(), arrays.end(), [&](const Array& array) {
    return may_share_memory(array, out);
  });
  if (overlaps)
    copy(concatenate(arrays, axis, out.dtype()), out);
  else
    copy_parts(out, arrays, axis);
}

namespace {

/// numpy.concatenate along an axis that all inputs have (Theano's Join).
class Concatenate final : public NamedOp {
 public:
  explicit Concatenate(std::int64_t axis)
      : NamedOp(text("Concatenate{axis=", axis, '}')), axis_(static_cast<int>(axis)) {}

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    if (inputs.empty()) fail<ArgumentError>(name(), ": need at least one variable");
    std::vector<Shape> shapes;
    std::vector<DType> dtypes;
    for (const Variable& input : inputs) {
      shapes.push_back(input.type().shape());
      dtypes.push_back(input.type().dtype());
    }
    TensorType type(promote(dtypes), joined_shape(shapes, axis_), common_device(*this, inputs));
    return make_apply(*this, inputs, std::move(type));
  }

  std::vector<int> moved_inputs(const Apply& node) const override {
    std::vector<int> all(node.inputs().size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    if (axis == axis_) return {};
    return {{0, axis}};
  }
  Variable inferred_extent(const Apply& node, int, int axis) const override {
    Variable sum;
    for (const Variable& input : node.inputs()) {
      const Variable length = expression::inferred_extent(input, axis);
      sum = sum ? expression::operator+(sum, length) : length;
    }
    return sum;
  }

  // The derivative of each input is the slice of the output's derivative at its position along the
  // axis.
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    std::string before;
    for (int axis = 0; axis < axis_; ++axis) before += ":, ";
    std::vector<Cotangent> derivatives;
    Variable begin;
    for (const Variable& input : node.inputs()) {
      const Variable length = expression::extent(input, axis_);
      const Variable end = begin ? expression::operator+(begin, length) : length;
      std::vector<Variable> inputs{outputs[0].variable()};
      if (begin) inputs.push_back(begin);
      inputs.push_back(end);
      derivatives.emplace_back(
          expression::apply("subtensor", inputs, {{"index", before + (begin ? "?:?" : ":?")}}));
      begin = end;
    }
    return derivatives;
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return make_async_thunk([cells = context.inputs(), to = context.output(0), axis = axis_,
                             dtype = context.node().output(0).type().dtype(),
                             device = context.device()] {
      std::vector<Array> arrays;
      std::vector<Shape> shapes;
      for (const Ref<Cell>& cell : cells)
        shapes.push_back(arrays.emplace_back(to_device(*cell->value, device)).shape());
      const Shape shape = joined_shape(shapes, axis);
      concatenate_into(arrays, axis, output_array(*to, shape, dtype, device));
    });
  }

 private:
  int axis_;
};

[[maybe_unused]] const bool concatenate_registered =
    register_op_with<Concatenate, std::int64_t>("concatenate", "axis");

}  // namespace
}  // namespace spanwise::ops
