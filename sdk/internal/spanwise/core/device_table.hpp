// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {

/// The implementations of one interface by kind of device: a struct of functions, of which a family
/// of operations has one per back end. Constant-initialise it (constinit), since static
/// initialisers fill it. Thread-safe.
template <class Implementation>
class DeviceTable {
 public:
  /// `family` begins error messages: "indexing".
  constexpr explicit DeviceTable(const char* family) noexcept : family_(family) {}
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;

  /// Sets the implementation for a kind of device; called by a static initialiser of the code that
  /// has it. It must live as long as the process. Returns the previous one, null if there is none.
  /// Throws ArgumentError for a kind that is no DLPack device type.
  const Implementation* set(DeviceKind kind, const Implementation* implementation) {
    const std::size_t index = index_of(kind);
    if (index >= by_kind_.size())
      fail<ArgumentError>(family_, ": ", static_cast<int>(kind),
                          " is no kind of device; expected 1 to ", by_kind_.size() - 1);
    return by_kind_[index].exchange(implementation);
  }

  /// The implementation for memory of `device`, which is that of working_device(device). Throws
  /// DeviceError if its kind has none.
  const Implementation& operator[](Device device) const {
    const std::size_t index = index_of(working_device(device).kind());
    const Implementation* implementation =
        index < by_kind_.size() ? by_kind_[index].load(std::memory_order_acquire) : nullptr;
    if (implementation == nullptr) [[unlikely]]
      fail<DeviceError>(family_, ": not implemented for device ", device,
                        "; move the arrays to the CPU: a.to(\"cpu\")");
    return *implementation;
  }

 private:
  static constexpr std::size_t index_of(DeviceKind kind) noexcept {
    return static_cast<std::size_t>(kind);
  }

  const char* family_;
  // By the value of DeviceKind; DLPack's are below 32.
  std::array<std::atomic<const Implementation*>, 32> by_kind_{};
};

}  // namespace spanwise
