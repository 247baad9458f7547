// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "spanwise/dtype.hpp"

/// The type strings of NumPy's array interface, which the CUDA Array Interface and (as formats) the
/// buffer protocol have taken over: byte order, kind, bytes ("<f4", "|b1").
namespace spanwise::python {

struct ElementType {
  DType dtype{};
  bool byte_swapped = false;
};

/// Throws DTypeError for kinds that Spanwise does not have, saying what to do; `who` speaks.
ElementType element_from_typestr(std::string_view typestr, std::string_view who);

/// A struct-module format of one element, as the buffer protocol gives it. Throws as above.
ElementType element_from_format(std::string_view format, int itemsize, std::string_view who);

/// "<f4", ...; for dtypes that the interface has no kind for (bfloat16, float8) the bytes as "<V2".
std::string typestr_of(DType dtype);

}  // namespace spanwise::python
