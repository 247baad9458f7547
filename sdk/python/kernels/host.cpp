// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "host.hpp"

#include <structmember.h>

#include <array>
#include <cstddef>
#include <utility>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/type.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// One of the four Python types; all have the struct PyWrapped.
struct WrapperType {
  WrappedKind kind;
  const char* module_name;  // the name in _core, which sw.driver imports
  const char* type_name;
  const char* doc;
};

constexpr std::array<WrapperType, 4> wrapper_types{{
    {WrappedKind::in, "_DriverIn", "spanwise.driver.In",
     "In(x)\n--\n\nA host array that a kernel reads: copied to the device before the call."},
    {WrappedKind::out, "_DriverOut", "spanwise.driver.Out",
     "Out(x)\n--\n\nA host array that a kernel fills: copied back after the kernel; the call waits "
     "for the copy.\nElements that the kernel does not write are undefined afterwards."},
    {WrappedKind::in_out, "_DriverInOut", "spanwise.driver.InOut",
     "InOut(x)\n--\n\nA host array that a kernel reads and writes: copied to the device before "
     "the kernel and\nback after it; the call waits for the copy."},
    {WrappedKind::memory, "_DriverMemory", "spanwise.driver.Memory",
     "Memory(array)\n--\n\nAn array's memory as a kernel argument for a pointer of any type."},
}};

// Set by module initialisation, constant afterwards.
std::array<PyTypeObject*, wrapper_types.size()> type_objects{};

template <std::size_t I>
PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept {
  PyObject* array = nullptr;
  static const char* names[] = {"", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", const_cast<char**>(names), &array))
    return nullptr;
  if (wrapper_types[I].kind == WrappedKind::memory && !is_array(array)) {
    PyErr_Format(PyExc_TypeError, "spanwise.driver.Memory: expected a spanwise.Array, got %s",
                 Py_TYPE(array)->tp_name);
    return nullptr;
  }
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  auto* self = reinterpret_cast<PyWrapped*>(object);
  self->array = Py_NewRef(array);
  self->kind = wrapper_types[I].kind;
  return object;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(reinterpret_cast<PyWrapped*>(object)->array);
  return 0;
}

int clear(PyObject* object) {
  Py_CLEAR(reinterpret_cast<PyWrapped*>(object)->array);
  return 0;
}

void wrapped_dealloc(PyObject* object) noexcept {
  PyObject_GC_UnTrack(object);
  clear(object);
  free_object(object);
}

PyObject* repr(PyObject* object) noexcept {
  return PyUnicode_FromFormat("%s(%R)", Py_TYPE(object)->tp_name,
                              reinterpret_cast<PyWrapped*>(object)->array);
}

template <std::size_t I>
void add_wrapper(py::module_& module) {
  static PyMemberDef own_members[] = {
      {"array", T_OBJECT, offsetof(PyWrapped, array),
       wrapper_types[I].kind == WrappedKind::memory ? 0 : READONLY, "The wrapped array."},
      {nullptr, 0, 0, 0, nullptr}};
  type_objects[I] = make_type(wrapper_types[I].type_name, sizeof(PyWrapped),
                              {slot(Py_tp_new, &make<I>),
                               slot(Py_tp_dealloc, &wrapped_dealloc),
                               slot(Py_tp_traverse, &traverse),
                               slot(Py_tp_clear, &clear),
                               slot(Py_tp_repr, &repr),
                               {Py_tp_members, own_members},
                               {Py_tp_doc, const_cast<char*>(wrapper_types[I].doc)}},
                              Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC);
  add_type(module, wrapper_types[I].module_name, type_objects[I]);
}

Array import_wrapped(const PyWrapped& wrapped) {
  const bool writes = wrapped.kind != WrappedKind::in;
  return import_array(wrapped.array,
                      {.copy = writes ? CopyMode::never : CopyMode::if_needed, .writable = writes});
}

}  // namespace

const PyWrapped* wrapped_in(PyObject* object) noexcept {
  for (PyTypeObject* type : type_objects)
    if (Py_TYPE(object) == type || PyType_IsSubtype(Py_TYPE(object), type))
      return reinterpret_cast<const PyWrapped*>(object);
  return nullptr;
}

HostArgument::HostArgument(const PyWrapped& wrapped, Device device, bool only_reads)
    : host_(import_wrapped(wrapped)), target_(device), kind_(wrapped.kind) {
  // A kernel that may write through a non-const pointer gets a copy of read-only memory.
  const bool is_protected = host_.readonly() && !only_reads;
  is_temporary_ = host_.device() != device || !host_.layout().is_row_major() || is_protected;
  if (!is_temporary_) device_ = host_;
}

void HostArgument::copy_in() {
  if (!is_temporary_) return;
  device_ = empty(host_.shape(), host_.dtype(), target_);
  if (kind_ != WrappedKind::out) copy(host_, device_);
}

void HostArgument::copy_out() const {
  if (is_temporary_ && kind_ != WrappedKind::in) copy(device_, host_);
}

SW_BIND(kernels_host) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (add_wrapper<I>(module), ...);
  }(std::make_index_sequence<wrapper_types.size()>());
}

}  // namespace spanwise::python
