// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "python/interop/foreign_description.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/python/bridge_kit.hpp"

/// What the bridges to single libraries have in common.
namespace spanwise::python {

/// A bridge to one library, which accepts the objects of one or two of its classes.
class LibraryBridge : public Bridge {
 public:
  /// `library` is the name of the bridge and of the library's module; the classes must outlive the
  /// bridge.
  LibraryBridge(std::string_view library, std::string_view protocols, const ForeignClass& array,
                const ForeignClass* second_class = nullptr) noexcept
      : library_(library), protocols_(protocols), class_(array), second_class_(second_class) {}

  std::string_view name() const override { return library_; }
  BridgePriority priority() const override { return BridgePriority::library; }
  std::string_view protocols() const override { return protocols_; }
  std::string_view module() const override { return library_; }
  bool accepts(PyObject* object) const override {
    return class_.has(object) || (second_class_ != nullptr && second_class_->has(object));
  }
  PyObject* listed_class() const override { return class_.get(); }
  bool exports() const override { return true; }

 protected:
  /// For share_blocker(): throws DTypeError if `has_dtype` is false.
  void check_dtype(DType dtype, bool has_dtype) const;
  /// Blocks layouts other than C order; `display_name` is the library's name in messages.
  static std::optional<ShareBlocker> order_blocker(const Array& array,
                                                   std::string_view display_name);
  /// Blocks addresses that are no multiple of `alignment` bytes; `need` is a clause.
  static std::optional<ShareBlocker> alignment_blocker(const Array& array, std::uintptr_t alignment,
                                                       std::string_view need);

 private:
  std::string_view library_, protocols_;
  const ForeignClass& class_;
  const ForeignClass* second_class_;
};

/// Whether NumPy itself, without ml_dtypes, has the dtype; libraries built on NumPy have those
/// only.
inline bool is_numpys_own(DType dtype) noexcept {
  return dtype.is_computable() && dtype != bfloat16;
}

/// Imports the module. Throws BridgeError, with advice how to install it, if that fails.
pybind11::module_ import_library(const char* module, const char* package);
/// The same for libraries that pip does not install; `remedy` is the advice in the message.
pybind11::module_ import_library(const char* module, const char* library, const char* remedy);

/// Blocks read-only arrays, for libraries whose arrays are always writable.
std::optional<ShareBlocker> readonly_share_blocker(const Array& array, std::string_view library);
/// Blocks arrays that are not on a GPU, for libraries with arrays on GPUs only.
std::optional<ShareBlocker> host_share_blocker(const Array& array, std::string_view library);
/// The default device if it is a GPU, else cuda:0.
Device default_gpu();
/// The device of memory that another library reports to be on a GPU; default_gpu() for the null
/// address of an array without elements. Throws DeviceError if there is no GPU, BridgeError for an
/// address that the driver does not know.
Device device_of_memory(const void* address, std::string_view prefix);
/// A private C-contiguous copy on a GPU: the array's own, else default_gpu().
Array copy_on_gpu(const Array& array);
/// A private C-contiguous copy on the CPU.
Array copy_on_host(const Array& array);

/// bool(x.<name>); throws the errors of reading it.
bool bool_attribute(PyObject* object, const AttributeName& name);
/// bool(x.<name>()); throws the errors of calling it.
bool bool_method(PyObject* object, const AttributeName& name);

// The common code of the bridges to PyCUDA, CUDAMat and Gnumpy.

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
