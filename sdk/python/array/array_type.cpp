// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <Python.h>
#include <structmember.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/array/array_slots.hpp"
#include "python/support/c_api.hpp"
#include "python/support/gil.hpp"
#include "spanwise/core/storage.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::python {

namespace py = pybind11;

PyTypeObject* array_type = nullptr;

namespace {

// Free lists of spanwise.Array objects, which programs that mix libraries create for each array
// that they pass on. At most 32 entries each. Guarded by the GIL.
class ObjectFreeList {
 public:
  /// An object whose fields are not constructed; null with a Python error when out of memory.
  PyObject* make() noexcept {
    // Not tp_alloc, which clears the memory that construct() initialises.
    if (count_ == 0) return reinterpret_cast<PyObject*>(PyObject_New(PyArray, array_type));
    return revived(objects_[--count_]);
  }
  /// The same for an import; moves the storage of an earlier import to `spare` if one is in the
  /// list.
  PyObject* make_for_import(Storage& spare) noexcept {
    if (imports_count_ == 0) return make();
    PyObject* object = imports_[--imports_count_];
    Storage* storage = storage_in(object);
    spare = std::move(*storage);
    storage->~Storage();
    return revived(object);
  }
  /// Takes an object whose fields are destroyed; frees it if the list is full or it is of a
  /// subclass.
  void keep(PyObject* object) noexcept {
    if (Py_TYPE(object) == array_type && count_ < objects_.size())
      objects_[count_++] = object;  // it keeps its reference to the type
    else
      free_object(object);
  }
  /// The same, together with a storage after Storage::reclaim().
  void keep_for_import(PyObject* object, Storage&& spare) noexcept {
    if (Py_TYPE(object) != array_type || imports_count_ == imports_.size()) {
      spare = {};
      return keep(object);
    }
    new (storage_in(object)) Storage(std::move(spare));
    imports_[imports_count_++] = object;
  }
  /// An array from try_keep_element() with its fields intact; the caller overwrites its element.
  /// Null without a Python error if the last one in the list has another dtype, or there is none.
  PyObject* make_element(DType dtype) noexcept {
    if (elements_count_ == 0) return nullptr;
    PyObject* object = elements_[--elements_count_];
    if (array_in(object).dtype() == dtype) return revived(object);
    discard(object);  // makes room for arrays of the dtype that is now in use
    return nullptr;
  }
  /// Takes an array of wrap_copy_of() from tp_dealloc. Returns false, and does not take it, if its
  /// storage is shared or read-only, or the list is full.
  bool try_keep_element(PyObject* object) noexcept {
    const Storage& storage = array_in(object).storage();
    if (elements_count_ == max_elements_ || Py_TYPE(object) != array_type || storage.readonly() ||
        !storage.is_exclusive())
      return false;
    elements_[elements_count_++] = object;
    return true;
  }
  /// Enables try_keep_element(), or disables it and frees its arrays.
  void enable_elements(bool is_enabled) noexcept {
    max_elements_ = is_enabled ? elements_.size() : 0;
    if (!is_enabled) clear_elements();
  }
  void clear_elements() noexcept {
    while (elements_count_ > 0) discard(elements_[--elements_count_]);
  }

 private:
  void discard(PyObject* element) noexcept {
    array_in(element).~Array();
    keep(element);
  }
  // As PyObject_Init(), for an object whose type is set already.
  static PyObject* revived(PyObject* object) noexcept {
    _Py_NewReference(object);
    return object;
  }
  // A spare storage is in the memory of the object's destroyed Array.
  static Storage* storage_in(PyObject* object) noexcept {
    return reinterpret_cast<Storage*>(&reinterpret_cast<PyArray*>(object)->array);
  }

  std::array<PyObject*, 32> objects_{}, imports_{}, elements_{};
  std::size_t count_ = 0, imports_count_ = 0, elements_count_ = 0, max_elements_ = 32;
};
constinit ObjectFreeList object_free_list;

// Constructs the fields of an object from the free list with the array that make() returns. Returns
// null for a null `object`.
template <class Make>
PyObject* construct(PyObject* object, const Make& make, PyObject* base = nullptr,
                    bool is_unowned = false) noexcept {
  if (object == nullptr) return nullptr;
  auto* self = reinterpret_cast<PyArray*>(object);
  new (&self->array) Array(make());
  self->base = Py_XNewRef(base);
  self->weakrefs = nullptr;
  self->is_unowned = is_unowned;
  self->is_element = false;
  return object;
}

// memcpy() with constant sizes for the common itemsizes: one load and one store.
void copy_element(const void* from, void* to, std::size_t bytes) noexcept {
  if (bytes == 8)
    std::memcpy(to, from, 8);
  else if (bytes == 4)
    std::memcpy(to, from, 4);
  else
    std::memcpy(to, from, bytes);
}

// The base of a new view: the base of `source` if that is a view itself (a base is never a view).
PyObject* base_for_view_of(PyObject* source) noexcept {
  PyObject* base = reinterpret_cast<PyArray*>(source)->base;
  return base != nullptr ? base : source;
}

// Array(x, dtype=None, device=None): asarray(x, ...) as a new object of the class, for subclasses.
PyObject* array_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject *source = nullptr, *dtype = Py_None, *device = Py_None;
  static const char* names[] = {"", "dtype", "device", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:Array", const_cast<char**>(names), &source,
                                   &dtype, &device)) {
    return nullptr;
  }
  ImportOptions options{.may_compute = true};
  if (dtype != Py_None) options.dtype = dtype_from(dtype);
  if (device != Py_None) options.device = device_from(device);
  Array array = import_array(source, options);
  return construct(type->tp_alloc(type, 0), [&] { return std::move(array); });
}

