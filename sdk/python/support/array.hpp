// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "spanwise/array.hpp"
#include "spanwise/bridge.hpp"

/// spanwise.Array as CPython sees it. The type is a plain heap type rather than a pybind11 class,
/// so that making, importing and passing arrays costs tens of nanoseconds; the casters below let
/// pybind11 functions take and return spanwise::Array, and DType, Device and Shape, all the same.
namespace spanwise::python {

struct PyArray {
  PyObject_HEAD
  Array array;
  /// The spanwise.Array whose memory this is a view of, or null; never a view itself.
  PyObject* base;
  PyObject* weakrefs;
  bool is_lent;     ///< the storage is the base's, which keeps it for this one too
  bool is_element;  ///< made by wrap_copy_of(): may be kept whole for the next of its dtype
};

/// The type object; set while the module is being initialised, never changed after.
extern PyTypeObject* array_type;

inline bool is_array(PyObject* object) noexcept {
  if (Py_TYPE(object) == array_type) return true;
  // Null until there is a first subclass, which is rare: other libraries' arrays are told by this.
  return array_type->tp_subclasses != nullptr && PyType_IsSubtype(Py_TYPE(object), array_type) != 0;
}
/// Only for objects that is_array() accepts.
inline Array& array_in(PyObject* object) noexcept {
  return reinterpret_cast<PyArray*>(object)->array;
}

/// For any object, which `what` names in the error: throws TypeError where it is no spanwise.Array.
const Array& checked_array(PyObject* object, const char* what);

/// A new reference to a new spanwise.Array around `array`. Null with a Python error set when out of
/// memory. Needs the GIL.
PyObject* wrap(Array&& array) noexcept;
PyObject* wrap(const Array& array) noexcept;
/// The same for a new array of rank 0 on the CPU, with a copy of the element at `place`. Throws
/// what allocate() throws.
PyObject* wrap_copy_of(const void* place, DType dtype);
/// Gives back the memory that is kept for the next arrays of wrap_copy_of().
void drop_kept_elements() noexcept;
/// Whether memory of such arrays is kept when they go, as it is at first.
void keep_elements(bool is_on) noexcept;
/// A new reference to a new spanwise.Array that shares `memory`. Null without a Python error where
/// spanwise::share_at() has nothing, with one when out of memory. Needs the GIL.
PyObject* wrap_shared(const BorrowedTensor& memory, ForeignOwner owner);
/// As wrap(), for a view of the memory of `source` (an is_array() object), which becomes its base.
PyObject* wrap_view(PyObject* source, Array&& view) noexcept;
/// The same for a view that differs from `source` by its layout alone, one that the source's layout
/// has made.
PyObject* wrap_view(PyObject* source, Layout&& layout) noexcept;

/// `object` as an Array: ours as it is, anything else through the bridges (sw.asarray). Throws the
/// bridges' errors, or pybind11::error_already_set. Needs the GIL.
Array import_array(PyObject* object, const ImportOptions& options = {});

/// The array that a function writes its result to (`out=`): ours as it is, anything else through
/// the bridges, which share its memory or throw SharingError, and ReadOnlyError where it is
/// read-only. Whether ours may be written is for the operation to ask. Needs the GIL.
Array writable_array(PyObject* object);

/// import_array() for the time of one call on the host, in which nobody keeps the array: where the
/// object's bridge lends its memory, nothing is done to keep it alive, which the caller's reference
/// does. Nothing where import_array() has to be asked.
std::optional<Array> lent_array(PyObject* object);

/// A small foreign array on the host whose elements lie in C order: what most of those are that are
/// only read, and at once, which needs no Array around their memory. Valid while `object` is held.
struct SmallMemory {
  const void* data;
  DType dtype;
  Shape shape;  ///< without an extent of 0
  std::int64_t bytes;
};
/// Nothing where import_array() has to be asked.
std::optional<SmallMemory> small_memory(PyObject* object);

/// Turns the exception that is being handled into a Python error. For use in `catch (...)` of slots
/// that pybind11 does not guard. Returns null, so that `return raise_current()` reads well.
PyObject* raise_current() noexcept;

/// Storage over memory that `owner` (a new reference is taken) keeps alive. The reference is
/// dropped when the last array goes, on any thread, and simply forgotten once the interpreter has
/// ended.
Storage keep_alive(PyObject* owner, void* data, std::size_t bytes, Device device, bool readonly);
/// The same as bridges need it: a new reference to `owner`, given back as keep_alive() does.
ForeignOwner python_owner(PyObject* owner);
/// The owner that one of the two was given for this storage (borrowed), or null.
PyObject* owner_of(const Storage& storage) noexcept;

/// np.dtype-like objects, names, Python types (float, int, bool, complex) and ours. Throws
/// DTypeError.
DType dtype_from(pybind11::handle object);
/// A Device, a string, None (the default device), or an object with .device.
Device device_from(pybind11::handle object);
/// The spanwise.dtype and spanwise.device objects, new references.
pybind11::object dtype_object(DType dtype);
pybind11::object device_object(Device device);
/// An int, a sequence of ints, or an iterable of ints.
Shape shape_from(pybind11::handle object);

/// A reference to a spanwise.Array, for pybind11 functions that need the object itself: its first
/// parameter in a method, for instance, so that views get their base.
class ArrayObject : public pybind11::object {
 public:
  PYBIND11_OBJECT_DEFAULT(ArrayObject, object, is_array)
  const Array& array() const noexcept { return array_in(ptr()); }
  /// `view` as an object whose base is this array (or this array's own base).
  pybind11::object with_view(Array view) const {
    PyObject* made = wrap_view(ptr(), std::move(view));
    if (made == nullptr) throw pybind11::error_already_set();
    return pybind11::reinterpret_steal<pybind11::object>(made);
  }
};

/// Adds to the type what other parts know about arrays (protocols, conversions); call from SW_BIND
/// parts of an order above 50. The definitions must live as long as the process. The tables end
/// with an empty entry.
void add_array_methods(PyMethodDef* methods);
void add_array_attributes(PyGetSetDef* attributes);
/// The same for a callable whose first parameter is the array, through pybind11.
template <class Function, class... Extra>
void def_array_method(const char* name, Function&& function, const Extra&... extra) {
  const pybind11::handle type(reinterpret_cast<PyObject*>(array_type));
  pybind11::setattr(type, name,
                    pybind11::cpp_function(std::forward<Function>(function), pybind11::name(name),
                                           pybind11::is_method(type), extra...));
}

}  // namespace spanwise::python

