// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "bind.hpp"
#include "py_array.hpp"
#include "spanwise/error.hpp"

/// a.flags, as numpy.ndarray.flags: attributes in lower case, items under NumPy's names.
namespace spanwise::python {

namespace py = pybind11;

namespace {

struct Flags {
  ArrayObject owner;

  const Array& array() const { return owner.array(); }
  bool c_contiguous() const { return array().layout().is_row_major(); }
  bool f_contiguous() const { return array().layout().is_column_major(); }
  bool writeable() const { return !array().readonly(); }
  bool owndata() const { return owner.attr("base").is_none(); }
  bool aligned() const {
    const auto address = reinterpret_cast<std::uintptr_t>(array().data());
    const DType dtype = array().dtype();
    // A complex number is aligned as its parts are.
    const int unit = dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize();
    return array().size() == 0 || address % static_cast<std::uintptr_t>(unit) == 0;
  }
};

bool flag(const Flags& flags, const std::string& name) {
  if (name == "C_CONTIGUOUS" || name == "C" || name == "CONTIGUOUS") return flags.c_contiguous();
  if (name == "F_CONTIGUOUS" || name == "F" || name == "FORTRAN") return flags.f_contiguous();
  if (name == "OWNDATA" || name == "O") return flags.owndata();
  if (name == "WRITEABLE" || name == "W") return flags.writeable();
  if (name == "ALIGNED" || name == "A") return flags.aligned();
  if (name == "FNC") return flags.f_contiguous() && !flags.c_contiguous();
  if (name == "FORC") return flags.f_contiguous() || flags.c_contiguous();
  throw py::key_error(
      "Array.flags: no flag \"" + name +
      "\"; there are C_CONTIGUOUS, F_CONTIGUOUS, OWNDATA, WRITEABLE, ALIGNED, FNC, FORC");
}

// The bit belongs to the window: other arrays on the same memory keep theirs.
void set_writeable(Flags& flags, bool writeable) {
  if (writeable == flags.writeable()) return;
  require<ReadOnlyError>(
      !writeable, "Array.flags: ", flags.array(),
      " was handed out for reading only and cannot be made writeable; copy it: a.copy()");
  Array& array = array_in(flags.owner.ptr());
  array = array.as_readonly();
}

std::string listing(const Flags& flags) {
  std::string out;
  for (const char* name : {"C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED"}) {
    out += std::string("  ") + name + " : " + (flag(flags, name) ? "True" : "False") + "\n";
  }
  return out;
}

}  // namespace

SW_BIND(array_flags, 52) {
  py::class_<Flags> type(module, "_Flags",
                         "How an array lies in memory and what may be done to it.");
  type.def_property_readonly("c_contiguous", &Flags::c_contiguous);
  type.def_property_readonly("contiguous", &Flags::c_contiguous);
  type.def_property_readonly("f_contiguous", &Flags::f_contiguous);
  type.def_property_readonly("owndata", &Flags::owndata);
  type.def_property("writeable", &Flags::writeable, &set_writeable);
  type.def_property_readonly("aligned", &Flags::aligned);
  type.def_property_readonly("fnc", [](const Flags& self) { return flag(self, "FNC"); });
  type.def_property_readonly("forc", [](const Flags& self) { return flag(self, "FORC"); });
  type.def("__getitem__", &flag, py::arg("name"), py::pos_only());
  type.def("__repr__", &listing);
  const py::handle array_class(reinterpret_cast<PyObject*>(array_type));
  const py::cpp_function getter([](const ArrayObject& self) { return Flags{self}; },
                                py::is_method(array_class));
  const py::object property(
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyProperty_Type)));
  py::setattr(array_class, "flags",
              property(getter, py::none(), py::none(), "As numpy.ndarray.flags."));
}

}  // namespace spanwise::python
