// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "index_pattern.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "spanwise/runtime/copy.hpp"

namespace spanwise::ops {
namespace {

[[noreturn]] void refuse_pattern(std::string_view word) {
  fail<ArgumentError>("index: expected an integer, ?, a slice, None, ... or [], got \"", word, '"');
}

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(by);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + by.size());
  }
}

std::int64_t number_from(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) refuse_pattern(word);
  return value;
}

int axes_of(const TensorType& index) { return index.dtype().is_bool() ? index.rank() : 1; }

void check_inside(std::int64_t index, std::int64_t extent, int axis) {
  const bool is_inside = extent == TensorType::any || (index >= -extent && index < extent);
  if (!is_inside)
    fail<BoundsError>("index: ", index, " is out of bounds for axis ", axis, " of extent ", extent);
}

/// The shape of an index's result. Index arrays and the integers next to them broadcast to one
/// group of axes, at the axis of the first of them; at the front if they are not adjacent.
class ResultShape {
 public:
  void add(std::int64_t extent) {
    basic_ = basic_.inserted(basic_.size(), extent);
    end_group();
  }
  void end_group() { in_group_ = false; }
  void add_indices(const Shape& positions) {
    is_separated_ |= index_axis_ >= 0 && !in_group_;
    if (index_axis_ < 0) index_axis_ = basic_.size();
    in_group_ = true;
    try {
      positions_ = broadcast_shapes(std::array{positions_, positions});
    } catch (const LayoutError& error) {
      fail<BoundsError>("index: the index arrays: ", error.what());
    }
  }
  Shape shape() const {
    Shape shape = basic_;
    int to = is_separated_ ? 0 : std::max(index_axis_, 0);
    for (const std::int64_t extent : positions_) shape = shape.inserted(to++, extent);
    return shape;
  }

 private:
  Shape basic_, positions_;  // of slices and new axes; of the broadcast indices
  int index_axis_ = -1;
  bool is_separated_ = false, in_group_ = false;
};

}  // namespace

IndexPattern::PatternPart IndexPattern::parse(std::string_view word) {
  const auto number = [](std::string_view text) -> std::optional<Number> {
    if (text.empty()) return std::nullopt;
    return text == "?" ? Number{true, 0} : Number{false, number_from(text)};
  };
  if (word == "None") return {Kind::new_axis};
  if (word == "...") return {Kind::ellipsis};
  if (word == "[]") return {Kind::array};
  const std::vector<std::string_view> bounds = split(word, ":");
  if (bounds.size() == 1 && !word.empty()) return {Kind::integer, number(word)};
  if (bounds.size() < 2 || bounds.size() > 3) refuse_pattern(word);
  return {Kind::slice, number(bounds[0]), number(bounds[1]),
          bounds.size() == 3 ? number(bounds[2]) : std::nullopt};
}

IndexPattern::IndexPattern(std::string_view text) : text_(text) {
  if (text.empty()) return;
  for (const std::string_view word : split(text, ", ")) parts_.push_back(parse(word));
  for (const PatternPart& part : parts_)
    if (part.step && !part.step->is_input && part.step->value == 0)
      fail<ArgumentError>("index: the step of a slice cannot be 0, got ", text);
  const auto ellipses = std::count_if(parts_.begin(), parts_.end(), [](const PatternPart& part) {
    return part.kind == Kind::ellipsis;
  });
  if (ellipses > 1)
    fail<BoundsError>("index: an index can hold one Ellipsis ('...'), got ", ellipses);
}

int IndexPattern::input_count() const noexcept {
  int count = 0;
  for (const PatternPart& part : parts_) count += inputs_of(part);
  return count;
}

bool IndexPattern::is_basic() const noexcept {
  return std::none_of(parts_.begin(), parts_.end(),
                      [](const PatternPart& part) { return part.kind == Kind::array; });
}

