// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/call.hpp"
#include "python/support/dtype.hpp"
#include "python/support/number_kind.hpp"
#include "python/support/scalar.hpp"
#include "spanwise/core/error.hpp"

/// result_type, promote_types and can_cast, by NumPy 2's rules with weak Python numbers (NEP 50).
namespace spanwise::python {

namespace py = pybind11;

namespace {

DType result_type(const py::args& operands) {
  if (operands.empty())
    fail<ArgumentError>("result_type: expected at least one array, dtype or number, got none");
  Promotion promotion;
  for (const py::handle operand : operands)
    if (!promotion.try_add_number(operand.ptr()))
      promotion.add(is_array(operand.ptr()) ? array_in(operand.ptr()).dtype()
                                            : dtype_from(operand));
  return promotion.result();
}

[[noreturn]] void refuse_casting(const std::string& rule) {
  fail<ArgumentError>(
      "casting: expected \"no\", \"equiv\", \"safe\", \"same_kind\" or \"unsafe\", got ", rule);
}

Casting casting_from(std::string_view rule) {
  if (rule == "no") return Casting::no;
  if (rule == "equiv") return Casting::equiv;
  if (rule == "safe") return Casting::safe;
  if (rule == "same_kind") return Casting::same_kind;
  if (rule == "unsafe") return Casting::unsafe;
  refuse_casting(text('"', rule, '"'));
}

}  // namespace

bool Promotion::try_add_number(PyObject* object) {
  const NumberKind kind = number_kind(object);
  weak_ = std::max(weak_, static_cast<int>(kind));
  return kind != NumberKind::none;
}

DType Promotion::result() const {
  const auto number = static_cast<NumberKind>(weak_);
  if (dtypes_.empty()) return number == NumberKind::none ? float64 : number_dtype(number, {});
  const DType strong = promote(dtypes_);
  return promote(strong, number_dtype(number, strong));
}

Casting casting_from(PyObject* rule) {
  if (!PyUnicode_Check(rule)) refuse_casting(py::repr(rule));
  return casting_from(text_in(rule));
}

void check_casting(DType from, DType to, const std::string& casting, const char* caller) {
  const Casting rule = casting_from(casting);
  if (rule != Casting::unsafe && !can_cast(from, to, rule))
    fail<DTypeError>(caller, ": cannot cast ", from, " to ", to, " under casting=\"", casting,
                     "\"; allow more with casting=\"unsafe\"");
}

SW_BIND(promotion) {
  module.def("result_type", &result_type,
             "The result dtype of an operation on arrays, dtypes and Python numbers.");
  module.def("promote_types", py::overload_cast<DType, DType>(&promote), py::arg("type1"),
             py::arg("type2"), "The smallest dtype to which both cast safely.");
  module.def(
      "can_cast",
      [](py::handle from, DType to, const std::string& casting) {
        if (is_weak_number(from.ptr()))
          fail<DTypeError>("can_cast: expected a dtype or an array, got the Python number ",
                           std::string(py::repr(from)),
                           ", whose dtype depends on the other operand; name a dtype");
        return can_cast(dtype_from(from), to, casting_from(casting));
      },
      py::arg("from_"), py::arg("to"), py::arg("casting") = "safe",
      "Whether a cast from a dtype or array is allowed by the rule `casting`.");
}

}  // namespace spanwise::python
