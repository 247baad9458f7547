// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <Python.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/array/array_slots.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/stream.hpp"

/// The attributes of spanwise.Array, those of numpy.ndarray among them: layout, base and stream,
/// a.flags, methods that are implemented in Python, and the AttributeErrors for names of other
/// libraries.
namespace spanwise::python {

namespace py = pybind11;

namespace {

PyObject* matrix_transposed(PyObject* self) {
  const Array& array = array_in(self);
  const int rank = array.rank();
  if (rank < 2)
    fail<LayoutError>("Array.mT: expected two dimensions or more, got shape ", array.shape(),
                      "; use a[:, None] for a column");
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return wrap_view(self, array.layout().permute(axes));
}

PyObject* base_of_array(PyObject* self) {
  PyObject* owner = reinterpret_cast<PyArray*>(self)->base;
  if (owner == nullptr) owner = owner_of(array_in(self).storage());
  return Py_NewRef(owner != nullptr ? owner : Py_None);
}

py::object stream_of_array(PyObject* self) {
  const Array& array = array_in(self);
  if (array.storage()) {
    const auto users = array.storage().uses().all();  // the last writer first
    if (!users.empty()) return py::cast(Stream::of(*users.front()));
  }
  return py::cast(Stream::current(array.device()));
}

// The attribute get(array).
template <auto get>
PyGetSetDef of_array(const char* name, const char* doc) {
  return attribute<[](PyObject* self) { return get(array_in(self)); }>(name, doc);
}

// a.flags, as numpy.ndarray.flags: attributes in lower case, and items by NumPy's names. A plain
// heap type like spanwise.Array, for speed.

struct PyFlags {
  PyObject_HEAD
  PyObject* owner;  // the spanwise.Array
};

PyTypeObject* flags_type = nullptr;

PyObject* owner_in(PyObject* flags) noexcept { return reinterpret_cast<PyFlags*>(flags)->owner; }

bool is_c_contiguous(PyObject* owner) { return array_in(owner).layout().is_row_major(); }
bool is_f_contiguous(PyObject* owner) { return array_in(owner).layout().is_column_major(); }
bool owns_data(PyObject* owner) { return py::handle(owner).attr("base").is_none(); }
bool is_writeable(PyObject* owner) { return !array_in(owner).readonly(); }
bool is_fnc(PyObject* owner) { return is_f_contiguous(owner) && !is_c_contiguous(owner); }
bool is_forc(PyObject* owner) { return is_f_contiguous(owner) || is_c_contiguous(owner); }
bool is_aligned(PyObject* owner) {
  const Array& array = array_in(owner);
  const auto address = reinterpret_cast<std::uintptr_t>(array.data());
  const DType dtype = array.dtype();
  // A complex number has the alignment of its parts.
  const int unit = dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize();
  return array.size() == 0 || address % static_cast<std::uintptr_t>(unit) == 0;
}

template <bool (*is_set)(PyObject* owner)>
PyObject* get_flag(PyObject* self) {
  return PyBool_FromLong(is_set(owner_in(self)));
}

constexpr std::pair<std::string_view, bool (*)(PyObject* owner)> flags_by_name[] = {
    {"C_CONTIGUOUS", &is_c_contiguous},
    {"C", &is_c_contiguous},
    {"CONTIGUOUS", &is_c_contiguous},
    {"F_CONTIGUOUS", &is_f_contiguous},
    {"F", &is_f_contiguous},
    {"FORTRAN", &is_f_contiguous},
    {"OWNDATA", &owns_data},
    {"O", &owns_data},
    {"WRITEABLE", &is_writeable},
    {"W", &is_writeable},
    {"ALIGNED", &is_aligned},
    {"A", &is_aligned},
    {"FNC", &is_fnc},
    {"FORC", &is_forc}};

bool has_flag(PyObject* owner, std::string_view name) {
  for (const auto& [known, is_set] : flags_by_name)
    if (known == name) return is_set(owner);
  throw py::key_error(
      text("Array.flags: no flag \"", name,
           "\"; there are C_CONTIGUOUS, F_CONTIGUOUS, OWNDATA, WRITEABLE, ALIGNED, FNC, FORC"));
}

PyObject* flags_subscript(PyObject* self, PyObject* key) {
  if (!PyUnicode_Check(key)) throw py::type_error("Array.flags: the name of a flag is a str");
  return PyBool_FromLong(has_flag(owner_in(self), text_in(key)));
}

// The flag belongs to this array: other arrays on the same memory are not changed.
int set_writeable(PyObject* self, PyObject* value, void*) {
  if (value == nullptr) throw py::attribute_error("Array.flags: writeable cannot be deleted");
  const bool writeable = truth_or(value, false);
  Array& array = array_in(owner_in(self));
  if (writeable == !array.readonly()) return 0;
  if (writeable)
    fail<ReadOnlyError>("Array.flags: ", array,
                        " is read-only and cannot be made writeable; copy it: a.copy()");
  array.set_readonly();  // changes no other field: other threads may be reading the array
  return 0;
}

// a.flags["WRITEABLE"] = False
int assign_flag(PyObject* self, PyObject* key, PyObject* value) {
  const std::string name = PyUnicode_Check(key) ? std::string(text_in(key)) : std::string();
  if (name == "WRITEABLE" || name == "W") return set_writeable(self, value, nullptr);
  throw py::key_error(
      text("Array.flags: expected WRITEABLE, the flag that can be set, got ", name));
}

constexpr const char* shown_flags[] = {"C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE",
                                       "ALIGNED"};

PyObject* compare_flags(PyObject* self, PyObject* other, int operation) {
  if (Py_TYPE(other) != flags_type || (operation != Py_EQ && operation != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  const bool are_equal = std::ranges::all_of(shown_flags, [&](const char* name) {
    return has_flag(owner_in(self), name) == has_flag(owner_in(other), name);
  });
  return PyBool_FromLong(are_equal == (operation == Py_EQ));
}

PyObject* flags_repr(PyObject* self) {
  std::string out;
  for (const char* name : shown_flags) {
    const bool is_set = has_flag(owner_in(self), name);
    out += text("  ", name, " : ", is_set ? "True" : "False", "\n");
  }
  return PyUnicode_FromStringAndSize(out.data(), static_cast<Py_ssize_t>(out.size()));
}

void flags_dealloc(PyObject* self) noexcept {
  Py_XDECREF(owner_in(self));
  free_object(self);
}

PyObject* array_flags(PyObject* self) {
  PyFlags* flags = PyObject_New(PyFlags, flags_type);
  if (flags == nullptr) return nullptr;
  flags->owner = Py_NewRef(self);
  return reinterpret_cast<PyObject*>(flags);
}

PyGetSetDef flag_attributes[] = {attribute<&get_flag<&is_c_contiguous>>("c_contiguous"),
                                 attribute<&get_flag<&is_c_contiguous>>("contiguous"),
                                 attribute<&get_flag<&is_f_contiguous>>("f_contiguous"),
                                 attribute<&get_flag<&owns_data>>("owndata"),
                                 attribute<&get_flag<&is_writeable>, &set_writeable>("writeable"),
                                 attribute<&get_flag<&is_aligned>>("aligned"),
                                 attribute<&get_flag<&is_fnc>>("fnc"),
                                 attribute<&get_flag<&is_forc>>("forc"),
                                 {}};

PyGetSetDef flags_attribute[] = {attribute<&array_flags>("flags", "As numpy.ndarray.flags."), {}};

// Methods of arrays that are implemented in Python, most of them for protocols:
// __array_namespace__ and to_device (data-apis.org/array-api), __array_function__
// (numpy.org/neps/nep-0018), and get and data_ptr of CuPy's and PyTorch's arrays.

// The caller may write to the memory, on the current stream.
PyObject* data_ptr_method(PyObject* self) {
  const Array& array = array_in(self);
  order_use(Stream::current(array.device()), array, !array.readonly());
  return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(array.data()));
}

PyMethodDef protocol_methods[] = {
    in_python<"_numpy.indexing", "choose($self, choices, out=None, mode='raise')",
              "result[i] = choices[self[i]][i], as numpy.choose.">(),
    in_python<"_numpy.lines", "searchsorted($self, v, side='left', sorter=None)",
              "The insertion index in this sorted vector of each element of `v`.">(),
    in_python<"_numpy.borrowed", "argpartition($self, kth, axis=-1, kind='introselect')",
              "The indices that partition along `axis`, as numpy.argpartition; borrowed.">(),
    in_python<"_numpy.borrowed",
              "argsort($self, axis=-1, kind=None, *, descending=False, stable=None)",
              "The indices that sort along `axis`; see spanwise.argsort.">(),
    in_python<"_numpy.borrowed", "partition($self, kth, axis=-1, kind='introselect')",
              "Partitions the array itself along `axis`, as numpy.ndarray.partition; borrowed.",
              "partition_in_place">(),
    in_python<"_numpy.borrowed",
              "sort($self, axis=-1, kind=None, *, descending=False, stable=None)",
              "Sorts the array itself along `axis`; see spanwise.sort.", "sort_in_place">(),
    in_python<"_numpy.linalg", "trace($self, offset=0, axis1=0, axis2=1, dtype=None, out=None)",
              "The sum along the diagonal of two axes.">(),
    in_python<"_numpy.array_methods", "setflags($self, write=None, align=None, uic=None)",
              "As numpy.ndarray.setflags; write=False cannot be undone.">(),
    in_python<"_numpy.array_methods", "_repr_html_($self)", "A table for notebooks.">(),
    in_python<"_numpy.array_methods", "tobytes($self, order='C')",
              "The elements as bytes in C order, or in Fortran order. Waits for the array.">(),
    in_python<"_numpy.elementwise", "__contains__($self, key, /)",
              "Whether any element equals `key`, which may be an array that broadcasts.",
              "contains">(),
    in_python<"_numpy.array_api", "__array_namespace__($self, *, api_version=None)",
              "The namespace of the array API standard: the module spanwise.", "namespace_for">(),
    in_python<"_numpy.array_api", "to_device($self, device, /, *, stream=None)",
              "The array on `device`: itself if it is on it, else a copy, made on `stream`.">(),
    in_python<"_numpy.array_protocols", "__array_function__($self, func, types, args, kwargs, /)",
              "Implements NumPy's functions on Spanwise arrays.", "array_function">(),
    in_python<"kernels._raw_kernel", "get($self, stream=None, order=\"C\", out=None)",
              "A copy as a new numpy.ndarray, or in `out`, as in CuPy; see spanwise.asnumpy.",
              "asnumpy">(),
    declared<"data_ptr($self)",
             "The address of the first element, for Triton and others that read PyTorch's tensors "
             "by it.\nThe current stream waits for earlier work on the array; what uses the "
             "address must be queued\non that stream.",
             &data_ptr_method>(),
    {"__class_getitem__", &Py_GenericAlias, METH_O | METH_CLASS,
     "spanwise.Array[numpy.float32], in annotations: the scalar type of the elements."},
    {}};

PyGetSetDef priority_attribute[] = {
    attribute<[](PyObject*) { return PyFloat_FromDouble(0.0); }>(
        "__array_priority__",
        "0, as numpy.ndarray's: operators defer to objects with a higher priority."),
    {}};

// Attributes that arrays of other libraries have and spanwise.Array lacks: their AttributeError
// names the equivalent. Each is a descriptor that raises, since a __getattr__ of the type would
// slow down all other attributes (CPython caches the lookups of types without one only).

struct ForeignName {
  const char* name;
  const char* remedy;
};

constexpr const char* no_gradients =
    "arrays record no gradients; T.grad(cost, wrt) of spanwise.tensor differentiates graphs";
constexpr std::array foreign_names{
    // PyTorch
    ForeignName{"backward", no_gradients},
    ForeignName{"bfloat16", "use a.astype(\"bfloat16\")"},
    ForeignName{"clone", "use a.copy()"},
    ForeignName{"contiguous", "use spanwise.ascontiguousarray(a)"},
    ForeignName{"cpu", "use a.to(\"cpu\"), or a.numpy() for a NumPy array"},
    ForeignName{"cuda", "use a.to(\"cuda:0\")"},
    ForeignName{"detach", "arrays record no gradients; use a itself"},
    ForeignName{"dim", "use a.ndim"},
    ForeignName{"double", "use a.astype(\"float64\")"},
    ForeignName{"element_size", "use a.itemsize"},
    ForeignName{"expand", "use spanwise.broadcast_to(a, shape)"},
    ForeignName{"float", "use a.astype(\"float32\")"},
    ForeignName{"grad", no_gradients},
    ForeignName{"half", "use a.astype(\"float16\")"},
    ForeignName{"int", "use a.astype(\"int32\")"},
    ForeignName{"is_contiguous", "use a.flags.c_contiguous"},
    ForeignName{"is_cuda", "use a.device.kind == \"cuda\""},
    ForeignName{"long", "use a.astype(\"int64\")"},
    ForeignName{"masked_fill", "use spanwise.where(mask, value, a)"},
    ForeignName{"numel", "use a.size"},
    ForeignName{"permute", "use a.transpose(axes)"},
    ForeignName{"requires_grad", no_gradients},
    ForeignName{"stride", "use a.strides, in bytes"},
    ForeignName{"type", "use a.dtype, or a.astype(dtype)"},
    ForeignName{"unsqueeze", "use spanwise.expand_dims(a, axis)"},
    // NumPy
    ForeignName{"byteswap", "use a.numpy().byteswap()"},
    ForeignName{"ctypes", "use a.ptr, or a.numpy().ctypes"},
    ForeignName{"data", "use a.ptr, or memoryview(a) on the CPU"},
    ForeignName{"dump", "use pickle.dump(a, file)"},
    ForeignName{"dumps", "use pickle.dumps(a)"},
    ForeignName{"flat", "use a.ravel()"},
    ForeignName{"median", "use spanwise.median(a)"},
    ForeignName{"resize", "use spanwise.resize(a, shape), which returns a new array"},
    ForeignName{"tofile", "use a.numpy().tofile(file)"},
    // JAX, Numba, PyCUDA
    ForeignName{"at", "arrays are mutable; use a[index] = value"},
    ForeignName{"block_until_ready", "use a.sync()"},
    ForeignName{"copy_to_device", "use spanwise.copyto(a, source)"},
    ForeignName{"copy_to_host", "use a.numpy()"},
    ForeignName{"gpudata", "use a.ptr"},
};

struct PyForeignName {
  PyObject_HEAD
  const ForeignName* entry;
};

PyObject* raise_missing(PyObject* self, PyObject*, PyObject*) noexcept {
  const ForeignName& entry = *reinterpret_cast<PyForeignName*>(self)->entry;
  PyErr_Format(PyExc_AttributeError, "'spanwise.Array' object has no attribute '%s'; %s",
               entry.name, entry.remedy);
  return nullptr;
}

bool is_foreign(py::handle name) noexcept {
  return std::any_of(foreign_names.begin(), foreign_names.end(), [&](const ForeignName& entry) {
    return PyUnicode_CompareWithASCIIString(name.ptr(), entry.name) == 0;
  });
}

// dir(a), without the names that raise.
py::list array_dir(PyObject* self) {
  const py::handle object(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  const py::object names = object.attr("__dir__")(py::handle(self));
  py::list listed_names;
  for (const py::handle name : items_of(names.ptr()))
    if (!is_foreign(name)) listed_names.append(name);
  return listed_names;
}

PyMethodDef dir_method[] = {
    declared<"__dir__($self)", "The names of the attributes.", &array_dir>(), {}};

}  // namespace

PyGetSetDef array_attributes[] = {
    of_array<[](const Array& a) { return integer_tuple(a.shape()); }>("shape",
                                                                      "Extents, one per axis."),
    of_array<[](const Array& a) { return integer_tuple(a.strides(), a.dtype().itemsize()); }>(
        "strides", "Bytes from one element to the next along each axis; may be negative."),
    of_array<[](const Array& a) { return dtype_object(a.dtype()); }>("dtype",
                                                                     "Type of one element."),
    of_array<[](const Array& a) { return PyLong_FromLong(a.rank()); }>("ndim", "Number of axes."),
    of_array<[](const Array& a) { return PyLong_FromLongLong(a.size()); }>("size",
                                                                           "Number of elements."),
    of_array<[](const Array& a) { return PyLong_FromLongLong(a.nbytes()); }>("nbytes",
                                                                             "size * itemsize."),
    of_array<[](const Array& a) { return PyLong_FromLong(a.dtype().itemsize()); }>(
        "itemsize", "Bytes of one element."),
    attribute<[](PyObject* self) { return wrap_view(self, array_in(self).layout().transpose()); }>(
        "T", "View with the axes in reverse order."),
    attribute<&matrix_transposed>("mT", "View with the last two axes swapped."),
    attribute<&base_of_array>(
        "base",
        "The owner of the memory: for a view the viewed array, for an imported array the foreign\n"
        "object, None for an array whose memory Spanwise allocated."),
    of_array<[](const Array& a) { return device_object(a.device()); }>("device",
                                                                       "The device of the memory."),
    attribute<&stream_of_array>(
        "stream",
        "The stream of the last writer of the memory, else of another user; the device's current\n"
        "stream if no stream uses it."),
    of_array<[](const Array& a) {
      return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(a.data()));
    }>("ptr", "Address of element (0, ..., 0), as passed to a raw kernel parameter."),
    {}};

SW_BIND(array_flags, array_type) {
  constexpr const char* doc = "The contiguity, ownership, writeability and alignment of an array.";
  flags_type = make_type("spanwise._core._Flags", sizeof(PyFlags),
                         {slot(Py_tp_dealloc, &flags_dealloc),
                          slot(Py_tp_repr, guarded<&flags_repr>),
                          slot(Py_mp_subscript, guarded<&flags_subscript>),
                          slot(Py_mp_ass_subscript, guarded<&assign_flag>),
                          slot(Py_tp_richcompare, guarded<&compare_flags>),
                          slot(Py_tp_hash, &PyObject_HashNotImplemented),
                          {Py_tp_getset, flag_attributes},
                          {Py_tp_doc, const_cast<char*>(doc)}});
  add_type(module, "_Flags", flags_type);
  add_array_attributes(flags_attribute);
}

SW_BIND(array_protocols, array_type) {
  module.attr("_max_rank") = max_rank;
  add_array_methods(protocol_methods);
  add_array_attributes(priority_attribute);
}

SW_BIND(array_foreign_names, array_type) {
  PyTypeObject* type =
      make_type("spanwise._core._ForeignName", sizeof(PyForeignName),
                {slot(Py_tp_dealloc, &free_object),
                 slot(Py_tp_descr_get, &raise_missing),
                 {Py_tp_doc, const_cast<char*>("An attribute of other libraries' arrays.")}});
  add_type(module, "_ForeignName", type);
  auto* const array = reinterpret_cast<PyObject*>(array_type);
  for (const ForeignName& entry : foreign_names) {
    const py::object descriptor = owned(PyType_GenericAlloc(type, 0));
    reinterpret_cast<PyForeignName*>(descriptor.ptr())->entry = &entry;
    py::setattr(array, entry.name, descriptor);
  }
  add_array_methods(dir_method);
}

}  // namespace spanwise::python
