// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indexing.hpp"
#include "selection.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"
#include "spanwise/runtime/copy.hpp"

// x[index] in graphs, and copies of x with other values at the index. Named after Theano's ops
// (theano/tensor/subtensor.py).
namespace spanwise::ops {
namespace {

/// The index of a graph op, in Python's syntax: "1:, ?, ::-1, None, ...". A ? is an integer that
/// the graph computes, [] an index array or a mask; both are inputs of the node, in order.
class IndexPattern {
 public:
  /// Throws ArgumentError.
  explicit IndexPattern(std::string_view text);

  const std::string& text() const noexcept { return text_; }
  /// The number of inputs of the node that are part of the index.
  int input_count() const noexcept;
  /// Whether the result is a view: no index arrays or masks.
  bool is_basic() const noexcept;
  /// Throws unless the inputs from `first` on are the integers and arrays of the index.
  void check(const Op& op, std::span<const Variable> inputs, int first) const;
  /// The shape of the result for a value of `shape`, with TensorType::any for unknown extents.
  /// Throws BoundsError for too many indices.
  Shape known_shape(const Shape& shape, std::span<const Variable> inputs) const;
  /// The axis and the bounds in a value of `shape` of an index that is one slice with step 1 of one
  /// axis, and takes all of the axes before it; nothing for others.
  struct OneSlice {
    int axis;
    std::int64_t start, stop;
  };
  std::optional<OneSlice> one_slice(const Shape& shape) const;
  /// Whether indexing on a GPU only queues work: without masks, whose true elements are counted,
  /// and with all integers on the host. The inputs of `node` from `first` on belong to the index.
  bool never_waits(const Apply& node, std::size_t first) const;
  /// The index with the current values of the cells.
  std::vector<IndexPart> evaluate(std::span<const Ref<Cell>> cells, Device device) const;

 private:
  struct Number {
    bool is_input = false;
    std::int64_t value = 0;
  };
  enum class Kind { integer, slice, new_axis, ellipsis, array };
  struct PatternPart {
    Kind kind;
    std::optional<Number> start{}, stop{}, step{};  ///< an integer is its start
  };
  static PatternPart parse(std::string_view word);
  static int inputs_of(const PatternPart& part) noexcept;
  /// The extent of an axis after the slice; TensorType::any if unknown.
  static std::int64_t known_slice_extent(const PatternPart& part, std::int64_t extent);
  int consumed_axes(std::span<const Variable> inputs) const;

