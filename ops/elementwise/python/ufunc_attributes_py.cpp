// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include "ufunc_parts_py.hpp"

namespace spanwise::python {

namespace py = pybind11;

using ops::facts;
using ops::OpId;
using ops::OpTraits;

namespace {

// NumPy's type characters; E is bfloat16 of ml_dtypes.
constexpr const char* type_characters = "?bBhHiIlLeEfdFD";

char type_character(DType dtype) { return type_characters[ops::dtype_index(dtype)]; }

}  // namespace

py::list types_of(OpId op) {
  const OpTraits& known = facts(op);
  py::list types;
  // All dtypes convert to bool, and operations with keeps_integers accept integers.
  unsigned dtypes = (known.traits & ops::boolean_inputs) != 0 ? ops::any_dtype : known.dtypes;
  if ((known.traits & ops::keeps_integers) != 0) dtypes |= ops::booleans | ops::integers;
  if ((known.traits & ops::no_bool) != 0) dtypes &= ~unsigned{ops::booleans};
  for (int index = 0; index < ops::dtype_count; ++index) {
    if ((dtypes >> index & 1u) == 0) continue;
    const DType dtype = ops::dtypes_in_order[index];
    const std::vector<DType> operands(static_cast<std::size_t>(known.inputs), dtype);
    const ops::OpSignature signature = ops::resolve(op, operands);
    std::string entry(operands.size(), type_character(dtype));
    if ((known.traits & ops::first_is_condition) != 0) entry[0] = '?';
    types.append(entry + "->" + type_character(signature.result));
  }
  return types;
}

py::object identity_of(OpId op) {
  switch (op) {
    case OpId::add:
    case OpId::logical_or:
    case OpId::logical_xor:
    case OpId::bitwise_or:
    case OpId::bitwise_xor:
    case OpId::hypot:
      if (op == OpId::logical_or || op == OpId::logical_xor) return py::bool_(false);
      return py::int_(0);
    case OpId::multiply:
      return py::int_(1);
    case OpId::logical_and:
      return py::bool_(true);
    case OpId::bitwise_and:
      return py::int_(-1);
    case OpId::logaddexp:
    case OpId::logaddexp2:
      return py::float_(-HUGE_VAL);
    default:
      return py::none();
  }
}

}  // namespace spanwise::python
