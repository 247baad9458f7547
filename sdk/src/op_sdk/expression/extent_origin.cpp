// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::expression {
namespace {

// k of x[k], for a k that is written in the op.
std::optional<int> index_of_item(const Apply& subtensor) {
  const OpProperties& properties = subtensor.op().recipe()->properties;
  const auto index = properties.find("index");
  if (index == properties.end() || subtensor.inputs().size() != 1) return {};
  const auto* written = std::get_if<std::string>(&index->second);
  if (written == nullptr) return {};
  int k = 0;
  const char* end = written->data() + written->size();
  const auto [stop, error] = std::from_chars(written->data(), end, k);
  if (error != std::errc() || stop != end) return {};
  const auto extent = static_cast<int>(subtensor.inputs()[0].type().shape()[0]);
  if (k < 0) k += extent;
  return k >= 0 && k < extent ? std::optional(k) : std::nullopt;
}

/// One search of extent_origin().
class OriginSearch {
 public:
  ExtentOrigin of(Variable from, int axis);

 private:
  std::optional<ExtentOrigin> common(const Apply& node, const std::vector<ExtentSource>& sources);

  // Bounds the work and the recursion where many operands are broadcast.
  int most_visits_ = 100;
};

// An extent that is the value of `x`: often itself the extent of another variable.
ExtentOrigin origin_of_value(const Variable& x) {
  if (const auto origin = origin_of_item(x)) return *origin;
  if (const std::optional<double> number = constant_number(x))
    return {.fixed = static_cast<std::int64_t>(*number), .of = {}};
  return {.of = x};
}

ExtentOrigin OriginSearch::of(Variable from, int axis) {
  for (;;) {
    const std::int64_t known = from.type().shape()[axis];
    if (known != TensorType::any) return {.fixed = known, .of = {}};
    const Apply* node = from.owner();
    if (node == nullptr || --most_visits_ < 0) return {.of = from, .axis = axis};
    const std::vector<ExtentSource> sources = node->op().extent_sources(*node, from.index(), axis);
    if (sources.size() > 1) {
      const auto origin = common(*node, sources);
      return origin ? *origin : ExtentOrigin{.of = from, .axis = axis};
    }
    if (sources.empty()) return {.of = from, .axis = axis};
    from = node->inputs()[static_cast<std::size_t>(sources[0].input)];
    if (sources[0].axis == ExtentSource::value) return origin_of_value(from);
    axis = sources[0].axis;
  }
}

// The origin of all sources, if they have the same.
std::optional<ExtentOrigin> OriginSearch::common(const Apply& node,
                                                 const std::vector<ExtentSource>& sources) {
  std::optional<ExtentOrigin> origin;
  for (const ExtentSource& source : sources) {
    const auto next = of(node.inputs()[static_cast<std::size_t>(source.input)], source.axis);
    if (origin && *origin != next) return {};
    origin = next;
  }
  return origin;
}

}  // namespace

std::optional<ExtentOrigin> origin_of_item(const Variable& x) {
  const Apply* item = node_of(x, "subtensor");
  const Apply* shape = item == nullptr ? nullptr : node_of(item->inputs()[0], "shape");
  const std::optional<int> axis = shape == nullptr ? std::nullopt : index_of_item(*item);
  if (!axis) return {};
  return extent_origin(shape->inputs()[0], *axis);
}

ExtentOrigin extent_origin(const Variable& x, int axis) { return OriginSearch().of(x, axis); }

bool have_equal_shapes(const Variable& a, const Variable& b) {
  if (a == b) return true;
  const int rank = a.type().rank();
  if (rank != b.type().rank()) return false;
  for (int axis = 0; axis < rank; ++axis)
    if (extent_origin(a, axis) != extent_origin(b, axis)) return false;
  return true;
}

Variable extent(const ExtentOrigin& origin) {
  if (origin.fixed != TensorType::any)
    return Variable::constant(full(Shape{}, Scalar(origin.fixed), int64, cpu));
  if (origin.axis == ExtentSource::value) return cast(origin.of, int64);
  return apply("subtensor", {call("shape", origin.of)}, {{"index", text(origin.axis)}});
}

Variable extent(const Variable& x, int axis) { return extent(extent_origin(x, axis)); }

}  // namespace spanwise::expression