  std::string text_;
  std::vector<PatternPart> parts_;
};

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

std::optional<IndexPattern::OneSlice> IndexPattern::one_slice(const Shape& shape) const {
  const auto is_full = [](const PatternPart& part) {
    return part.kind == Kind::slice && !part.start && !part.stop && !part.step;
  };
  const int axis = static_cast<int>(parts_.size()) - 1;
  if (axis < 0 || axis >= shape.size() || !std::all_of(parts_.begin(), parts_.end() - 1, is_full))
    return std::nullopt;
  const PatternPart& last = parts_.back();
  const bool is_fixed = last.kind == Kind::slice && !(last.stop && last.stop->is_input) &&
                        !(last.start && last.start->is_input) && !last.step;
  const std::int64_t start = last.start ? last.start->value : 0;
  const std::int64_t stop = last.stop ? last.stop->value : shape[axis];
  if (!is_fixed || start < 0 || stop <= start) return std::nullopt;
  return OneSlice{axis, start, stop};
}

bool IndexPattern::never_waits(const Apply& node, std::size_t first) const {
  auto input = node.inputs().begin() + static_cast<std::ptrdiff_t>(first);
  for (const PatternPart& part : parts_)
    for (int i = 0; i < inputs_of(part); ++i, ++input) {
      const TensorType& type = input->type();
      if (part.kind == Kind::array ? type.dtype().is_bool() : type.device() != cpu) return false;
    }
  return true;
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

// `operands` followed by the inputs of `node` from `first` on, which belong to its index.
std::vector<Variable> with_indices(std::vector<Variable> operands, const Apply& node,
                                   std::size_t first) {
  const auto inputs = node.inputs().subspan(first);
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  return operands;
}

// The derivative of x[index]: zeros with `g` added at the index.
std::vector<Cotangent> gradient_of_taking(const IndexPattern& pattern, const Apply& node,
                                          const Variable& g) {
  std::vector<Cotangent> derivatives(node.inputs().size());  // indices are disconnected
  // Without repeated indices, storing has the same result as adding, and is faster.
  const char* op = pattern.is_basic() ? "set_subtensor" : "inc_subtensor";
  const Variable zeros = expression::zeros_like(node.inputs()[0]);
  derivatives[0] =
      expression::apply(op, with_indices({expression::cast(zeros, g.type().dtype()), g}, node, 1),
                        {{"index", pattern.text()}});
  return derivatives;
}

/// x[index]: a view for integers, slices, new axes and an Ellipsis; a new array for an index with
/// index arrays or masks. Waits for a mask on a GPU: its number of true elements determines the
/// shape.
class Subtensor final : public NamedOp {
 public:
  explicit Subtensor(IndexPattern pattern)
      : NamedOp(text(pattern.is_basic() ? "" : "Advanced", "Subtensor{", pattern.text(), '}')),
        pattern_(std::move(pattern)) {}
  AliasMap view_map() const override {
    return pattern_.is_basic() ? AliasMap{{0, {0}}} : AliasMap{};
  }
  std::vector<int> moved_inputs(const Apply&) const override { return {0}; }
  bool takes_host_scalars() const override { return true; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    pattern_.check(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    Shape shape = pattern_.known_shape(type.shape(), inputs.subspan(1));
    const auto device = common_device(*this, pattern_.is_basic() ? inputs.first(1) : inputs);
    return make_apply(*this, inputs, TensorType(type.dtype(), std::move(shape), device));
  }

  // A view has the extents of the same view of any array of the shape of input 0.
  Variable inferred_extent(const Apply& node, int, int axis) const override {
    const Variable like =
        pattern_.is_basic() ? expression::shape_stand_in(node.inputs()[0]) : Variable();
    if (!like) return {};
    const Variable view =
        expression::apply("subtensor", with_indices({like}, node, 1), {{"index", pattern_.text()}});
    return expression::inferred_extent(view, axis);
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    return gradient_of_taking(pattern_, node, outputs[0].variable());
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    const auto take = [op = Ref<const Subtensor>(this), cells = context.inputs(1),
                       from = context.input(0), to = context.output(0), device = context.device()] {
      const Array source = to_device(*from->value, device);
      const std::vector<IndexPart> key = op->pattern_.evaluate(cells, device);
      to->value = op->pattern_.is_basic() ? view_by(source, key)
                                          : index_by(source, key, Bounds::raise_later);
    };
    return make_async_thunk(take, pattern_.never_waits(context.node(), 1));
  }

 private:
  IndexPattern pattern_;
};

/// A copy of input 0 (input 0 itself if the op overwrites it) in which input 1, cast and broadcast,
/// is stored at the index or added there. An element that is indexed repeatedly gets the last
/// value, or all of them added.
class SetSubtensor final : public SameShapeOp {
 public:
  enum class Kind { set, add };
  explicit SetSubtensor(IndexPattern pattern, Kind kind, bool overwrites = false)
      : SameShapeOp(text(kind == Kind::set ? "SetSubtensor{" : "IncSubtensor{", pattern.text(), '}',
                         overwrites ? "[(0, 0)]" : "")),
        pattern_(std::move(pattern)),
        kind_(kind),
        overwrites_(overwrites) {}
  AliasMap destroy_map() const override { return overwrites_ ? AliasMap{{0, {0}}} : AliasMap{}; }
  Ref<const Op> overwriting(int input) const override {
    if (input != 0) return {};
    return make_ref<const SetSubtensor>(pattern_, kind_, true);
  }
  bool allows_aliased_inplace() const override { return true; }  // assignment handles overlap
  std::vector<int> moved_inputs(const Apply&) const override {
    return kind_ == Kind::set ? std::vector{0, 1} : std::vector<int>();
  }
  bool takes_host_scalars() const override { return true; }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    pattern_.check(*this, inputs, 2);
    const TensorType& type = inputs[0].type();
    const Shape indexed = pattern_.known_shape(type.shape(), inputs.subspan(2));
    if (inputs[1].type().rank() > indexed.size())
      fail<LayoutError>(name(), ": a value of rank ", inputs[1].type().rank(),
                        " does not fit elements of rank ", indexed.size());
    return make_apply(*this, inputs,
                      TensorType(type.dtype(), type.shape(), common_device(*this, inputs)));
  }

  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    using expression::apply, expression::number_like, expression::sum_to;
    const Variable& g = outputs[0].variable();
    const OpProperties index{{"index", pattern_.text()}};
    std::vector<Cotangent> derivatives(node.inputs().size());  // indices are disconnected
    derivatives[0] = g;
    if (kind_ == Kind::set)
      derivatives[0] = apply("set_subtensor", with_indices({g, number_like(0, g)}, node, 2), index);
    derivatives[1] =
        sum_to(apply("subtensor", with_indices({g}, node, 2), index), node.inputs()[1]);
    return derivatives;
  }

  /// Of an op that stores values in an array of `shape`: IndexPattern::one_slice().
  std::optional<IndexPattern::OneSlice> stored_slice(const Shape& shape) const {
    return kind_ == Kind::set ? pattern_.one_slice(shape) : std::nullopt;
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    const auto write = [op = Ref<const SetSubtensor>(this), cells = context.inputs(2),
                        from = context.input(0), value = context.input(1), to = context.output(0),
                        device = context.device()] {
      const Array& source = *from->value;
      const bool in_place = op->overwrites_ && source.device() == device && !source.readonly();
      if (in_place)
        to->value = source;
      else
        copy(source, output_array(*to, source.shape(), source.dtype(), device));
      op->write(*to->value, op->pattern_.evaluate(cells, device), *value->value);
    };
    return make_async_thunk(write, pattern_.never_waits(context.node(), 2));
  }

 private:
  void write(const Array& target, const std::vector<IndexPart>& key, const Array& value) const {
    if (kind_ == Kind::add)
      accumulate_by(target, key, to_device(value, target.device()), Accumulation::add,
                    Bounds::raise_later);
    else if (pattern_.is_basic())
      copy(value, view_by(target, key));
    else
      assign_by(target, key, to_device(value, target.device()), Bounds::raise_later);
  }

  IndexPattern pattern_;
  Kind kind_;
  bool overwrites_;
};

// Registers an op of class `Kind`, which is made from its only property, an index, and `arguments`.
template <class Kind, class... Arguments>
bool register_indexed(const char* name, Arguments... arguments) {
  return register_op(name, [=](const OpProperties& properties) -> Ref<const Op> {
    expect_properties(name, properties, {"index"});
    return make_ref<const Kind>(IndexPattern(property<std::string>(name, properties, "index")),
                                arguments...);
  });
}

[[maybe_unused]] const bool subtensors_registered =
    register_indexed<Subtensor>("subtensor") &&
    register_indexed<SetSubtensor>("set_subtensor", SetSubtensor::Kind::set) &&
    register_indexed<SetSubtensor>("inc_subtensor", SetSubtensor::Kind::add);

// ---- The rewrite "join_slices": a sum of zeros in which slices that cover an axis are stored, as
// the derivative of a variable that is only read in slices, is their concatenation.

using namespace expression;

bool is_zeros(const Variable& x) {
  if (const Apply* node = node_of(x, "broadcast_to")) return is_number(node->inputs()[0], 0);
  if (x.value() == nullptr || x.value()->size() == 0) return false;
  const Array host = contiguous(to_device(*x.value(), cpu));
  const auto* bytes = static_cast<const unsigned char*>(host.data());
  return std::all_of(bytes, bytes + host.nbytes(), [](unsigned char byte) { return byte == 0; });
}

struct StoredSlice {
  IndexPattern::OneSlice place;
  Variable value;
};

/// The terms of a sum, each of which stores a slice in zeros of the sum's shape.
class SlicedSum {
 public:
  SlicedSum(const Apply& root, const NodeSurroundings& around)
      : type_(root.output(0).type()), around_(around) {
    std::vector<Variable> pending(root.inputs().begin(), root.inputs().end());
    are_slices_ = true;
    // A sum of n terms has n - 1 nodes: a longer chain is not followed from each of its nodes.
    for (std::size_t sums = 1; are_slices_ && !pending.empty();) {
      const Variable x = std::move(pending.back());
      pending.pop_back();
      if (around_.readers(x).size() != 1) {
        are_slices_ = false;
      } else if (const Apply* sum = node_of(x, "add")) {
        pending.insert(pending.end(), sum->inputs().begin(), sum->inputs().end());
        are_slices_ = ++sums < max_slices;
      } else {
        are_slices_ = add_slice(x);
      }
    }
  }

