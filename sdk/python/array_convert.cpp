// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "array_assign.hpp"
#include "array_order.hpp"
#include "bind.hpp"
#include "py_array.hpp"
#include "py_dtype.hpp"
#include "py_host.hpp"
#include "py_scalar.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"

/// The methods that copy: to another dtype, order or device, to the host, to Python's numbers.
namespace spanwise::python {

namespace py = pybind11;

namespace {

py::object astype(const ArrayObject& self, DType dtype, const std::string& order, const std::string& casting,
                  bool copy, py::handle device) {
  const Array& array = self.array();
  const Device target = device.is_none() ? array.device() : device_from(device);
  const Order wanted = order_from(order);
  check_casting(array.dtype(), dtype, casting, "astype");
  const Layout layout = layout_in(wanted, array.shape(), array.layout());
  const bool fits = wanted == Order::k || array.layout() == layout ||
                    (array.layout().is_row_major() && layout.is_row_major()) ||
                    (array.layout().is_column_major() && layout.is_column_major());
  if (!copy && dtype == array.dtype() && target == array.device() && fits) return self;
  return py::cast(copied(array, dtype, target, wanted));
}

Array copy_in(const Array& array, const std::string& order) {
  return copied(array, array.dtype(), array.device(), order_from(order));
}

// C order, as numpy.ndarray.item counts.
Array element_at(const Array& array, std::int64_t flat) {
  const std::int64_t size = array.size();
  require<BoundsError>(flat >= -size && flat < size, "item: index ", flat, " is outside an array of ", size,
                       " elements");
  if (flat < 0) flat += size;
  Layout layout = array.layout();
  for (int axis = layout.rank() - 1; axis >= 0; --axis) {
    const std::int64_t extent = layout.shape[axis];
    layout = layout.index(axis, flat % extent);
    flat /= extent;
  }
  return array.with_layout(std::move(layout));
}

py::object item_at(const ArrayObject& self, const py::args& args) {
  Array element = self.array();
  const bool is_tuple = args.size() == 1 && py::isinstance<py::tuple>(args[0]);
  if (!args.empty()) {
    const Shape index = shape_from(is_tuple ? py::handle(args[0]) : py::handle(args));
    if (index.size() == 1 && !is_tuple) {
      element = element_at(element, index[0]);
    } else {
      require<BoundsError>(index.size() == element.rank(), "item: expected ", element.rank(), " indices for shape ",
                           element.shape(), ", got ", index.size());
      for (const std::int64_t i : index) element = element.index(0, i);
    }
  }
  std::optional<Scalar> value;
  {
    const py::gil_scoped_release unlocked;
    value = item(element);
  }
  return py::reinterpret_steal<py::object>(python_number(*value));
}

py::object to_list(const Array& array) {
  const bool is_widened = array.dtype() == bfloat16;  // NumPy may lack it; every value is a float32
  return to_numpy(is_widened ? copied(array, float32, array.device(), Order::k) : array).attr("tolist")();
}

py::object to(const ArrayObject& self, Device device, std::optional<bool> copy) {
  const Array& array = self.array();
  const CopyMode mode = !copy ? CopyMode::if_needed : *copy ? CopyMode::always : CopyMode::never;
  if (mode != CopyMode::always && device == array.device()) return self;
  Array moved;
  {
    const py::gil_scoped_release unlocked;
    moved = to_device(array, device, mode);
  }
  return py::cast(std::move(moved));
}

// NumPy's protocol (numpy.org/doc/stable/user/basics.interoperability.html): copy=False must raise
// where a copy is needed.
py::object array_protocol(const ArrayObject& self, py::handle dtype, std::optional<bool> copy) {
  const Array& array = self.array();
  const bool must_share = copy && !*copy;
  require<CopyNeededError>(!must_share || array.device().is_cpu(), "__array__: ", array,
                           " cannot be shared with NumPy, which sees host memory only; allow the copy: a.numpy()");
  py::object host = to_numpy(array);
  const bool is_cast = !dtype.is_none() && dtype_from(dtype) != array.dtype();
  if (is_cast) {
    require<CopyNeededError>(!must_share, "__array__: ", array.dtype(), " cannot be read as ",
                             std::string(py::str(dtype)), " without a copy; allow it with copy=None");
    return host.attr("astype")(dtype);
  }
  const bool is_private = !array.device().is_cpu();
  return copy && *copy && !is_private ? host.attr("copy")() : host;
}

void synchronize_array(const Array& array) {
  if (!array.storage()) return;
  for (const Ref<StreamIdentity>& user : array.storage().uses().all()) Stream::of(*user).synchronize();
}

}  // namespace

Array on_host(const Array& array) {
  if (array.device().is_cpu()) return array;
  const py::gil_scoped_release unlocked;
  return to_device(array, cpu);
}

py::object to_numpy(const Array& array) {
  const Bridge* bridge = find_bridge("numpy");
  require<BridgeError>(bridge != nullptr, "numpy(): this build of spanwise has no bridge to NumPy");
  const Array host = on_host(array);
  if (auto obstacle = bridge->obstacle(host)) throw SharingError("numpy()", *std::move(obstacle));
  PyObject* made = bridge->wrap(host);
  if (made == nullptr) throw py::error_already_set();
  bridge->count_export(!array.device().is_cpu(), array.nbytes());
  return py::reinterpret_steal<py::object>(made);
}

SW_BIND(array_convert, 55) {
  def_array_method("astype", &astype, py::arg("dtype"), py::arg("order") = "K", py::arg("casting") = "unsafe",
                   py::kw_only(), py::arg("copy") = true, py::arg("device") = py::none(),
                   "The elements cast to `dtype`; the array itself where copy=False and nothing changes.");
  def_array_method("copy", [](const ArrayObject& self, const std::string& order) { return copy_in(self.array(), order); },
                   py::arg("order") = "C", "A new array with the same elements.");
  def_array_method("flatten",
                   [](const ArrayObject& self, const std::string& order) {
                     return flattened(self.array(), order_from(order), CopyMode::always);
                   },
                   py::arg("order") = "C", "A new one-dimensional array of the elements.");
  def_array_method("fill", [](const ArrayObject& self, py::handle value) { assign(self.array(), value.ptr()); },
                   py::arg("value"), "Sets every element.");
  def_array_method("item", &item_at, "The one element, or that at the index given, as a Python number.");
  def_array_method("tolist", [](const ArrayObject& self) { return to_list(self.array()); },
                   "The elements as nested lists of Python numbers.");
  def_array_method("numpy", [](const ArrayObject& self) { return to_numpy(self.array()); },
                   "As a numpy.ndarray: shares memory on the CPU, copies from a GPU.");
  def_array_method("to", &to, py::arg("device"), py::kw_only(), py::arg("copy") = py::none(),
                   "The array on `device`: itself if it is there, else a copy; copy=True always copies.");
  def_array_method("sync",
                   [](const ArrayObject& self) {
                     const Array array = self.array();
                     {
                       const py::gil_scoped_release unlocked;
                       synchronize_array(array);
                     }
                     return self;
                   },
                   "Waits until all work queued on the array is done, and returns it.");
  def_array_method("__array__", &array_protocol, py::arg("dtype") = py::none(), py::kw_only(),
                   py::arg("copy") = py::none());
  def_array_method("__copy__", [](const ArrayObject& self) { return copy_in(self.array(), "K"); });
  def_array_method("__deepcopy__", [](const ArrayObject& self, py::handle) { return copy_in(self.array(), "K"); },
                   py::arg("memo") = py::none());
  def_array_method("__complex__", [](const ArrayObject& self) {
    const Array& array = self.array();
    require<DTypeError>(array.rank() == 0, "Array: only an array of rank 0 converts to complex, this one has shape ",
                        array.shape(), "; use a.item() or index it");
    const py::object number = item_at(self, py::args());
    return py::reinterpret_steal<py::object>(PyComplex_FromCComplex(PyComplex_AsCComplex(number.ptr())));
  });
}

}  // namespace spanwise::python
