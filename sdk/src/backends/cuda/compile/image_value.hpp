// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace spanwise::cuda {

/// The T at `offset` of a binary, aligned or not, or nothing if it would extend beyond the end.
/// Headers of files that are not validated yet are read with it.
template <class T>
std::optional<T> value_at(std::string_view image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

}  // namespace spanwise::cuda
