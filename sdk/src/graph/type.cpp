// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/type.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

bool extents_match(const Shape& expected, const Shape& got) noexcept {
  return std::ranges::equal(expected, got, [](std::int64_t expected_extent, std::int64_t extent) {
    return expected_extent == TensorType::any || expected_extent == extent;
  });
}

// Theano's names of the usual broadcast patterns (theano/tensor/type.py), else the shape itself.
std::string shape_name(const Shape& shape) {
  const int rank = shape.size();
  if (std::ranges::all_of(shape, [](auto n) { return n == TensorType::any; })) {
    static constexpr const char* names[] = {"scalar", "vector", "matrix"};
    return rank < 3 ? names[rank] : text("tensor", rank);
  }
  if (rank == 2 && shape[0] == 1 && shape[1] == TensorType::any) return "row";
  if (rank == 2 && shape[1] == 1 && shape[0] == TensorType::any) return "col";
  const auto extent_text = [](std::int64_t extent) {
    return extent == TensorType::any ? "None" : std::to_string(extent);
  };
  return text('(', joined(shape, ", ", extent_text), rank == 1 ? ",)" : ")");
}

}  // namespace

TensorType::TensorType(DType dtype, Shape shape, std::optional<Device> device)
    : dtype_(dtype), shape_(std::move(shape)), device_(device) {
  if (rank() > max_rank) fail<LayoutError>("TensorType: rank ", rank(), " is above ", max_rank);
  for (const std::int64_t extent : shape_)
    if (extent < any)
      fail<LayoutError>("TensorType: extent ", extent, " in shape ", shape_,
                        "; expected an extent >= 0, or TensorType::any (None in Python)");
}

bool TensorType::has_fixed_shape() const noexcept {
  return std::ranges::find(shape_, any) == shape_.end();
}

bool TensorType::has_fixed_extents() const noexcept {
  return std::ranges::any_of(shape_, [](auto extent) { return extent != any; });
}

bool TensorType::matches(const Array& array) const noexcept {
  return array.dtype() == dtype_ && extents_match(shape_, array.shape()) &&
         (!device_ || *device_ == array.device());
}

std::optional<std::string> TensorType::mismatch(const Array& array) const {
  if (array.dtype() != dtype_) return text("expected dtype ", dtype_, ", got ", array.dtype());
  if (array.rank() != rank())
    return text("expected ", rank(), " axes, got ", array.rank(), " (shape ", array.shape(), ")");
  if (!extents_match(shape_, array.shape()))
    return text("expected shape ", shape_name(shape_), ", got ", array.shape());
  if (device_ && *device_ != array.device())
    return text("expected device ", *device_, ", got ", array.device());
  return std::nullopt;
}

bool TensorType::includes(const TensorType& other) const noexcept {
  return other.dtype_ == dtype_ && extents_match(shape_, other.shape_) &&
         (!device_ || device_ == other.device_);
}

std::string TensorType::name() const {
  std::string name = text("TensorType(", dtype_, ", ", shape_name(shape_));
  if (device_) name += text(", ", *device_);
  return name + ")";
}

std::ostream& operator<<(std::ostream& out, const TensorType& type) { return out << type.name(); }

}  // namespace spanwise
