// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk/expression.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/string_utils.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::expression {
namespace {

using Extents = std::vector<std::int64_t>;

// The output of the op "reshape" or "broadcast_to" for `x` and the shape of `like`.
Variable with_shape_of(const char* op, const Variable& x, const Variable& like,
                       Variable (*extent_of)(const Variable&, int) = &extent) {
  std::vector<Variable> inputs{x};
  Extents extents;
  for (int axis = 0; axis < like.type().rank(); ++axis) {
    const std::int64_t extent = like.type().shape()[axis];
    extents.push_back(extent == TensorType::any ? computed_extent : extent);
    if (extent == TensorType::any) inputs.push_back(extent_of(like, axis));
  }
  return apply(op, inputs, {{"shape", std::move(extents)}});
}

}  // namespace

Variable apply(std::string_view name, std::span<const Variable> inputs,
               const OpProperties& properties) {
  return (*make_op(name, properties))(inputs)[0];
}

const Apply* node_of(const Variable& x, std::string_view name) {
  const Apply* node = x.owner();
  if (node == nullptr || x.index() != 0) return nullptr;
  const auto recipe = node->op().recipe();
  return recipe != nullptr && recipe->name == name ? node : nullptr;
}

Variable MovedValue::around(Variable x) const {
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    std::vector<Variable> inputs((*move)->inputs().begin(), (*move)->inputs().end());
    inputs[0] = std::move(x);
    x = (*move)->op()(inputs)[0];
  }
  return x;
}

namespace {

bool moves_elements(const Apply& node) {
  return node.op().moved_inputs(node) == std::vector{0} &&
         node.inputs()[0].type().dtype().is_floating() &&
         node.output(0).type().dtype().is_floating();
}

}  // namespace

MovedValue moved(const Variable& x) {
  constexpr std::size_t max_moves = 16;  // bounds the time of a search along a chain of views
  MovedValue result{x};
  for (const Apply* node = x.owner(); node != nullptr && moves_elements(*node);
       node = result.value.owner()) {
    if (result.moves.size() == max_moves) break;
    result.moves.push_back(node);
    result.value = node->inputs()[0];
  }
  return result;
}

Variable argument(const Variable& variable, std::string_view name) {
  const MovedValue found = moved(variable);
  const Apply* node = node_of(found.value, name);
  return node == nullptr ? Variable() : found.around(node->inputs()[0]);
}

Variable number_like(double value, const Variable& like) {
  return Variable::constant(full(Shape{}, Scalar(value), like.type().dtype(), cpu));
}

std::optional<double> constant_number(const Variable& x) {
  const Array* value = x.value();
  if (value == nullptr || value->size() != 1 || !value->device().is_cpu()) return {};
  if (!value->dtype().is_computable() || value->dtype().is_complex()) return {};
  return item(*value).as_double();
}

Variable operator+(const Variable& a, const Variable& b) { return apply("add", {a, b}); }
Variable operator-(const Variable& a, const Variable& b) { return apply("subtract", {a, b}); }
Variable operator*(const Variable& a, const Variable& b) { return apply("multiply", {a, b}); }
Variable operator/(const Variable& a, const Variable& b) { return apply("divide", {a, b}); }
Variable operator-(const Variable& a) { return apply("negative", {a}); }

Variable cast(const Variable& x, DType dtype) {
  if (x.type().dtype() == dtype) return x;
  return apply("cast", {x}, {{"dtype", dtype.name()}});
}

Variable dimshuffle(const Variable& x, std::vector<std::int64_t> order) {
  return apply("dimshuffle", {x}, {{"order", std::move(order)}});
}

Variable matrix_transpose(const Variable& x) {
  Extents order;
  for (int axis = 0; axis < x.type().rank(); ++axis) order.push_back(axis);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return dimshuffle(x, std::move(order));
}

Variable broadcast_like(const Variable& x, const Variable& like) {
  return have_equal_shapes(x, like) ? x : with_shape_of("broadcast_to", x, like);
}

Variable reshape_like(const Variable& x, const Variable& like) {
  return have_equal_shapes(x, like) ? x : with_shape_of("reshape", x, like);
}

Variable zeros_like(const Variable& like) { return broadcast_like(number_like(0, like), like); }

Variable shape_stand_in(const Variable& x) {
  const Variable element = Variable::constant(full(Shape{1}, Scalar(0), int64, cpu));
  Variable view = with_shape_of("broadcast_to", element, x, &inferred_extent);
  for (const Variable& input : view.owner()->inputs())
    if (const auto item = item_of_shape(input); item && item->variable == x) return {};
  return view;
}

Variable sum_to(const Variable& x, const Variable& like) {
  if (have_equal_shapes(x, like)) return x;
  if (like.type().rank() == 0) return x.type().rank() == 0 ? x : apply("sum", {x});
  return apply("sum_to", {x, like});
}

