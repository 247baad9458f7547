// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "type_names.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "spanwise/core/error.hpp"
#include "spanwise/parse/element_text.hpp"

namespace spanwise::ops::user_kernels {
namespace {

// Names that numpy.dtype() accepts and DType::parse() does not.
const std::map<std::string, DType, std::less<>>& numpy_names() {
  static const std::map<std::string, DType, std::less<>> names{
      {"float", float64},  {"int", int64},      {"complex", complex128}, {"half", float16},
      {"single", float32}, {"double", float64}, {"uint", uint64},        {"intp", int64},
      {"uintp", uint64},   {"int_", int64},     {"bool_", bool_},        {"short", int16},
      {"ushort", uint16},  {"longlong", int64}, {"ulonglong", uint64},   {"csingle", complex64},
      {"byte", int8},      {"ubyte", uint8},    {"cdouble", complex128}, {"intc", int32},
      {"uintc", uint32},   {"float_", float64},
  };
  return names;
}

}  // namespace

std::optional<DType> numpy_dtype_named(std::string_view name) {
  try {
    const DType dtype = DType::parse(name);
    if (dtype.is_computable()) return dtype;
  } catch (const DTypeError&) {
  }
  const auto entry = numpy_names().find(name);
  return entry != numpy_names().end() ? std::optional(entry->second) : std::nullopt;
}

bool is_vector_type(std::string_view type) {
  if (type == "dim3" || type == "cuFloatComplex" || type == "cuDoubleComplex") return true;
  if (type.size() < 4 || type.back() < '1' || type.back() > '4') return false;
  type.remove_suffix(1);
  if (type.starts_with('u')) type.remove_prefix(1);
  static constexpr std::array<std::string_view, 7> parts{"char",     "short", "int",   "long",
                                                         "longlong", "float", "double"};
  return std::find(parts.begin(), parts.end(), type) != parts.end();
}

std::string c_type(DType dtype) {
  // Types with arithmetic, unlike those of element_text().
  if (dtype == float16) return "__half";
  if (dtype == bfloat16) return "__nv_bfloat16";
  if (dtype == complex64) return "complex<float>";
  if (dtype == complex128) return "complex<double>";
  if (dtype.is_bool()) return "bool";
  if (!dtype.is_computable())
    fail<DTypeError>("kernel: no C++ type is known for dtype ", dtype,
                     "; convert with astype(), or view its bytes as a struct");
  return element_text(dtype);
}

}  // namespace spanwise::ops::user_kernels
