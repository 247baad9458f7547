// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "spanwise/core/array.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/layout.hpp"

namespace spanwise {

/// The static type of a value: dtype, rank, the extents that are known, and the device where that
/// is specified.
class SW_API TensorType {
 public:
  static constexpr std::int64_t any = -1;  ///< an extent that is not fixed

  /// `shape` has `any` where the extent is not fixed. Without a device the value is on the device
  /// of the node that computes it, or of the function. Throws LayoutError for other negative
  /// extents.
  TensorType(DType dtype, Shape shape, std::optional<Device> device = std::nullopt);

  DType dtype() const noexcept { return dtype_; }
  int rank() const noexcept { return shape_.size(); }
  const Shape& shape() const noexcept { return shape_; }
  const std::optional<Device>& device() const noexcept { return device_; }
  /// An axis fixed at extent 1 broadcasts against any other.
  bool broadcastable(int axis) const noexcept { return shape_[axis] == 1; }
  /// Whether every extent is fixed; true for rank 0.
  bool has_fixed_shape() const noexcept;
  /// Whether some extent is fixed; false for rank 0.
  bool has_fixed_extents() const noexcept;

  /// Whether `array` is a value of this type: dtype, rank, fixed extents and, if specified, device.
  bool matches(const Array& array) const noexcept;
  /// nullopt where matches(array), else the reason as one clause: "expected dtype float32, got
  /// int64".
  std::optional<std::string> mismatch(const Array& array) const;
  /// Whether every value of type `other` is also of this type; an unspecified device includes all
  /// devices.
  bool includes(const TensorType& other) const noexcept;
  /// "TensorType(float32, matrix)", "TensorType(float32, (None, 3))", with ", cuda:0" where fixed.
  std::string name() const;

  friend bool operator==(const TensorType&, const TensorType&) noexcept = default;
  friend SW_API std::ostream& operator<<(std::ostream& out, const TensorType& type);

 private:
  DType dtype_;
  Shape shape_;
  std::optional<Device> device_;
};

}  // namespace spanwise
