// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstdint>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/declared.hpp"
#include "python/support/python_function.hpp"
#include "python/support/type.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/runtime/stream.hpp"

/// Methods of arrays that are implemented in Python, most of them for protocols:
/// __array_namespace__ and to_device (data-apis.org/array-api), __array_function__
/// (numpy.org/neps/nep-0018), and get and data_ptr of CuPy's and PyTorch's arrays.
namespace spanwise::python {

namespace {

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
    in_python<"_numpy.linalg", "trace($self, offset=0, axis1=0, axis2=1, dtype=None, out=None)",
              "The sum along the diagonal of two axes.">(),
    in_python<"_numpy.array_methods", "setflags($self, write=None, align=None, uic=None)",
              "As numpy.ndarray.setflags; write=False cannot be undone.">(),
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
    {}};

PyGetSetDef priority_attribute[] = {
    attribute<[](PyObject*) { return PyFloat_FromDouble(0.0); }>(
        "__array_priority__",
        "0, as numpy.ndarray's: operators defer to objects with a higher priority."),
    {}};

}  // namespace

SW_BIND(array_protocols, array_type) {
  module.attr("_max_rank") = max_rank;
  add_array_methods(protocol_methods);
  add_array_attributes(priority_attribute);
}

}  // namespace spanwise::python
