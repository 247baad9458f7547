// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "array_order.hpp"
#include "bind.hpp"
#include "py_array.hpp"
#include "py_dtype.hpp"
#include "py_host.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"

/// Pickling through host bytes in C order. From protocol 5 on the bytes are a PickleBuffer, which
/// multiprocessing and others may carry beside the stream instead of copying it in.
namespace spanwise::python {

namespace py = pybind11;

namespace {

py::object reduce(const ArrayObject& self, int protocol) {
  const Array& array = self.array();
  Array host = on_host(array);
  if (!host.layout().is_row_major()) host = copied(host, host.dtype(), cpu, Order::c);
  // As bytes, so that dtypes without a format travel too.
  const Shape flat{host.nbytes()};
  const Array bytes(host.storage(),
                    Layout{flat, Strides{1}, host.layout().offset * host.dtype().itemsize()},
                    uint8);
  const py::object content = py::cast(bytes);
  const py::object rebuild = py::module_::import("spanwise._core").attr("_rebuild_array");
  py::object carried;
  if (protocol >= 5) {
    carried = py::module_::import("pickle").attr("PickleBuffer")(content);
  } else {
    carried = py::reinterpret_steal<py::object>(PyBytes_FromObject(content.ptr()));
    if (!carried) throw py::error_already_set();
  }
  const py::tuple arguments = py::make_tuple(py::type::of(self), carried, array.dtype().name(),
                                             self.attr("shape"), array.device().name());
  const py::object state = py::getattr(self, "__dict__", py::none());
  return py::make_tuple(rebuild, arguments, state);
}

Device present_or_cpu(const std::string& name) {
  const Device wanted = Device::parse(name);
  const std::vector<Device> present = devices();
  return std::find(present.begin(), present.end(), wanted) != present.end() ? wanted : cpu;
}

py::object rebuild(const py::object& type, const py::buffer& content, const std::string& dtype_name,
                   const Shape& shape, const std::string& device) {
  const DType dtype = DType::parse(dtype_name);
  const py::buffer_info bytes = content.request();
  const Array host = empty(shape, dtype, cpu);
  const std::int64_t size = static_cast<std::int64_t>(bytes.size) * bytes.itemsize;
  require<ArgumentError>(size == host.nbytes(), "pickle: expected ", host.nbytes(), " bytes for ",
                         host, ", got ", size, "; the pickle is damaged");
  if (size > 0) std::memcpy(host.data(), bytes.ptr, static_cast<std::size_t>(size));
  Array array = to_device(host, present_or_cpu(device));
  const py::object plain = py::cast(std::move(array));
  return type.ptr() == reinterpret_cast<PyObject*>(array_type) ? plain : type(plain);
}

}  // namespace

SW_BIND(array_pickle, 59) {
  def_array_method("__reduce_ex__", &reduce, py::arg("protocol"), py::pos_only());
  def_array_method("__reduce__", [](const ArrayObject& self) { return reduce(self, 2); });
  module.def("_rebuild_array", &rebuild);
}

}  // namespace spanwise::python
