// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <array>
#include <optional>
#include <string>

#include "array_assign.hpp"
#include "array_order.hpp"
#include "bind.hpp"
#include "py_array.hpp"
#include "py_dtype.hpp"
#include "py_scalar.hpp"
#include "spanwise/error.hpp"

/// array, asarray and their kin: anything in, an Array out. asarray() is a plain C function, since
/// programs that mix libraries call it for every array that they pass.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The arguments of asarray() and array(), borrowed; absent ones are null.
struct Arguments {
  PyObject *x = nullptr, *dtype = nullptr, *device = nullptr, *copy = nullptr, *order = nullptr,
           *ndmin = nullptr;
};

struct Named {
  const char* name;
  PyObject* Arguments::*place;
};
constexpr std::array<Named, 5> keywords{{{"dtype", &Arguments::dtype},
                                         {"device", &Arguments::device},
                                         {"copy", &Arguments::copy},
                                         {"order", &Arguments::order},
                                         {"ndmin", &Arguments::ndmin}}};

void take_keyword(Arguments& arguments, PyObject* name, PyObject* value, const char* who, bool with_ndmin) {
  for (const Named& keyword : keywords) {
    if (PyUnicode_CompareWithASCIIString(name, keyword.name) != 0) continue;
    if (keyword.place == &Arguments::ndmin && !with_ndmin) break;
    PyObject*& place = arguments.*keyword.place;
    if (place != nullptr) throw py::type_error(std::string(who) + "(): dtype is given twice");
    if (value != Py_None || keyword.place == &Arguments::copy) place = value;
    return;
  }
  throw py::type_error(std::string(who) + "(): unexpected keyword argument '" +
                       py::handle(name).cast<std::string>() + "'; there are dtype, device, copy, order" +
                       (with_ndmin ? ", ndmin" : ""));
}

Arguments read(PyObject* const* values, Py_ssize_t count, PyObject* names, const char* who, bool with_ndmin) {
  if (count < 1 || count > 2) {
    throw py::type_error(std::string(who) + "(): expected an object and, at most, a dtype by position, got " +
                         std::to_string(count) + " arguments; pass the others by name");
  }
  Arguments arguments;
  arguments.x = values[0];
  if (count == 2 && values[1] != Py_None) arguments.dtype = values[1];
  const Py_ssize_t named = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    take_keyword(arguments, PyTuple_GET_ITEM(names, i), values[count + i], who, with_ndmin);
  }
  return arguments;
}

CopyMode mode_in(PyObject* copy) {
  if (copy == nullptr || copy == Py_None) return CopyMode::if_needed;
  const int truth = PyObject_IsTrue(copy);
  if (truth < 0) throw py::error_already_set();
  return truth == 1 ? CopyMode::always : CopyMode::never;
}

Order order_in(PyObject* order) {
  return order == nullptr ? Order::k : order_from(py::handle(order).cast<std::string>());
}

ImportOptions options_in(const Arguments& arguments, CopyMode mode) {
  ImportOptions options;
  options.copy = mode;
  if (arguments.dtype != nullptr) options.dtype = dtype_from(arguments.dtype);
  if (arguments.device != nullptr) options.device = device_from(arguments.device);
  return options;
}

bool lies_in(Order order, const Layout& layout) {
  if (order == Order::c) return layout.is_row_major();
  if (order == Order::f) return layout.is_column_major();
  return true;  // "A" and "K" keep what there is
}

PyObject* asarray(const Arguments& arguments) {
  const CopyMode mode = mode_in(arguments.copy);
  const Order order = order_in(arguments.order);
  Array array = import_array(arguments.x, options_in(arguments, mode));
  if (!lies_in(order, array.layout())) {
    require<CopyNeededError>(mode != CopyMode::never, "asarray: ", array, " does not lie in the order asked for; "
                             "allow the copy with copy=None, or leave order out");
    array = copied(array, array.dtype(), array.device(), order);
  }
  // The same window is the same object, so that asarray(asarray(x)) costs nothing and keeps its base.
  if (is_array(arguments.x)) {
    const Array& source = array_in(arguments.x);
    const bool is_same = source.storage() == array.storage() && source.layout() == array.layout() &&
                         source.dtype() == array.dtype();
    if (is_same) return Py_NewRef(arguments.x);
  }
  return wrap(std::move(array));
}

