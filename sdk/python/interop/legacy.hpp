// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string_view>

#include "interface.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/layout.hpp"

/// The common code of the bridges to PyCUDA, CUDAMat and Gnumpy.
namespace spanwise::python {

/// A library whose arrays are only an address: they store neither the GPU nor the context of their
/// memory. All their work is on the legacy default stream of the calling thread's current context,
/// and they are always writable.
///
/// A replacement of such a library over host memory (in tests) has the module attribute
/// `__spanwise_device__ = "cpu"`; its arrays are on the CPU.
class LegacyLibrary {
 public:
  /// `module`: the key in sys.modules; `name`: the library's name in messages.
  constexpr LegacyLibrary(const char* module, std::string_view name) noexcept
      : module_name_(module), name_(name) {}

  /// Whether the imported module is such a replacement.
  bool is_fake() const;
  /// Sets the device of view.memory, whose address, shape and dtype are set, and view.streams.
  /// Throws BridgeError for an address unknown to the driver, DeviceError if there is no
  /// GPU, SharingError for memory of a context that is not its GPU's primary context.
  void set_device(ForeignView& view) const;

  /// set_device() for Bridge::try_describe(): returns false where set_device() would throw, and for
  /// managed or pinned memory.
  bool try_describe(BorrowedTensor& memory) const noexcept;

  /// Throws ArgumentError for more elements than CUDAMat counts.
  void check_count(const Array& array) const;
  /// Blocks read-only arrays, and arrays that are not on the device of the library's current
  /// context. Throws DeviceError if that context is not a primary context.
  std::optional<ShareBlocker> share_blocker(const Array& array) const;
  /// A private copy on the library's current device, in C or Fortran order. Needs no GIL.
  Array copied(const Array& array, bool column_major = false) const;
  /// Makes the legacy default stream wait for the work queued on `array`, and records it as a
  /// writer of `array`.
  void order(const Array& array) const;

 private:
  Device library_device() const;

  AttributeName module_name_;
  std::string_view name_;
  // Cache of is_fake(): the module object (a reference, so that the address is not reused) and the
  // result. Reading an attribute that a module does not have is slow.
  mutable PyObject* module_ = nullptr;
  mutable bool is_fake_ = false;
};

}  // namespace spanwise::python