namespace pybind11::detail {

template <>
struct handle_type_name<spanwise::python::ArrayObject> {
  static constexpr auto name = const_name("spanwise.Array");
};

/// What these casters cannot read raises the reason (a BridgeError, a DTypeError, ...) instead of
/// pybind11's "incompatible function arguments". They are therefore for functions without
/// overloads.
template <>
struct type_caster<spanwise::Array> {
  PYBIND11_TYPE_CASTER(spanwise::Array, const_name("spanwise.Array"));
  bool load(handle source, bool convert) {
    if (spanwise::python::is_array(source.ptr())) {
      value = spanwise::python::array_in(source.ptr());
      return true;
    }
    if (!convert) return false;
    value = spanwise::python::import_array(source.ptr());
    return true;
  }
  static handle cast(spanwise::Array array, return_value_policy, handle) {
    PyObject* object = spanwise::python::wrap(std::move(array));
    if (object == nullptr) throw error_already_set();
    return object;
  }
};

template <>
struct type_caster<spanwise::DType> {
  PYBIND11_TYPE_CASTER(spanwise::DType, const_name("spanwise.dtype"));
  bool load(handle source, bool) {
    value = spanwise::python::dtype_from(source);
    return true;
  }
  static handle cast(spanwise::DType dtype, return_value_policy, handle) {
    return spanwise::python::dtype_object(dtype).release();
  }
};

template <>
struct type_caster<spanwise::Device> {
  PYBIND11_TYPE_CASTER(spanwise::Device, const_name("spanwise.device"));
  bool load(handle source, bool) {
    value = spanwise::python::device_from(source);
    return true;
  }
  static handle cast(spanwise::Device device, return_value_policy, handle) {
    return spanwise::python::device_object(device).release();
  }
};

template <>
struct type_caster<spanwise::Shape> {
  PYBIND11_TYPE_CASTER(spanwise::Shape, const_name("tuple[int, ...]"));
  bool load(handle source, bool) {
    value = spanwise::python::shape_from(source);
    return true;
  }
  static handle cast(const spanwise::Shape& shape, return_value_policy, handle) {
    tuple extents(static_cast<std::size_t>(shape.size()));
    for (int i = 0; i < shape.size(); ++i) extents[static_cast<std::size_t>(i)] = int_(shape[i]);
    return extents.release();
  }
};

}  // namespace pybind11::detail
