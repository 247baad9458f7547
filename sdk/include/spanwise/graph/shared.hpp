// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/graph/type.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise {

namespace graph {
class OwnedMutex;
}

/// The value of a shared variable. Every function that uses the variable reads it here, and
/// functions replace it through `updates`. Those functions may be called from any thread.
class SW_API SharedValue final : public RefCounted {
 public:
  /// `type` restricts the values and must specify the device. `value` is moved there. Throws
  /// InputError where `value` does not match.
  SharedValue(TensorType type, Array value);
  ~SharedValue() override;

  const TensorType& type() const noexcept { return type_; }
  Device device() const noexcept { return *type_.device(); }
  /// The array itself, not a copy: functions never write to it, they replace it.
  Array get() const;
  /// Replaces the value by `value`, moved to device() but not copied otherwise. Waits while a
  /// function that updates this variable runs. Throws GraphError where that function runs on this
  /// thread, or waits for a lock that this thread holds; InputError where `value` does not match
  /// the type.
  void set(Array value);
  /// Throws InputError where `value` does not match the type.
  void check(const Array& value) const;

  /// Held by functions that update the variable while they run.
  graph::OwnedMutex& mutex() const noexcept { return *mutex_; }

 private:
  friend class SharedAccess;

  TensorType type_;
  Array value_;
  std::unique_ptr<graph::OwnedMutex> mutex_;
};

/// Locks all shared values while it lives, so that several of them are read or replaced atomically.
class SW_API SharedAccess {
 public:
  SharedAccess();
  ~SharedAccess();
  SharedAccess(const SharedAccess&) = delete;
  SharedAccess& operator=(const SharedAccess&) = delete;

  const Array& value(const SharedValue& shared) const noexcept { return shared.value_; }
  /// Swaps the value with `value`, which must match the type and be on the device. Release the
  /// previous value, returned in `value`, after this object is destroyed.
  void exchange(SharedValue& shared, Array& value) noexcept;
};

/// A shared variable with initial value `value` on `device` (default: the value's). Its type fixes
/// dtype and rank; extents may change. Throws LayoutError, DeviceError.
SW_API Variable shared(Array value, std::string name = {},
                       std::optional<Device> device = std::nullopt);

}  // namespace spanwise