void IndexPattern::check(const Op& op, std::span<const Variable> inputs, int first) const {
  expect_arity(op, inputs, first + input_count());
  int at = first;
  for (const PatternPart& part : parts_) {
    if (part.kind == Kind::array) {
      const Variable& index = inputs[static_cast<std::size_t>(at)];
      const DType dtype = index.type().dtype();
      if (!dtype.is_integer() && !dtype.is_bool())
        fail<BoundsError>(op.name(), ": input ", at, " (", index.label(),
                          "): expected an integer or bool dtype, got ", dtype);
      ++at;
    }
    for (const auto& number : {part.start, part.stop, part.step})
      if (number && number->is_input) expect_integer(op, inputs, at++);
  }
}

int IndexPattern::inputs_of(const PatternPart& part) noexcept {
  if (part.kind == Kind::array) return 1;
  int count = 0;
  for (const auto& number : {part.start, part.stop, part.step}) count += number && number->is_input;
  return count;
}

int IndexPattern::consumed_axes(std::span<const Variable> inputs) const {
  int axes = 0;
  std::size_t input = 0;
  for (const PatternPart& part : parts_) {
    axes += part.kind == Kind::integer || part.kind == Kind::slice;
    if (part.kind == Kind::array) axes += axes_of(inputs[input].type());
    input += static_cast<std::size_t>(inputs_of(part));
  }
  return axes;
}

std::int64_t IndexPattern::known_slice_extent(const PatternPart& part, std::int64_t extent) {
  const auto bound = [](const std::optional<Number>& number) -> std::optional<std::int64_t> {
    if (!number) return std::nullopt;
    return number->value;
  };
  if (extent == TensorType::any || inputs_of(part) > 0) return TensorType::any;
  const Slice slice{bound(part.start), bound(part.stop), bound(part.step)};
  return Layout::row_major(Shape{extent}).slice(0, slice).shape[0];
}

Shape IndexPattern::known_shape(const Shape& shape, std::span<const Variable> inputs) const {
  const int consumed = consumed_axes(inputs);
  if (consumed > shape.size())
    fail<BoundsError>("index: too many indices: ", consumed, " for a variable of rank ",
                      shape.size());
  ResultShape result;
  int axis = 0;
  std::size_t input = 0;
  for (const PatternPart& part : parts_) {
    if (part.kind == Kind::array) {
      const TensorType& type = inputs[input].type();
      result.add_indices(type.dtype().is_bool() ? Shape{TensorType::any} : type.shape());
      axis += axes_of(type);
    } else if (part.kind == Kind::integer) {
      if (!part.start->is_input) check_inside(part.start->value, shape[axis], axis);
      if (!is_basic()) result.add_indices({});
      ++axis;
    } else if (part.kind == Kind::slice) {
      result.add(known_slice_extent(part, shape[axis]));
      ++axis;
    } else if (part.kind == Kind::new_axis) {
      result.add(1);
    } else {
      result.end_group();
      for (int i = consumed; i < shape.size(); ++i) result.add(shape[axis++]);
    }
    input += static_cast<std::size_t>(inputs_of(part));
  }
  while (axis < shape.size()) result.add(shape[axis++]);
  return result.shape();
}

std::vector<IndexPart> IndexPattern::evaluate(std::span<const Ref<Cell>> cells,
                                              Device device) const {
  std::size_t next = 0;
  const auto value = [&](const std::optional<Number>& number) -> std::optional<std::int64_t> {
    if (!number) return std::nullopt;
    return number->is_input ? item(*cells[next++]->value).as_int64() : number->value;
  };
  std::vector<IndexPart> key;
  key.reserve(parts_.size());
  for (const PatternPart& part : parts_) {
    switch (part.kind) {
      case Kind::integer:
        key.emplace_back(*value(part.start));
        break;
      case Kind::slice:  // in this order, since the braces evaluate from left to right
        key.emplace_back(Slice{value(part.start), value(part.stop), value(part.step)});
        break;
      case Kind::new_axis:
        key.emplace_back(NewAxis{});
        break;
      case Kind::ellipsis:
        key.emplace_back(Ellipsis{});
        break;
      case Kind::array:
        key.emplace_back(to_device(*cells[next++]->value, device));
        break;
    }
  }
  return key;
}

}  // namespace spanwise::ops