namespace {

// k of x[k], for a k that is a property of the op, not an input.
std::optional<int> index_of_item(const Apply& subtensor) {
  const OpProperties& properties = subtensor.op().recipe()->properties;
  const auto index = properties.find("index");
  if (index == properties.end() || subtensor.inputs().size() != 1) return {};
  const auto* index_text = std::get_if<std::string>(&index->second);
  if (index_text == nullptr) return {};
  std::optional<int> k = parse_number(*index_text);
  const auto extent = static_cast<int>(subtensor.inputs()[0].type().shape()[0]);
  if (k && *k < 0) *k += extent;
  return k >= 0 && k < extent ? k : std::nullopt;
}

using Origins = std::vector<ExtentOrigin>;

// The origin of an extent that is the value of `x`, which often is the extent of another variable.
ExtentOrigin origin_of_value(const Variable& x) {
  if (const auto item = item_of_shape(x)) return extent_origin(item->variable, item->axis);
  if (const std::optional<double> number = constant_number(x))
    return {.fixed = static_cast<std::int64_t>(*number), .variable = {}};
  return {.variable = x};
}

/// One search for the origins of an extent: several where the extents of operands broadcast.
class OriginSearch {
 public:
  Origins find(Variable from, int axis) {
    for (;;) {
      const std::int64_t extent = from.type().shape()[axis];
      if (extent != TensorType::any) return {{.fixed = extent, .variable = {}}};
      const Apply* node = from.owner();
      if (node == nullptr || --max_visits_ < 0) return {{.variable = from, .axis = axis}};
      const std::vector<ExtentSource> sources =
          node->op().extent_sources(*node, from.index(), axis);
      if (sources.size() > 1) {
        Origins origins = find_all(*node, sources);
        return origins.empty() ? Origins{{.variable = from, .axis = axis}} : origins;
      }
      if (sources.empty()) return {{.variable = from, .axis = axis}};
      from = node->inputs()[static_cast<std::size_t>(sources[0].input)];
      if (sources[0].axis == ExtentSource::value) return {origin_of_value(from)};
      axis = sources[0].axis;
    }
  }

 private:
  // Each origin once, without those that are 1; none where there are too many.
  Origins find_all(const Apply& node, const std::vector<ExtentSource>& sources) {
    constexpr std::size_t max_origins = 4;
    Origins all;
    for (const ExtentSource& source : sources)
      for (const ExtentOrigin& origin :
           find(node.inputs()[static_cast<std::size_t>(source.input)], source.axis))
        if (origin.fixed != 1 && std::ranges::find(all, origin) == all.end()) all.push_back(origin);
    return all.size() > max_origins ? Origins() : all;
  }

  // The number of nodes that the search may still visit: bounds it where many operands broadcast.
  int max_visits_ = 100;
};

// The extent, by `extent_of` each of its origins: of several, which broadcast, the first that is
// not 1.
Variable extent_by(Variable (*extent_of)(const ExtentOrigin&), const Variable& x, int axis) {
  const Origins origins = OriginSearch().find(x, axis);
  Variable result = extent_of(origins[0]);
  for (std::size_t i = 1; i < origins.size(); ++i) {
    const Variable is_one = call("equal", result, number_like(1, result));
    result = call("where", is_one, extent_of(origins[i]), result);
  }
  return result;
}

// The extent by Op::inferred_extent(), which may call expression::inferred_extent() again, once for
// each path to an operand: `max_calls` bounds the work where many nodes share operands.
Variable inferred(const ExtentOrigin& origin) {
  constexpr int max_calls = 100;
  thread_local int depth = 0, calls = 0;
  const bool is_extent = origin.axis != ExtentSource::value && !is_view_of_leaf(origin.variable);
  if (depth == 0) calls = 0;
  if (!is_extent || ++calls > max_calls) return extent(origin);
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } level;
  const Apply& node = *origin.variable.owner();
  const Variable result = node.op().inferred_extent(node, origin.variable.index(), origin.axis);
  return result ? result : extent(origin);
}

bool have_equal_members(const Origins& a, const Origins& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const ExtentOrigin& origin) {
           return std::ranges::find(b, origin) != b.end();
         });
}

}  // namespace

bool is_view_of_leaf(Variable x) {
  while (const Apply* node = x.owner()) {
    const AliasMap views = node->op().view_map();
    const auto viewed = views.find(x.index());
    if (viewed == views.end()) return false;
    x = node->inputs()[static_cast<std::size_t>(viewed->second[0])];
  }
  return true;
}

std::optional<ExtentOrigin> item_of_shape(const Variable& x) {
  const Apply* item = node_of(x, "subtensor");
  const Apply* shape = item == nullptr ? nullptr : node_of(item->inputs()[0], "shape");
  const std::optional<int> axis = shape == nullptr ? std::nullopt : index_of_item(*item);
  if (!axis) return {};
  return ExtentOrigin{.variable = shape->inputs()[0], .axis = *axis};
}

ExtentOrigin extent_origin(const Variable& x, int axis) {
  const Origins origins = OriginSearch().find(x, axis);
  return origins.size() == 1 ? origins[0] : ExtentOrigin{.variable = x, .axis = axis};
}

bool have_equal_shapes(const Variable& a, const Variable& b) {
  if (a == b) return true;
  const int rank = a.type().rank();
  if (rank != b.type().rank()) return false;
  for (int axis = 0; axis < rank; ++axis)
    if (!have_equal_members(OriginSearch().find(a, axis), OriginSearch().find(b, axis)))
      return false;
  return true;
}

Variable extent(const ExtentOrigin& origin) {
  if (origin.fixed != TensorType::any)
    return Variable::constant(full(Shape{}, Scalar(origin.fixed), int64, cpu));
  if (origin.axis == ExtentSource::value) return cast(origin.variable, int64);
  return apply("subtensor", {call("shape", origin.variable)}, {{"index", text(origin.axis)}});
}

Variable extent(const Variable& x, int axis) { return extent_by(&extent, x, axis); }

Variable inferred_extent(const Variable& x, int axis) { return extent_by(&inferred, x, axis); }

}  // namespace spanwise::expression
