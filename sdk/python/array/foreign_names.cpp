// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <Python.h>

#include <algorithm>
#include <array>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/declared.hpp"
#include "python/support/snapshot.hpp"
#include "python/support/type.hpp"

/// Attributes that arrays of other libraries have and spanwise.Array lacks: their AttributeError
/// names the equivalent. Each is a descriptor that raises, since a __getattr__ of the type would
/// slow down all other attributes (CPython caches the lookups of types without one only).
namespace spanwise::python {

namespace py = pybind11;

namespace {

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
    ForeignName{"argpartition", "use numpy.argpartition(a.numpy(), kth)"},
    ForeignName{"argsort", "use numpy.argsort(a.numpy())"},
    ForeignName{"byteswap", "use a.numpy().byteswap()"},
    ForeignName{"ctypes", "use a.ptr, or a.numpy().ctypes"},
    ForeignName{"data", "use a.ptr, or memoryview(a) on the CPU"},
    ForeignName{"dump", "use pickle.dump(a, file)"},
    ForeignName{"dumps", "use pickle.dumps(a)"},
    ForeignName{"flat", "use a.ravel()"},
    ForeignName{"median", "use numpy.median(a.numpy())"},
    ForeignName{"partition", "use numpy.partition(a.numpy(), kth)"},
    ForeignName{"resize", "use spanwise.resize(a, shape), which returns a new array"},
    ForeignName{"sort", "use numpy.sort(a.numpy())"},
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
