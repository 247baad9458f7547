// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/collectives/calls.hpp"

#include <array>
#include <cstddef>

namespace spanwise {
namespace {

constexpr std::array<std::string_view, 9> collective_names{
    "all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter",
    "all_to_all", "send",   "recv",      "barrier"};
constexpr std::array<std::string_view, 5> reduction_names{"sum", "prod", "min", "max", "mean"};

template <class E, std::size_t n>
E collective_enum_named(const char* what, const std::array<std::string_view, n>& names,
                        std::string_view name) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<E>(i);
    all += text(i ? ", " : "", names[i]);
  }
  fail<ArgumentError>("collectives: expected ", what, " of ", all, ", got \"", name, '"');
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
  Shape result = shape;
  if (shape.empty()) {
    const std::int64_t one = 1;
    result = Shape(std::span<const std::int64_t>(&one, 1));
  }
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
  if (!runtime::reduces(op)) return;
  if (!dtype.is_computable())
    fail<DTypeError>(name_of(op), ": dtype ", dtype, " has no arithmetic; convert the array first");
  const bool orders = reduction == Reduction::min || reduction == Reduction::max;
  if (orders && dtype.is_complex())
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

bool may_share_bytes(const Array& a, const Array& b) noexcept {
  if (!a.storage() || !b.storage() || a.device() != b.device()) return false;
  const auto first = [](const Array& x) {
    return static_cast<const std::byte*>(x.storage().data()) - x.storage().start();
  };
  return first(a) == first(b);  // one allocation
}

}  // namespace runtime
}  // namespace spanwise
