// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "interface.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/layout.hpp"

/// What PyCUDA, CUDAMat and Gnumpy have in common.
namespace spanwise::python {

/// A library whose arrays are an address and nothing else: they say neither on which GPU nor in
/// which context the memory is, all work on them is queued on the legacy default stream of the
/// calling thread's current context, and they can always be written to.
///
/// A module that stands in for such a library over host memory says `__spanwise_device__ = "cpu"`;
/// then the same code takes and makes its arrays on the CPU.
class LegacyLibrary {
 public:
  /// `module` as in sys.modules; `name` speaks in messages.
  constexpr LegacyLibrary(const char* module, std::string_view name) noexcept
      : module_name_(module), name_(name) {}

  bool is_fake() const;
  /// Fills in the device and the streams of view.memory, whose address, shape and dtype are set.
  /// Throws BridgeError for an address that is not on a GPU, DeviceError where there is no GPU,
  /// SharingError for memory of a context that is not its GPU's primary one.
  void place(ForeignView& view) const;

  /// place() for Bridge::look(): false where it would throw, or the memory is managed or pinned.
  bool try_describe(BorrowedTensor& memory) const noexcept;

  /// Read-only arrays, and arrays that are not where the library works now. Throws DeviceError
  /// where the library works in a context of its own.
  std::optional<ShareBlocker> obstacle(const Array& array) const;
  /// A private copy where the library works now, in C or Fortran order. Needs no GIL.
  Array copied(const Array& array, bool column_major = false) const;
  /// The library's work comes after what is queued on `array`, and ours after the library's.
  void order(const Array& array) const;

 private:
  Device home() const;

  Name module_name_;
  std::string_view name_;
  // What was last seen in sys.modules (a reference, so that its address stays its own), and what it
  // said: asking a module for what it does not have is slow.
  mutable PyObject* module_ = nullptr;
  mutable bool is_stand_in_ = false;
};

/// x.<name> as integers; throws BridgeError where it is no tuple or list of them. `who` speaks.
Shape integers_of(PyObject* object, const Name& name, std::string_view who);

}  // namespace spanwise::python
