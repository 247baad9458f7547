// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call_arguments_py.hpp"
#include "elementwise.hpp"
#include "kernel_type_py.hpp"
#include "python/bind.hpp"
#include "python/py_array.hpp"
#include "python/py_call.hpp"
#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::user_kernels::ElementwiseKernel;
using ops::user_kernels::ElementwiseSpec;
using ops::user_kernels::Spelling;

struct ElementwiseKeywords {
  PyObject *size = nullptr, *stream = nullptr, *out = nullptr;
};

[[noreturn]] void refuse_elementwise_keyword(const std::string& who, const std::string& word) {
  if (word == "range" || word == "slice")
    fail<ArgumentError>(who, ": ", word,
                        "= is not taken; pass parts of the arrays instead, for "
                        "example kernel(x[a:b], z[a:b]), which costs nothing");
  fail<KernelArgumentError>(who, ": unexpected keyword argument '", word,
                            "'; there are size, stream and out, and arguments go by position");
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
    else if (PyUnicode_CompareWithASCIIString(name, "block_size") != 0)  // a hint of CuPy's
      refuse_elementwise_keyword(who, py::str(name));
  }
  return keywords;
}

/// The outputs' objects, borrowed, null where one is to be made.
using OutputObjects = std::array<PyObject*, ops::user_kernels::most_operands>;

class ElementwiseCall {
 public:
  ElementwiseCall(const PyUserKernel<ElementwiseKernel>& self, PyObject* const* values,
                  std::size_t count, const ElementwiseKeywords& keywords)
      : self_(self),
        kernel_(*self.kernel),
        total_(kernel_.parameters().size()),
        arguments_(kernel_.who(), values, count, total_) {
    check_count(count);
    for (std::size_t i = kernel_.inputs(); i < count; ++i) outputs_[i] = values[i];
    if (given(keywords.out)) take_out(keywords.out, count);
    if (given(keywords.size)) size_ = integer_from(keywords.size);
    const StreamForCall stream(keywords.stream, arguments_.device());
    compute();
  }

  PyObject* result() {
    if (kernel_.inputs() == total_ || self_.returns_nothing) Py_RETURN_NONE;
    const std::size_t count = total_ - kernel_.inputs();
    if (count == 1 && !self_.returns_tuple) return output(kernel_.inputs()).release().ptr();
    py::tuple all(count);
    for (std::size_t k = 0; k < count; ++k) all[k] = output(kernel_.inputs() + k);
    return all.release().ptr();
  }

 private:
  void check_count(std::size_t count) const {
    const std::size_t inputs = kernel_.inputs();
    if (count == inputs || count == total_) return;
    fail<KernelArgumentError>(
        kernel_.who(), ": expected ", inputs,
        inputs == total_ ? "" : text(" arguments, or ", total_, " with the outputs"),
        inputs == total_ ? " arguments, got " : ", got ", count);
  }

  void take_out(PyObject* out, std::size_t count) {
    const std::size_t inputs = kernel_.inputs(), outputs = total_ - inputs;
    const bool is_tuple = PyTuple_Check(out);
    const auto given_outputs = is_tuple ? static_cast<std::size_t>(PyTuple_GET_SIZE(out)) : 1;
    require<KernelArgumentError>(count == inputs && given_outputs == outputs, kernel_.who(),
                                 ": expected ", outputs, " outputs in out=, and none by position");
    for (std::size_t k = 0; k < outputs; ++k) {
      PyObject* one = is_tuple ? PyTuple_GET_ITEM(out, static_cast<Py_ssize_t>(k)) : out;
      arguments_.set(inputs + k, one);
      outputs_[inputs + k] = one;
    }
  }

  void compute() {
    // The first call compiles.
    const std::int64_t bytes = kernel_.is_compiled() ? arguments_.bytes() : INT64_MAX;
    const Unlocked unlocked(arguments_.device(), bytes);
    kernel_({arguments_.data(), total_}, size_, made_);
  }

  py::object output(std::size_t i) {
    if (given(outputs_[i])) return py::reinterpret_borrow<py::object>(outputs_[i]);
    PyObject* made = wrap(std::move(made_[next_made_++]));
    if (made == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
  }

  const PyUserKernel<ElementwiseKernel>& self_;
  const ElementwiseKernel& kernel_;
  std::size_t total_;
  KernelCallArguments arguments_;
  OutputObjects outputs_{};
  std::optional<std::int64_t> size_;
  std::vector<Array> made_;
  std::size_t next_made_ = 0;
};

PyObject* call_elementwise(PyObject* object, PyObject* const* values, std::size_t flags,
                           PyObject* names) noexcept {
  try {
    const auto& self = *user_kernel_in<ElementwiseKernel>(object);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    return ElementwiseCall(self, values, count,
                           elementwise_keywords(self.kernel->who(), names, values + count))
        .result();
  } catch (...) {
    return raise_current();
  }
}

// (pointers, in_params, out_params, operation, name, preamble, loop_prep, after_loop, options,
// returns_tuple, returns_nothing), as the class in Python has sorted them out.
PyObject* new_elementwise(PyTypeObject* type, PyObject* arguments, PyObject*) noexcept {
  try {
    const auto given_all = py::reinterpret_borrow<py::tuple>(arguments);
    if (given_all.size() != 11) throw py::type_error("expected the 11 parts of a kernel");
    const auto word = [&](std::size_t i) { return given_all[i].cast<std::string>(); };
    ElementwiseSpec spec;
    spec.common = {"ElementwiseKernel", word(4), word(5),
                   given_all[8].cast<std::vector<std::string>>()};
    spec.spelling = given_all[0].cast<bool>() ? Spelling::pointers : Spelling::values;
    (spec.spelling == Spelling::pointers ? spec.arguments : spec.in_params) = word(1);
    spec.out_params = word(2);
    spec.operation = word(3);
    spec.loop_prep = word(6);
    spec.after_loop = word(7);
    return new_user_kernel(type, make_ref<ElementwiseKernel>(std::move(spec)), &call_elementwise,
                           given_all[9].cast<bool>(), given_all[10].cast<bool>());
  } catch (...) {
    return raise_current();
  }
}

PyObject* elementwise_name(PyObject* object, void*) noexcept {
  const std::string& name = user_kernel_in<ElementwiseKernel>(object)->kernel->spec().common.name;
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

PyGetSetDef elementwise_attributes[] = {
    {"name", &elementwise_name, nullptr, "The kernel's name.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

SW_BIND(user_elementwise, 72) {
  PyTypeObject* type = make_user_kernel_type<ElementwiseKernel>(
      "spanwise._core._ElementwiseKernel", &new_elementwise, elementwise_attributes);
  if (type == nullptr) throw py::error_already_set();
  module.add_object("_ElementwiseKernel",
                    py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(type)));
}

}  // namespace spanwise::python