void array_dealloc(PyObject* object) noexcept {
  auto* self = reinterpret_cast<PyArray*>(object);
  if (self->weakrefs != nullptr) PyObject_ClearWeakRefs(object);
  if (self->is_element && object_free_list.try_keep_element(object)) return;
  if (self->is_unowned) self->array.detach();
  // tp_dealloc runs with the GIL held; skips the check of release_object().
  PyObject* owner = static_cast<PyObject*>(self->array.reclaim(&release_object));
  PyObject* base = self->base;
  if (owner != nullptr) {
    Storage spare = self->array.take_storage();
    self->array.~Array();
    object_free_list.keep_for_import(object, std::move(spare));
    Py_DECREF(owner);
  } else {
    self->array.~Array();
    object_free_list.keep(object);
  }
  Py_XDECREF(base);
}

constexpr const char* array_doc =
    "Array(x, /, dtype=None, device=None)\n--\n\n"
    "A typed, strided view of memory on a device, which arrays may share.\n\n"
    "Made by spanwise.array, asarray, empty, zeros, ..., or Array(x), which shares the memory of "
    "x\n"
    "if it can. Indexing with integers, slices, Ellipsis and None makes views; with arrays, lists "
    "and\nmasks, and for a single element, it makes copies.";

PyTypeObject* make_array_type() {
  static PyMemberDef members[] = {
      {"__weaklistoffset__", T_PYSSIZET, offsetof(PyArray, weakrefs), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  std::vector<PyType_Slot> slots = {
      slot(Py_tp_new, guarded<&array_new>),
      slot(Py_tp_dealloc, &array_dealloc),
      slot(Py_tp_repr, guarded<&result_in_python<"_numpy.array_methods", "array_repr">>),
      slot(Py_tp_str, guarded<&result_in_python<"_numpy.array_methods", "array_str">>),
      slot(Py_tp_hash, guarded<&array_hash>),
      slot(Py_tp_iter, &array_iter),
      {Py_tp_members, members},
      {Py_tp_getset, array_attributes},
      {Py_tp_doc, const_cast<char*>(array_doc)},
      slot(Py_mp_subscript, guarded<&array_subscript>),
      slot(Py_mp_ass_subscript, guarded<&array_assign>),
      slot(Py_mp_length, &array_length),
      slot(Py_sq_item, guarded<&array_item>),
      slot(Py_sq_length, &array_length),
      slot(Py_bf_getbuffer, guarded<&array_get_buffer>),
      slot(Py_bf_releasebuffer, &array_release_buffer),
      slot(Py_nb_bool, guarded<&array_bool>),
      slot(Py_nb_index, guarded<&array_index>),
      slot(Py_nb_int, guarded<&array_int>),
      slot(Py_nb_float, guarded<&array_float>)};
  for (const PyType_Slot* next = array_operators; next->slot != 0; ++next) slots.push_back(*next);
  return make_type("spanwise.Array", sizeof(PyArray), std::move(slots), Py_TPFLAGS_BASETYPE);
}

}  // namespace

PyObject* wrap(Array&& array) noexcept {
  return construct(object_free_list.make(), [&] { return std::move(array); });
}

PyObject* wrap(const Array& array) noexcept {
  return construct(object_free_list.make(), [&] { return array; });
}

PyObject* wrap_copy_of(const void* address, DType dtype) {
  const auto bytes = static_cast<std::size_t>(dtype.itemsize());
  PyObject* object = object_free_list.make_element(dtype);
  if (object == nullptr) {
    Storage storage = allocate(bytes, cpu);
    object = construct(object_free_list.make(),
                       [&] { return Array(Array::Inside{}, std::move(storage), Layout{}, dtype); });
    if (object == nullptr) return nullptr;
    reinterpret_cast<PyArray*>(object)->is_element = true;
  }
  copy_element(address, array_in(object).storage().data(), bytes);
  return object;
}

void clear_element_free_list() noexcept { object_free_list.clear_elements(); }
void enable_element_free_list(bool is_enabled) noexcept {
  object_free_list.enable_elements(is_enabled);
}

PyObject* wrap_shared(const BorrowedTensor& memory, ForeignOwner owner) {
  Storage spare;
  PyObject* object = object_free_list.make_for_import(spare);
  if (object == nullptr) return nullptr;
  auto* self = reinterpret_cast<PyArray*>(object);
  try {
    if (share_at(&self->array, memory, std::move(owner), std::move(spare))) {
      self->base = self->weakrefs = nullptr;
      self->is_unowned = self->is_element = false;
      return object;
    }
  } catch (...) {
    object_free_list.keep(object);
    throw;
  }
  object_free_list.keep(object);
  return nullptr;
}

PyObject* wrap_view(PyObject* source, Array&& view) noexcept {
  return construct(
      object_free_list.make(), [&] { return std::move(view); }, base_for_view_of(source));
}

PyObject* wrap_view(PyObject* source, Layout&& layout) noexcept {
  PyObject* base = base_for_view_of(source);
  const Array& array = array_in(source);
  // A view may have another storage than its base; the new view must then own a reference to it.
  if (array.storage() != array_in(base).storage())
    return wrap_view(source, array.with_layout(std::move(layout)));
  return construct(
      object_free_list.make(), [&] { return array.lend(std::move(layout)); }, base,
      /*is_unowned=*/true);
}

void add_array_methods(PyMethodDef* methods) { add_methods(array_type, methods); }

void add_array_attributes(PyGetSetDef* attributes) { add_attributes(array_type, attributes); }

SW_BIND(array_type) {
  array_type = make_array_type();
  add_type(module, "Array", array_type);
}

}  // namespace spanwise::python
