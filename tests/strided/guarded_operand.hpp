// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "core/element_conversion.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/element_types.hpp"

namespace spanwise::strided {

/// An array and its memory, which has unused bytes around the elements: a comparison of all bytes
/// finds stray writes.
struct GuardedOperand {
  std::vector<std::byte> bytes;
  Layout layout;
  DType dtype;
  Array array() {
    return Array(Storage::adopt(bytes.data(), bytes.size(), cpu, nullptr, nullptr), layout, dtype);
  }
  std::byte* element(const std::vector<std::int64_t>& index) {
    std::int64_t at = layout.offset;
    for (std::size_t i = 0; i < index.size(); ++i)
      at += index[i] * layout.strides[static_cast<int>(i)];
    return bytes.data() + at * dtype.itemsize();
  }
};

/// An operand of random bytes whose axes have a random order and random gaps; some strides are
/// negative and, if `may_repeat`, some are 0.
inline GuardedOperand random_operand(const Shape& shape, DType dtype, bool may_repeat,
                                     std::mt19937& random) {
  std::vector<int> order(static_cast<std::size_t>(shape.size()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  GuardedOperand operand{{}, {shape, Strides(shape.size()), 0}, dtype};
  std::int64_t step = 1 + static_cast<std::int64_t>(random() % 2), lowest = 0;
  for (const int axis : order) {
    const std::int64_t sign = random() % 3 == 0 ? -1 : 1;
    if (may_repeat && random() % 8 == 0) continue;
    operand.layout.strides[axis] = sign * step;
    if (sign < 0) lowest += (shape[axis] - 1) * step;
    step *= std::max<std::int64_t>(shape[axis], 1);
    if (random() % 2 == 0) step += static_cast<std::int64_t>(random() % 3);
  }
  const std::int64_t margin = 3;  // elements before the first one and after the last one
  operand.layout.offset = lowest + margin;
  operand.bytes.resize(static_cast<std::size_t>((step + 2 * margin + 2) * dtype.itemsize()));
  for (std::byte& byte : operand.bytes) byte = static_cast<std::byte>(random());
  return operand;
}

/// Sets small non-negative integers: every dtype represents them, so that all casts are defined.
inline void set_small_integers(GuardedOperand& operand, std::mt19937& random) {
  core::visit(operand.dtype, "test", [&](auto type) {
    using T = typename decltype(type)::type;
    for (std::size_t at = 0; at + sizeof(T) <= operand.bytes.size(); at += sizeof(T)) {
      const T value = core::convert<T>(static_cast<float>(random() % 100));
      std::memcpy(operand.bytes.data() + at, &value, sizeof value);
    }
  });
}

}  // namespace spanwise::strided
