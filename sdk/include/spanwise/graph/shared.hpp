// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "spanwise/array.hpp"
#include "spanwise/export.hpp"
#include "spanwise/graph/type.hpp"
#include "spanwise/graph/variable.hpp"
#include "spanwise/ref.hpp"

namespace spanwise {

namespace graph {
class OwnedMutex;
}

/// The value of a shared variable: one place that every function which uses the variable reads, and
/// that functions change through `updates`. Its functions may be called from any thread.
class SW_API SharedValue final : public RefCounted {
 public:
  /// `type` says which values it may take and fixes the device. Throws InputError where `value`
  /// does not fit.
  SharedValue(TensorType type, Array value);
  ~SharedValue() override;

  const TensorType& type() const noexcept { return type_; }
  Device device() const noexcept { return *type_.device(); }
  /// The array itself, not a copy: it is never written to, only replaced.
  Array get() const;
  /// Takes `value` as it is, moved to device(). Waits while a function that updates this runs;
  /// throws GraphError where this thread runs it or that one waits for this thread, and InputError
  /// where `value` does not fit.
  void set(Array value);
  /// Throws InputError saying what was expected.
  void check(const Array& value) const;

  /// What functions that update it hold while they run.
  graph::OwnedMutex& mutex() const noexcept { return *mutex_; }

 private:
  friend class SharedAccess;

  TensorType type_;
  Array value_;
  std::unique_ptr<graph::OwnedMutex> mutex_;
};

/// Reads and replaces several values at one moment, so that who reads them sees all of an update or
/// nothing of it.
class SW_API SharedAccess {
 public:
  SharedAccess();
  ~SharedAccess();
  SharedAccess(const SharedAccess&) = delete;
  SharedAccess& operator=(const SharedAccess&) = delete;

  const Array& value(const SharedValue& shared) const noexcept { return shared.value_; }
  /// `value` fits and is on the device. Gives what was there, to be let go after this access.
  void exchange(SharedValue& shared, Array& value) noexcept;
};

/// A variable that has `value`, on `device`: by default where value is. Throws LayoutError.
SW_API Variable shared(Array value, std::string name = {},
                       std::optional<Device> device = std::nullopt);

}  // namespace spanwise
