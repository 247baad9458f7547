// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstdint>

#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "spanwise/dims.hpp"
#include "spanwise/stream.hpp"

/// Protocol methods of arrays: __array_namespace__ and to_device (data-apis.org/array-api),
/// __array_function__ (numpy.org/neps/nep-0018), __contains__, and get and data_ptr of CuPy's and
/// PyTorch's arrays. All but data_ptr are implemented in Python, in the modules imported below.
namespace spanwise::python {

namespace py = pybind11;

namespace {

PyObject* or_none(PyObject* argument) noexcept { return argument == nullptr ? Py_None : argument; }

PyObject* array_namespace(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<1> signature{"__array_namespace__", {"api_version"}, 0, 0};
  const auto [version] = signature.read(values, count, kwnames);
  return py::module_::import("spanwise._numpy.namespace")
      .attr("namespace_for")(py::handle(or_none(version)))
      .release()
      .ptr();
}

PyObject* to_device_method(PyObject* self, PyObject* const* values, Py_ssize_t count,
                           PyObject* kwnames) {
  static constexpr CallSignature<2> signature{"to_device", {"device", "stream"}, 1, 1};
  const auto [device, stream] = signature.read(values, count, kwnames);
  return py::module_::import("spanwise._numpy.namespace")
      .attr("to_device")(py::handle(self), py::handle(device), py::handle(or_none(stream)))
      .release()
      .ptr();
}

PyObject* array_function(PyObject* self, PyObject* const* values, Py_ssize_t count,
                         PyObject* kwnames) {
  static constexpr CallSignature<4> signature{
      "__array_function__", {"func", "types", "args", "kwargs"}, 4, 4};
  const auto [func, types, args, kwargs] = signature.read(values, count, kwnames);
  return py::module_::import("spanwise._numpy.array_function")
      .attr("array_function")(py::handle(self), py::handle(func), py::handle(types),
                              py::handle(args), py::handle(kwargs))
      .release()
      .ptr();
}

PyObject* contains(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<1> signature{"__contains__", {"key"}, 1, 1};
  const auto [key] = signature.read(values, count, kwnames);
  return py::module_::import("spanwise._numpy.compare")
      .attr("contains")(py::handle(self), py::handle(key))
      .release()
      .ptr();
}

PyObject* get_method(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<3> signature{"get", {"stream", "order", "out"}, 0, 3};
  const auto [stream, order, out] = signature.read(values, count, kwnames);
  const py::object given_order =
      order == nullptr ? py::object(py::str("C")) : py::reinterpret_borrow<py::object>(order);
  return py::module_::import("spanwise._kernels.raw_kernel")
      .attr("asnumpy")(py::handle(self), py::handle(or_none(stream)), given_order,
                       py::handle(or_none(out)))
      .release()
      .ptr();
}

// The caller may write to the memory, on the current stream.
PyObject* data_ptr_method(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
  const Array& array = array_in(self);
  order_use(Stream::current(array.device()), array, !array.readonly());
  return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(array.data()));
}

PyMethodDef protocol_methods[] = {
    method<&contains>("__contains__",
                      "__contains__($self, key, /)\n--\n\n"
                      "Whether any element equals `key`, which may be an array that broadcasts."),
    method<&array_namespace>("__array_namespace__",
                             "__array_namespace__($self, *, api_version=None)\n--\n\n"
                             "The namespace of the array API standard: the module spanwise."),
    method<&to_device_method>("to_device",
                              "to_device($self, device, /, *, stream=None)\n--\n\n"
                              "The array on `device`: itself if it is on it, else a copy, made on "
                              "`stream`."),
    method<&array_function>("__array_function__",
                            "__array_function__($self, func, types, args, kwargs, /)\n--\n\n"
                            "Implements NumPy's functions on Spanwise arrays."),
    method<&get_method>(
        "get",
        "get($self, stream=None, order=\"C\", out=None)\n--\n\n"
        "A copy as a new numpy.ndarray, or in `out`, as in CuPy; see spanwise.asnumpy."),
    method<&data_ptr_method>(
        "data_ptr",
        "data_ptr($self)\n--\n\n"
        "The address of the first element, for Triton and others that read PyTorch's "
        "tensors by it.\nThe current stream waits for earlier work on the array; what "
        "uses the address must be queued\non that stream."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(array_protocols, array_type) {
  module.attr("_max_rank") = max_rank;
  add_array_methods(protocol_methods);
}

}  // namespace spanwise::python
