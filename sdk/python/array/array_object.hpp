// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "python/support/python_values.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/python/binding.hpp"

/// The object struct of spanwise.Array. The type is a plain heap type rather than a pybind11 class,
/// so that making, importing and passing an array takes tens of nanoseconds.
namespace spanwise::python {

struct PyArray {
  PyObject_HEAD
  Array array;
  /// The spanwise.Array whose memory this is a view of, or null; never a view itself.
  PyObject* base;
  PyObject* weakrefs;
  bool is_unowned;  ///< the storage is borrowed from `base`, without a reference to it
  bool is_element;  ///< made by wrap_copy_of(), whose free list keeps it with its fields intact
};

/// The type object; set by module initialisation, constant afterwards.
extern PyTypeObject* array_type;

inline bool is_array(PyObject* object) noexcept {
  if (Py_TYPE(object) == array_type) return true;
  // tp_subclasses is null while there is no subclass, the common case: a fast "no" for other
  // objects.
  return array_type->tp_subclasses != nullptr && PyType_IsSubtype(Py_TYPE(object), array_type) != 0;
}
/// Only for objects that is_array() accepts.
inline Array& array_in(PyObject* object) noexcept {
  return reinterpret_cast<PyArray*>(object)->array;
}

/// The array in any object. Throws TypeError, which names the argument, if it is no spanwise.Array.
const Array& checked_array(PyObject* object, const char* argument);

/// A new reference to a new spanwise.Array around `array`. Null with a Python error set when out of
/// memory. Needs the GIL.
PyObject* wrap(Array&& array) noexcept;
PyObject* wrap(const Array& array) noexcept;
/// The same for a new array of rank 0 on the CPU, with a copy of the element at `address`. Throws
/// what allocate() throws.
PyObject* wrap_copy_of(const void* address, DType dtype);
/// Frees the arrays in the free list of wrap_copy_of().
void clear_element_free_list() noexcept;
/// Enables or disables that free list. It is enabled initially; disabling it frees its arrays.
void enable_element_free_list(bool is_enabled) noexcept;
/// A new reference to a new spanwise.Array that shares `memory`. Null without a Python error if
/// spanwise::share_at() returns false, with one when out of memory. Needs the GIL.
PyObject* wrap_shared(const BorrowedTensor& memory, ForeignOwner owner);
/// As wrap(), for a view of the memory of `source` (an is_array() object), which becomes its base.
PyObject* wrap_view(PyObject* source, Array&& view) noexcept;
/// The same for a view that differs from `source` only by its layout, which was derived from the
/// layout of `source`.
PyObject* wrap_view(PyObject* source, Layout&& layout) noexcept;

/// `object` as an Array: a spanwise.Array as it is, any other object through the bridges
/// (sw.asarray). Throws the bridges' errors, or pybind11::error_already_set. Needs the GIL.
Array import_array(PyObject* object, const ImportOptions& options = {});

/// Imports the operands of a function: arrays of any library stay on their device, numbers and
/// lists are copied to the device of the first array. Calls import(i, options) for each operand i,
/// which returns the device of the array.
template <class F>
void import_operands(std::span<PyObject* const> operands, const F& import) {
  ImportOptions options;  // of numbers and lists
  for (const bool has_device : {true, false})
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (is_number_or_list(operands[i]) == has_device) continue;
      const Device device = import(i, has_device ? ImportOptions{} : options);
      if (!options.device) options.device = device;
    }
}

/// The import of an OutputArray, through which all code calls it.
Array import_output(PyObject* object, std::string_view caller, std::string_view argument);

/// A cheaper import_array() for host memory that is used only during one call: the result does not
/// own a reference to `object`, which the caller holds. Nothing if the object's bridge cannot
/// describe its memory (Bridge::try_describe()): then call import_array().
std::optional<Array> borrowed_array(PyObject* object);

/// The memory of a C-contiguous foreign array of at most 16 KiB on the host, to be read without
/// making an Array. Valid while the caller holds the object.
struct SmallMemory {
  const void* data;
  DType dtype;
  Shape shape;  ///< without an extent of 0
  std::int64_t bytes;
};
/// Nothing for other objects: then call import_array().
std::optional<SmallMemory> small_memory(PyObject* object);

/// Storage over memory that `owner` keeps alive, and to which the storage owns a reference.
Storage storage_owned_by(PyObject* owner, void* data, std::size_t bytes, Device device,
                         bool readonly);
/// The `owner` of a storage made with python_owner(), a borrowed reference; else null.
PyObject* owner_of(const Storage& storage) noexcept;

/// From spanwise.dtype, objects like numpy.dtype, names, and the Python types float, int, bool and
/// complex. Throws DTypeError.
DType dtype_from(pybind11::handle object);
/// From spanwise.device, a string, None (the default device), another library's device, or an
/// object with .device. Throws ArgumentError.
Device device_from(pybind11::handle object);
/// The spanwise.dtype and spanwise.device objects, new references.
pybind11::object dtype_object(DType dtype);
pybind11::object device_object(Device device);
/// From an int or an iterable of ints. Throws DTypeError, LayoutError for too many.
Shape shape_from(pybind11::handle object);
/// Adds methods and attributes to spanwise.Array; call from SW_BIND parts that name array_type. The
/// tables end with an empty entry and must live as long as the process.
void add_array_methods(PyMethodDef* methods);
void add_array_attributes(PyGetSetDef* attributes);

/// The array itself if it is on the CPU, else a complete copy there. Waits without the GIL.
Array on_host(const Array& array);

/// Whether the host may read and write the elements without waiting: CPU memory that no stream
/// uses.
inline bool no_pending_work(const Array& array) noexcept {
  return array.device().is_cpu() && array.storage() && array.storage().uses().none();
}

/// The one element as a Python bool, int, float or complex. Throws LayoutError for other sizes,
/// DTypeError for dtypes without a Python number. Waits without the GIL.
pybind11::object python_number(const Array& array);

/// The array as a numpy.ndarray: shares memory on the CPU, copies from a GPU. Throws DTypeError if
/// has_numpy_dtype() is false.
pybind11::object to_numpy(const Array& array);

}  // namespace spanwise::python
