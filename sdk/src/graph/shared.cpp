// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/shared.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "graph/execute/owned_mutex.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise {
namespace {

// One mutex for all values, held only while a few pointers are read or replaced.
Mutex& access_mutex() {
  static auto& mutex = *new Mutex;  // never destroyed: values may outlive static objects
  return mutex;
}

}  // namespace

SharedAccess::SharedAccess() { access_mutex().lock(); }
SharedAccess::~SharedAccess() { access_mutex().unlock(); }

void SharedAccess::exchange(SharedValue& shared, Array& value) noexcept {
  std::swap(shared.value_, value);
}

SharedValue::SharedValue(TensorType type, Array value)
    : type_(std::move(type)), mutex_(std::make_unique<graph::OwnedMutex>()) {
  check(value);
  value_ = to_device(value, device());
}

SharedValue::~SharedValue() = default;

void SharedValue::check(const Array& value) const {
  const TensorType anywhere(type_.dtype(), type_.shape());
  const auto mismatch = anywhere.mismatch(value);
  if (mismatch) fail<InputError>("shared variable of ", type_, ": ", mismatch.value_or(""));
}

Array SharedValue::get() const {
  const SharedAccess access;
  return access.value(*this);
}

void SharedValue::set(Array value) {
  check(value);
  value = to_device(value, device());
  if (!mutex_->lock())
    fail<GraphError>("shared variable of ", type_,
                     ": set_value was called by an op of a function that updates the variable, or "
                     "while such a function waits for this thread; expected the function to have "
                     "returned");
  const std::lock_guard updating(*mutex_, std::adopt_lock);
  SharedAccess().exchange(*this, value);
}

Variable shared(Array value, std::string name, std::optional<Device> device) {
  TensorType type(value.dtype(), Shape(value.rank(), TensorType::any),
                  device.value_or(value.device()));
  auto holder = make_ref<SharedValue>(type, std::move(value));
  return Variable::shared(std::move(holder), std::move(name));
}

}  // namespace spanwise
