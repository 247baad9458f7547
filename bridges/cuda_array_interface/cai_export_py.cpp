// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/interop/interface.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/type.hpp"
#include "spanwise/runtime/stream.hpp"

/// Array.__cuda_array_interface__, version 3: only arrays on a GPU have it.
namespace spanwise::python {

namespace py = pybind11;

namespace {

PyObject* get_cuda_array_interface(PyObject* self) {
  const Array& array = array_in(self);
  if (array.device().is_cpu()) {
    // AttributeError, because libraries use hasattr() to check whether an array is on a GPU.
    PyErr_SetString(PyExc_AttributeError,
                    "__cuda_array_interface__: the array is on the CPU; move it with x.to('cuda')");
    return nullptr;
  }
  py::dict interface = interface_of(array);
  // The interface has one stream for all queued work: the current one, after it waits for the
  // others.
  const Stream stream = Stream::current(array.device());
  order_use(stream, array, !array.readonly());
  const auto address =
      array.size() == 0 ? std::uintptr_t{0} : reinterpret_cast<std::uintptr_t>(array.data());
  interface["data"] = py::make_tuple(address, array.readonly());
  interface["stream"] = stream.handle();
  return interface.release().ptr();
}

PyGetSetDef cai_attributes[] = {
    attribute<&get_cuda_array_interface>(
        "__cuda_array_interface__",
        "The CUDA Array Interface, version 3. Arrays on the CPU do not have it."),
    {}};

}  // namespace

SW_BIND(bridge_cuda_array_interface, array_type) { add_array_attributes(cai_attributes); }

}  // namespace spanwise::python