  Variable joined() {
    if (!are_slices_) return {};
    std::sort(slices_.begin(), slices_.end(), [](const StoredSlice& a, const StoredSlice& b) {
      return a.place.start < b.place.start;
    });
    const int axis = slices_[0].place.axis;
    std::int64_t end = 0;
    std::vector<Variable> values;
    for (const StoredSlice& slice : slices_) {
      if (slice.place.axis != axis || slice.place.start != end) return {};
      end = slice.place.stop;
      values.push_back(slice.value);
    }
    if (end != type_.shape()[axis]) return {};
    return expression::apply("concatenate", values, {{"axis", std::int64_t{axis}}});
  }

 private:
  bool add_slice(const Variable& x) {
    const Apply* node = node_of(x, "set_subtensor");
    const auto* op = node != nullptr ? dynamic_cast<const SetSubtensor*>(&node->op()) : nullptr;
    const auto place = op != nullptr ? op->stored_slice(type_.shape()) : std::nullopt;
    if (!place || x.type() != type_ || !is_zeros(node->inputs()[0])) return false;
    const TensorType& value = node->inputs()[1].type();
    Shape shape = type_.shape();
    shape[place->axis] = place->stop - place->start;
    if (value.shape() != shape || value.dtype() != type_.dtype()) return false;
    slices_.push_back({*place, node->inputs()[1]});
    return true;
  }

  static constexpr std::size_t max_slices = 64;

  const TensorType& type_;
  const NodeSurroundings& around_;
  std::vector<StoredSlice> slices_;
  bool are_slices_ = false;
};

std::vector<Variable> join_slices(const Apply& node, const NodeSurroundings& around) {
  const Variable sum = node.output_count() == 1 ? node.output(0) : Variable();
  if (!sum || node_of(sum, "add") == nullptr || !sum.type().has_fixed_shape()) return {};
  const Variable joined = SlicedSum(node, around).joined();
  if (!joined) return {};
  return {joined};
}

[[maybe_unused]] const bool join_slices_registered = register_node_rewrite(
    {.name = "join_slices", .position = 45, .tags = {"fast_run"}, .apply_within = join_slices});

}  // namespace
}  // namespace spanwise::ops
