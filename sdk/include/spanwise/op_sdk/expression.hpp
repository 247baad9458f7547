// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise::expression {

/// Expressions of graph variables, for gradients and rewrites. Each function adds nodes of
/// registered ops and returns the output.

/// The output of the registered op `name`; see make_op().
SW_API Variable apply(std::string_view name, std::span<const Variable> inputs,
                      const OpProperties& properties = {});
inline Variable apply(std::string_view name, std::initializer_list<Variable> inputs,
                      const OpProperties& properties = {}) {
  return apply(name, std::span(inputs.begin(), inputs.size()), properties);
}

/// The output of an op without properties: call("exp", x), call("where", condition, a, b).
template <class... Inputs>
Variable call(std::string_view name, const Inputs&... inputs) {
  return apply(name, {inputs...});
}

/// The node that computes `x` as the first output of the registered op `name`; null for others.
SW_API const Apply* node_of(const Variable& x, std::string_view name);

/// A value and the nodes, from the last to the first, that put its elements in other places, such
/// as a transposition or an index, or cast them to another floating dtype. A function of single
/// elements may be computed before them.
struct MovedValue {
  Variable value;
  std::vector<const Apply*> moves{};

  /// `x` in the place of the value.
  SW_API Variable around(Variable x) const;
};
/// The value from which up to 16 such nodes make `x`; `x` itself without one.
SW_API MovedValue moved(const Variable& x);
/// x of name(x) for an elementwise op; where the elements of name(x) are moved, x moved in the same
/// way. Null for other variables.
SW_API Variable argument(const Variable& variable, std::string_view name);

/// A constant of rank 0 with the dtype of `like`.
SW_API Variable number_like(double value, const Variable& like);
/// The value of a constant of one element on the host; nullopt for other variables, and for dtypes
/// that are not real.
SW_API std::optional<double> constant_number(const Variable& x);
/// Whether `x` is a constant of rank 0 with that value.
inline bool is_number(const Variable& x, double value) {
  return x.type().rank() == 0 && constant_number(x) == value;
}

SW_API Variable operator+(const Variable& a, const Variable& b);
SW_API Variable operator-(const Variable& a, const Variable& b);
SW_API Variable operator*(const Variable& a, const Variable& b);
SW_API Variable operator/(const Variable& a, const Variable& b);
SW_API Variable operator-(const Variable& a);
inline Variable operator+(const Variable& a, double b) { return a + number_like(b, a); }
inline Variable operator-(const Variable& a, double b) { return a - number_like(b, a); }
inline Variable operator*(const Variable& a, double b) { return a * number_like(b, a); }
inline Variable operator/(const Variable& a, double b) { return a / number_like(b, a); }
inline Variable operator+(double a, const Variable& b) { return number_like(a, b) + b; }
inline Variable operator-(double a, const Variable& b) { return number_like(a, b) - b; }
inline Variable operator*(double a, const Variable& b) { return number_like(a, b) * b; }
inline Variable operator/(double a, const Variable& b) { return number_like(a, b) / b; }

/// In the property shape= of "reshape" and "broadcast_to": the extent is the value of a further
/// input.
inline constexpr std::int64_t computed_extent = -2;

/// `x` itself where it has that dtype.
SW_API Variable cast(const Variable& x, DType dtype);
/// A view with the axes in the order `order`, where -1 is a new axis of extent 1.
SW_API Variable dimshuffle(const Variable& x, std::vector<std::int64_t> order);
/// A view with the last two axes exchanged.
SW_API Variable matrix_transpose(const Variable& x);
/// `x` broadcast to the shape of `like`, as a read-only view.
SW_API Variable broadcast_like(const Variable& x, const Variable& like);
/// `x` in C order with the shape of `like`.
SW_API Variable reshape_like(const Variable& x, const Variable& like);
/// Zeros of the shape and dtype of `like`.
SW_API Variable zeros_like(const Variable& like);
/// What determines an extent of a variable: a fixed number, the extent of axis `axis` of
/// `variable`, or the value of `variable`.
struct ExtentOrigin {
  std::int64_t fixed = TensorType::any;
  Variable variable;
  int axis = ExtentSource::value;
  friend bool operator==(const ExtentOrigin&, const ExtentOrigin&) = default;
};
/// Follows Op::extent_sources from axis `axis` of `x` as far as possible.
SW_API ExtentOrigin extent_origin(const Variable& x, int axis);
/// {variable = y, axis = k} for `x` = y.shape[k]; nullopt for other variables.
SW_API std::optional<ExtentOrigin> item_of_shape(const Variable& x);
/// Whether the shapes are equal at each call, as far as the origins of their extents show.
SW_API bool have_equal_shapes(const Variable& a, const Variable& b);

/// The extent of axis `axis`, an int64 of rank 0 on the host; a constant where the type fixes it,
/// and computed without `x` where the ops allow (Op::extent_sources).
SW_API Variable extent(const Variable& x, int axis);
SW_API Variable extent(const ExtentOrigin& origin);
/// As extent(x, axis), but also by Op::inferred_extent(): without computing `x` wherever possible.
SW_API Variable inferred_extent(const Variable& x, int axis);
/// Whether `x` is an input or a constant, or a view of one.
SW_API bool is_view_of_leaf(Variable x);
/// A variable of the shape of `x` that takes no memory and is computed without `x`; null where an
/// extent needs `x`.
SW_API Variable shape_stand_in(const Variable& x);
/// The sum of `x` over the axes along which `like` would broadcast to the shape of `x`: the inverse
/// of broadcasting for derivatives. Extents that the types leave open are compared when the
/// function is called. `x` itself where have_equal_shapes().
SW_API Variable sum_to(const Variable& x, const Variable& like);

}  // namespace spanwise::expression

namespace spanwise {

/// What gradients() does for a variable on which the cost does not depend.
enum class DisconnectedInput {
  raise,         ///< throws GraphError
  warn,          ///< returns zeros, with a warning
  zeros,         ///< returns zeros of the variable's shape
  null_variable  ///< returns a null Variable
};

struct GradientOptions {
  /// Treated as constants: no derivative passes through them.
  std::vector<Variable> consider_constant{};
  DisconnectedInput disconnected = DisconnectedInput::raise;
};

/// Variables and the derivatives of the cost with respect to them.
using KnownGradients = std::vector<std::pair<Variable, Variable>>;

/// The derivatives, with respect to each of `wrt`, of a cost whose derivatives with respect to some
/// variables are `known`; for a cost that is a variable of the graph: {{cost, 1}}. Each has the
/// dtype and rank of its variable. `wrt` may name variables inside the graph.
///
/// Throws DTypeError for a variable of `wrt` that is not of a floating or complex dtype, GraphError
/// for a known derivative of another rank, for a variable that is disconnected (see
/// GradientOptions::disconnected), and where a derivative passes through an op that has none: the
/// message names the node and where it was made.
SW_API std::vector<Variable> gradients(const KnownGradients& known, std::span<const Variable> wrt,
                                       const GradientOptions& options = {});

}  // namespace spanwise
