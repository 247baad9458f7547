// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/collectives/calls.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/string_utils.hpp"

namespace spanwise {
namespace {

constexpr std::array<std::string_view, 9> collective_names{
    "all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter",
    "all_to_all", "send",   "recv",      "barrier"};
constexpr std::array<std::string_view, 5> reduction_names{"sum", "prod", "min", "max", "mean"};

template <class E, std::size_t n>
E collective_enum_named(const char* noun, const std::array<std::string_view, n>& names,
                        std::string_view name) {
  const auto entry = std::ranges::find(names, name);
  if (entry == names.end())
    fail<ArgumentError>("collectives: expected ", noun, " of ", joined(names), ", got \"", name,
                        '"');
  return static_cast<E>(entry - names.begin());
}

}  // namespace

std::string_view name_of(Collective op) noexcept {
  return collective_names[static_cast<std::size_t>(op)];
}
std::string_view name_of(Reduction reduction) noexcept {
  return reduction_names[static_cast<std::size_t>(reduction)];
}
Collective collective_named(std::string_view name) {
  return collective_enum_named<Collective>("an operation", collective_names, name);
}
Reduction reduction_named(std::string_view name) {
  return collective_enum_named<Reduction>("op=", reduction_names, name);
}

Shape Communicator::result_shape(Collective op, const Shape& shape, int size) {
  const bool gathers = op == Collective::all_gather;
  const bool divides = op == Collective::reduce_scatter || op == Collective::all_to_all;
  if (!gathers && !divides) return shape;
  Shape result = shape.empty() ? Shape{1} : shape;
  if (gathers) {
    if (__builtin_mul_overflow(result[0], static_cast<std::int64_t>(size), &result[0]))
      fail<LayoutError>("all_gather: ", size, " arrays of shape ", shape, " are too many elements");
    return result;
  }
  if (result[0] % size != 0)
    fail<LayoutError>(name_of(op), ": expected axis 0 to be a multiple of the ", size,
                      " ranks, got shape ", shape, "; pad the array");
  if (op == Collective::reduce_scatter) result[0] /= size;
  return result;
}

void Communicator::check_reduction(Collective op, Reduction reduction, DType dtype) {
  if (!runtime::is_reduction(op)) return;
  if (!dtype.is_computable())
    fail<DTypeError>(name_of(op), ": dtype ", dtype, " has no arithmetic; convert the array first");
  const bool compares = reduction == Reduction::min || reduction == Reduction::max;
  if (compares && dtype.is_complex())
    fail<DTypeError>(name_of(op), ": op=\"", name_of(reduction), "\" is not defined for ", dtype,
                     "; reduce real and imaginary parts");
  if (reduction == Reduction::mean && !dtype.is_complex() && !dtype.is_floating())
    fail<DTypeError>(name_of(op), ": op=\"mean\" is not exact in ", dtype,
                     "; use op=\"sum\", or convert the array to a floating dtype");
}

namespace runtime {

void check_peer(Collective op, int peer, int rank, int size) {
  if (!has_root(op) && !is_message(op)) return;
  if (peer < 0 || peer >= size)
    fail<ArgumentError>(name_of(op), ": expected a rank from 0 to ", size - 1, ", got ", peer);
  if (is_message(op) && peer == rank)
    fail<ArgumentError>(name_of(op), ": rank ", rank,
                        " would exchange a message with itself; copy the array");
}

}  // namespace runtime
}  // namespace spanwise