Array with_rank(Array array, PyObject* ndmin) {
  if (ndmin == nullptr) return array;
  const auto rank = py::handle(ndmin).cast<int>();
  require<LayoutError>(rank <= max_rank, "array: expected ndmin <= ", max_rank, ", got ", rank);
  while (array.rank() < rank) array = array.expand(0);
  return array;
}

PyObject* array(const Arguments& arguments) {
  const CopyMode mode = arguments.copy == nullptr ? CopyMode::always : mode_in(arguments.copy);
  if (mode != CopyMode::always) return asarray(arguments);
  // The copy is made here, once, in the order asked for; the import is to share what it can.
  const ImportOptions options = options_in(arguments, CopyMode::if_needed);
  ImportOptions sharing;
  sharing.device = is_array(arguments.x) ? std::nullopt : options.device;
  Array source = import_array(arguments.x, sharing);
  const Device device = options.device.value_or(source.device());
  const DType dtype = options.dtype.value_or(source.dtype());
  return wrap(with_rank(copied(source, dtype, device, order_in(arguments.order)), arguments.ndmin));
}

PyObject* asarray_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) noexcept {
  try {
    if (count == 1 && names == nullptr) {
      if (is_array(values[0])) return Py_NewRef(values[0]);
      return wrap(import_array(values[0]));
    }
    return asarray(read(values, count, names, "asarray", false));
  } catch (...) {
    return raise_current();
  }
}

PyObject* array_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) noexcept {
  try {
    return array(read(values, count, names, "array", true));
  } catch (...) {
    return raise_current();
  }
}

PyMethodDef functions[] = {
    {"asarray", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&asarray_call)),
     METH_FASTCALL | METH_KEYWORDS,
     "asarray(x, dtype=None, *, device=None, copy=None, order=None)\n--\n\n"
     "`x` as an Array: shares its memory where it can. copy=False raises CopyNeededError where it\n"
     "cannot, copy=True always copies. `x` is a number, nested lists, or any library's array."},
    {"array", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&array_call)), METH_FASTCALL | METH_KEYWORDS,
     "array(x, dtype=None, *, device=None, copy=True, order='K', ndmin=0)\n--\n\n"
     "A new array with the elements of `x`: a number, nested lists, or any library's array."},
    {nullptr, nullptr, 0, nullptr}};

void copyto(py::handle dst, py::handle src, const std::string& casting) {
  ImportOptions options;
  options.copy = CopyMode::never;
  options.writable = true;
  const Array target = import_array(dst.ptr(), options);
  if (is_python_scalar(src.ptr())) return assign(target, src.ptr());
  const Array source = assignable(src.ptr(), target.dtype());
  check_casting(source.dtype(), target.dtype(), casting, "copyto");
  const py::gil_scoped_release unlocked;
  copy(source, target);
}

}  // namespace

SW_BIND(array_import, 57) {
  if (PyModule_AddFunctions(module.ptr(), functions) < 0) throw py::error_already_set();
  module.def(
      "ascontiguousarray",
      [](py::handle a, py::handle dtype, py::handle device) {
        Arguments arguments;
        arguments.x = a.ptr();
        if (!dtype.is_none()) arguments.dtype = dtype.ptr();
        if (!device.is_none()) arguments.device = device.ptr();
        const py::str order("C");
        arguments.order = order.ptr();
        const auto made = py::reinterpret_steal<py::object>(asarray(arguments));
        if (!made) throw py::error_already_set();
        // As NumPy's, which never gives rank 0.
        return array_in(made.ptr()).rank() == 0 ? made.attr("reshape")(1) : made;
      },
      py::arg("a"), py::arg("dtype") = py::none(), py::kw_only(), py::arg("device") = py::none(),
      "`a` itself where it is C-contiguous, else a copy that is; rank 1 at least.");
  module.def("copyto", &copyto, py::arg("dst"), py::arg("src"), py::arg("casting") = "same_kind",
             "dst[...] = src: broadcasts, casts, crosses devices and is right where the two overlap. `dst` may be "
             "any library's writeable array.");
  module.def("may_share_memory", [](const Array& a, const Array& b) { return may_share_memory(a, b); }, py::arg("a"),
             py::arg("b"), "Whether the two can touch a common byte; False is certain, True may be too careful.");
}

}  // namespace spanwise::python
