// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../elementwise.hpp"
#include "call_arguments_py.hpp"
#include "kernel_type_py.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "python/support/value.hpp"
#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::user_kernels::ElementwiseKernel;
using ops::user_kernels::ElementwiseSpec;
using ops::user_kernels::ParameterStyle;

struct ElementwiseKeywords {
  PyObject *size = nullptr, *stream = nullptr, *out = nullptr;
};

[[noreturn]] void refuse_elementwise_keyword(const std::string& who, const std::string& word) {
  if (word == "range" || word == "slice")
    fail<ArgumentError>(who, ": ", word,
                        "= is not supported; pass slices of the arrays instead, for "
                        "example kernel(x[a:b], z[a:b]), which are views");
  fail<KernelArgumentError>(who, ": unexpected keyword argument '", word,
                            "'; expected size, stream or out, and arguments by position");
}

ElementwiseKeywords elementwise_keywords(const std::string& who, PyObject* names,
                                         PyObject* const* values) {
  ElementwiseKeywords keywords;
  const Py_ssize_t count = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "stream") == 0)
      keywords.stream = values[i];
    else if (PyUnicode_CompareWithASCIIString(name, "size") == 0)
      keywords.size = values[i];
    else if (PyUnicode_CompareWithASCIIString(name, "out") == 0)
      keywords.out = values[i];
    else if (PyUnicode_CompareWithASCIIString(name, "block_size") != 0)  // a hint for CuPy
      refuse_elementwise_keyword(who, py::str(name));
  }
  return keywords;
}

class ElementwiseCall {
 public:
  ElementwiseCall(const PyUserKernel<ElementwiseKernel>& self, PyObject* const* values,
                  std::size_t count, const ElementwiseKeywords& keywords)
      : self_(self),
        kernel_(*self.kernel),
        total_(kernel_.parameters().size()),
        arguments_(kernel_.who(), values, count, total_),
        outputs_(kernel_.who(), arguments_, values, count, kernel_.inputs(), total_, keywords.out) {
    std::optional<std::int64_t> size;
    if (given(keywords.size)) size = integer_from(keywords.size);
    const StreamForCall stream(keywords.stream, arguments_.device());
    const GilRelease unlocked(is_long_call(arguments_.device(), arguments_.bytes()));
    kernel_({arguments_.data(), total_}, size, outputs_.allocated());
  }

  PyObject* result() {
    if (kernel_.inputs() == total_ || self_.returns_nothing) Py_RETURN_NONE;
    return outputs_.result(self_.returns_tuple);
  }

 private:
  const PyUserKernel<ElementwiseKernel>& self_;
  const ElementwiseKernel& kernel_;
  std::size_t total_;
  KernelCallArguments arguments_;
  KernelOutputs outputs_;
};

PyObject* call_elementwise(PyObject* object, PyObject* const* values, std::size_t flags,
                           PyObject* names) {
  const auto& self = *user_kernel_in<ElementwiseKernel>(object);
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  return ElementwiseCall(self, values, count,
                         elementwise_keywords(self.kernel->who(), names, values + count))
      .result();
}

// (pointers, in_params, out_params, operation, name, preamble, loop_prep, after_loop, options,
// returns_tuple, returns_nothing), prepared by the Python class.
PyObject* new_elementwise(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const auto given_all = py::reinterpret_borrow<py::tuple>(arguments);
  if (given_all.size() != 11) throw py::type_error("expected the 11 parts of a kernel");
  const auto string_at = [&](std::size_t i) {
    return value_of<std::string>(given_all[i], "kernel");
  };
  ElementwiseSpec spec;
  spec.common = {"ElementwiseKernel", string_at(4), string_at(5),
                 value_of<std::vector<std::string>>(given_all[8], "kernel")};
  spec.style =
      value_of<bool>(given_all[0], "kernel") ? ParameterStyle::pointers : ParameterStyle::values;
  (spec.style == ParameterStyle::pointers ? spec.arguments : spec.in_params) = string_at(1);
  spec.out_params = string_at(2);
  spec.operation = string_at(3);
  spec.loop_prep = string_at(6);
  spec.after_loop = string_at(7);
  return new_user_kernel(type, arguments, make_ref<ElementwiseKernel>(std::move(spec)),
                         guarded<&call_elementwise>, value_of<bool>(given_all[9], "kernel"),
                         value_of<bool>(given_all[10], "kernel"));
}

}  // namespace

SW_BIND(user_elementwise) {
  add_user_kernel_type<ElementwiseKernel>(
      module, "_ElementwiseKernel", "spanwise._core._ElementwiseKernel", guarded<&new_elementwise>);
}

}  // namespace spanwise::python
