// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "spanwise/python/bridge_kit.hpp"
#include "spanwise/bridge.hpp"

/// Common functions of the bridges to single libraries.
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

}  // namespace spanwise::python
