// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "spanwise/core/dtype.hpp"

/// The type strings of NumPy's array interface and of the CUDA Array Interface: byte order, kind,
/// bytes ("<f4", "|b1"); and the formats of the buffer protocol.
namespace spanwise::python {

/// numpy.dtype.kind: b, i, u, f, c; V for dtypes that NumPy itself does not have, as in ml_dtypes.
char kind_letter(DType dtype) noexcept;
/// Nothing for letters of other kinds.
std::optional<DTypeCode> code_of_kind(char letter) noexcept;

struct ElementType {
  DType dtype{};
  bool byte_swapped = false;
};

/// Throws DTypeError, with advice, for kinds that Spanwise does not have, BridgeError for a
/// malformed string; `prefix` begins messages.
ElementType element_from_typestr(std::string_view typestr, std::string_view prefix);

/// A format of one element in the buffer protocol (PEP 3118). Throws as above.
ElementType element_from_format(std::string_view format, int itemsize, std::string_view prefix);

/// "<f4", ...; for dtypes that the interface has no kind for (bfloat16, float8) raw bytes: "<V2".
std::string typestr_of(DType dtype);

}  // namespace spanwise::python
